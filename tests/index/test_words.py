"""BM25 against an independent implementation, and the promises of its order."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from math import log
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from ragways.core.errors import StoreDamaged
from ragways.index import segments as under_test
from ragways.index.layer import BuildContext, Changes
from ragways.index.postings import LENGTHS, hash_of, take_postings, write_postings
from ragways.index.segment_ids import SegmentIds
from ragways.index.segments import renew, segments
from ragways.index.store import Store, number_of
from ragways.index.words import Words, all_terms, terms
from ragways.index.work_cache import WorkCache
from ragways.models.client import ModelClient


@pytest.fixture(scope="module")
def texts() -> list[tuple[str, str]]:
    chance = random.Random(5)
    vocabulary = [f"term{n}" for n in range(300)]
    return [(f"article:{n}:s0:p0:c0", " ".join(chance.choices(vocabulary, k=40))) for n in range(400)]


def test_the_order_is_that_of_bm25(tmp_path: Path, texts: list[tuple[str, str]]):
    """Scores differ by the form of idf; for texts of one length, the order does not."""
    Words.build(tmp_path / "words", texts)
    words = Words(tmp_path / "words")
    # Lucene's idf is never negative; give the reference the same, so that only the rest is compared.
    reference = BM25Okapi([text.split() for _, text in texts], k1=1.2, b=0.75)
    for question in ("term1 term2 term3", "term7", "term250 term251"):
        scores = reference.get_scores(question.split())
        found = words.search(question, 20)
        expected = sorted(((-round(float(score), 6), id) for score, (id, _) in zip(scores, texts, strict=True)))[:20]
        matches = [id for score, id in expected if score < 0]
        assert [id for id, _ in found][: len(matches)] == matches


def test_equal_scores_are_ordered_by_id_wherever_they_are_cut(tmp_path: Path):
    """By id as a text: the tenth comes before the second."""
    ids = [f"article:{n}:s0:p0:c{n % 3}" for n in range(100, 0, -1)]
    Words.build(tmp_path / "words", [(id, "same words here") for id in ids])
    words = Words(tmp_path / "words")
    for k in (1, 5, 37, 100, 200):
        assert [id for id, _ in words.search("words", k)] == sorted(ids)[:k]


@pytest.mark.parametrize("question", ["", "the of and", "!!!", "\x00", "AND OR (", "a" * 70, "text:harbour id:1", "*"])
def test_no_question_is_a_query(tmp_path: Path, question: str):
    Words.build(tmp_path / "words", [("article:1:s0:p0:c0", "harbour light")])
    assert Words(tmp_path / "words").search(question, 5) in ([], Words(tmp_path / "words").search("harbour", 5))


def test_terms_are_folded_and_stemmed_and_each_stands_once():
    assert terms("The Foxes' cafés, foxes and a café!") == ["fox", "cafe"]


FOUND = {
    "Chinese": ("应用启动时会加载机器学习模型，并在关闭时释放内存。", "怎样加载机器学习模型？"),
    "Japanese": ("静的ファイルはディレクトリから自動的に提供されます。", "ファイルを自動的に配る方法は？"),
    "Korean": ("정적 파일은 디렉터리에서 자동으로 제공됩니다.", "파일을 자동으로 보내는 방법"),
    "Thai": ("ระบบจะส่งไฟล์คงที่จากโฟลเดอร์โดยอัตโนมัติ", "วิธีส่งไฟล์แบบอัตโนมัติ"),
    "Lao": ("ລະບົບຈະສົ່ງໄຟລ໌ຈາກໂຟນເດີໂດຍອັດຕະໂນມັດ", "ວິທີສົ່ງໄຟລ໌"),
    "Burmese": ("စနစ်သည်ဖိုင်များကိုအလိုအလျောက်ပေးပို့သည်။", "ဖိုင်များပေးပို့နည်း"),
    "Khmer": ("ប្រព័ន្ធផ្ញើឯកសារដោយស្វ័យប្រវត្តិ។", "របៀបផ្ញើឯកសារ"),
    "Hindi": ("प्रणाली फ़ाइलें अपने आप भेजती है।", "फ़ाइलें कैसे भेजें"),
    "German": (
        "Die Anwendungen wurden im Hintergrund und mit Verzögerung gestartet.",
        "Wie ist die Anwendung zu starten?",
    ),
    "Russian": ("Файлы каталогов отправляются автоматически.", "Как отправить файл?"),
    "Tamil": ("புத்தகங்கள் இங்கே உள்ளன", "புத்தகம் எங்கே"),
}


@pytest.mark.parametrize("name", FOUND)
def test_words_find_a_sentence_of_every_language_by_a_part_of_it(tmp_path: Path, name: str):
    """The question shares a part of its own sentence with it and nothing with the others."""
    Words.build(tmp_path / "words", [(f"article:{n}:s0:p0:c0", text) for n, (text, _) in enumerate(FOUND.values())])
    found = Words(tmp_path / "words").search(FOUND[name][1], 3)
    assert [*FOUND][number_of(found[0][0])] == name


def test_a_question_whose_language_cannot_be_told_meets_texts_of_any_language(tmp_path: Path):
    """Texts are stemmed as English too, whatever they are; `Abhängigkeiten` alone says nothing of its language."""
    german, english = "Die Abhängigkeiten werden bei den Tests überschrieben.", "Tests."
    Words.build(tmp_path / "words", [("article:1:s0:p0:c0", german), ("article:2:s0:p0:c0", english)])
    assert [id for id, _ in Words(tmp_path / "words").search("Abhängigkeiten", 3)] == ["article:1:s0:p0:c0"]


def test_english_words_are_what_they_were():
    """The analyser of English is the first version's: other figures would have to be measured again."""
    import tantivy

    chain = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    for step in (
        tantivy.Filter.remove_long(64),
        tantivy.Filter.lowercase(),
        tantivy.Filter.ascii_fold(),
        tantivy.Filter.stopword("english"),
        tantivy.Filter.stemmer("english"),
    ):
        chain = chain.filter(step)
    text = (
        "The Foxes' cafés, foxes and a café! He's been running_to U.S. ports in 1984, naïvely; straße æther " + "x" * 70
    )
    assert all_terms(text) == chain.build().analyze(text)


@pytest.mark.parametrize("text", ["中" * 200_000, "ก็" * 100_000, "ก" + "่" * 200_000, "क" * 200_000, "中 " * 100_000])
def test_a_text_has_no_more_words_than_twice_its_characters(text: str):
    words = all_terms(text)
    assert len(words) <= 2 * len(text)
    assert max(map(len, words)) <= 64


@pytest.mark.parametrize("count", [0, 1, 5, 60, 200, 399])
def test_search_among_some_documents_is_the_search_among_all_without_the_others(
    tmp_path: Path, texts: list[tuple[str, str]], count: int
):
    Words.build(tmp_path / "words", [*texts, *((f"article:{n}:s1:p0:c0", "term1 same") for n in range(100))])
    words = Words(tmp_path / "words")
    chosen = frozenset(random.Random(count).sample(range(400), count))
    part = words.only(chosen | {1_000_000})
    assert part.statistics(["term1"]) == words.statistics(["term1"])
    for question in ("term1 term2 term3", "term7", "same", "nothing"):
        all_found = words.search(question, 1000)
        for k in (0, 1, 5, 100):
            assert part.search(question, k) == [hit for hit in all_found if number_of(hit[0]) in chosen][:k]


# Against other ways to the same


def drawn(seed: int, count: int) -> list[tuple[str, str]]:
    """Texts whose words are as rare as those of real ones, of all lengths; some words stand often."""
    chance = random.Random(seed)
    vocabulary, shares = [f"w{n}" for n in range(2000)], [1 / (n + 3) for n in range(2000)]
    texts = [chance.choices(vocabulary, shares, k=int(chance.lognormvariate(3.5, 0.9))) for _ in range(count)]
    return [(f"article:{n // 3}:s0:p0:c{n % 3}", " ".join(words)) for n, words in enumerate(texts)]


def test_scores_are_those_of_tantivy(tmp_path: Path):
    """Whose index this layer once was, so that rankings are what they were; it counts in single precision."""
    import tantivy

    texts = [*drawn(1, 900), ("article:900:s0:p0:c0", "w1 " * 300), ("article:901:s0:p0:c0", "!")]
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    builder.add_text_field("text", tokenizer_name="whitespace", index_option="freq")
    schema = builder.build()
    index = tantivy.Index(schema)
    writer = index.writer(20_000_000, num_threads=1)
    for id, text in texts:
        writer.add_document(tantivy.Document(id=id, text=" ".join(all_terms(text))))
    writer.commit()
    index.reload()
    searcher = index.searcher()
    Words.build(tmp_path / "words", texts)
    words = Words(tmp_path / "words")
    for question in ("w1 w5 w17", "w1500", "w3 w300 w700 w1 w0 w9", "w2"):
        should = [
            (tantivy.Occur.Should, tantivy.Query.term_query(schema, "text", term, index_option="freq"))
            for term in terms(question)
        ]
        hits = searcher.search(tantivy.Query.boolean_query(should), 2000).hits
        theirs = {searcher.doc(address)["id"][0]: score for score, address in hits}
        ours = dict(words.search(question, 2000))
        assert len(ours) > 2
        # More than 255 times are counted as 255, which takes less than a two-hundredth of what the word gives.
        assert ours.pop("article:900:s0:p0:c0", 0) == pytest.approx(theirs.pop("article:900:s0:p0:c0", 0), rel=0.01)
        assert ours == pytest.approx(theirs, rel=3e-6)


def plain(texts: Mapping[str, str], question: str, k: int) -> list[tuple[str, float]]:
    """BM25 as it is written down, chunk by chunk, with lengths as Lucene rounds them."""
    held = {id: Counter(all_terms(text)) for id, text in texts.items()}
    average = sum(each.total() for each in held.values()) / len(held) if held else 1
    having = {term: sum(term in each for each in held.values()) for term in terms(question)}
    found = []
    for id, counts in held.items():
        score, length = 0.0, rounded(counts.total())
        for term, holding in having.items():
            rarity = log(1 + (len(held) - holding + 0.5) / (holding + 0.5))
            part = counts[term] / (counts[term] + 1.2 * (0.25 + 0.75 * length / average)) if counts[term] else 0.0
            score += rarity * 2.2 * part
        if score:
            found.append((id, score))
    return sorted(found, key=lambda pair: (-round(pair[1], 9), pair[0]))[:k]


def rounded(length: int) -> int:
    """Four significant bits above 24."""
    drop = max(0, (length - 24).bit_length() - 4) if length > 24 else 0
    return length if length <= 24 else 24 + ((length - 24) >> drop << drop)


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_any_changes_give_the_answers_of_plain_counting(data: st.DataObject):
    """Documents come, change and go in any order and at any time; answers are those of the documents alone, to the
    last bit, and no file has a byte more than one of a fresh index in one segment.
    """
    vocabulary = [f"w{n}" for n in range(12)]
    text = st.lists(st.sampled_from(vocabulary), max_size=60).map(" ".join)
    document = st.lists(text, max_size=3)
    with TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        patch.setattr(under_test, "SEGMENT_CHUNKS", 8)
        patch.setattr(under_test, "_SMALL", 2)
        held: dict[int, list[str]] = {}
        before: Path | None = None
        for generation in range(data.draw(st.integers(1, 8))):
            put = data.draw(st.dictionaries(st.integers(0, 12), document, max_size=5))
            removed = data.draw(st.sets(st.sampled_from(sorted(held)))) - put.keys() if held else set()
            changes = Changes(
                frozenset(put.keys() - held.keys()), frozenset(put.keys() & held.keys()), frozenset(removed)
            )
            held = {n: chunks for n, chunks in {**held, **put}.items() if n not in removed}
            folder = Path(place) / str(generation)
            renew(folder, before, in_memory(held, changes), OfTexts(held))
            before = folder
        texts = {f"article:{n}:c{i}": text for n, chunks in held.items() for i, text in enumerate(chunks)}
        Words.build(Path(place) / "whole", texts.items())
        for question in ("w1", "w0 w3 w7", " ".join(vocabulary)):
            found = Words(folder).search(question, 7)
            assert found == Words(Path(place) / "whole").search(question, 7)
            every, expected = Words(folder).search(question, 50), plain(texts, question, 50)
            # Sums in another order differ in their last bit, so what is equal but for that may change places.
            ordered = sorted(every, key=lambda pair: (-round(pair[1], 9), pair[0]))
            assert [id for id, _ in ordered] == [id for id, _ in expected]
            assert dict(every) == pytest.approx(dict(expected), rel=1e-12)
        words = [word for path in folder.glob("*/words.npy") for word in np.load(path).tolist()]
        assert set(words) == {hash_of(term) for text in texts.values() for term in all_terms(text)}
        assert sorted(id for path in segments(folder) for id in SegmentIds.load(path)) == sorted(texts)
        rows = sum(len(np.load(path)) for path in folder.glob("*/rows.npy"))
        assert rows == sum(len(set(all_terms(text))) for text in texts.values())


@pytest.mark.parametrize("look_up", [0.0, 16.0, 1e9])
@pytest.mark.parametrize("segment", [32, 256, 65_536])
def test_common_words_that_are_not_added_up_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, look_up: float, segment: int
):
    """Chunks are looked up as soon as that may be, when it pays, or never; in one segment or many."""
    monkeypatch.setattr("ragways.index.bm25._LOOK_UP", look_up)
    texts = drawn(3, 900)
    texts += [(f"article:{number_of(id) + 300}:{id[-2:]}", text) for id, text in texts[:150]]  # scores that are equal
    for name, at in enumerate(range(0, len(texts), segment), start=1):
        Words.build(tmp_path / str(name), texts[at : at + segment])
        (tmp_path / str(name) / "1").rename(tmp_path / "moved")
        (tmp_path / str(name)).rmdir()
        (tmp_path / "moved").rename(tmp_path / str(name))
    words = Words(tmp_path)
    chosen = frozenset(range(0, 400, 3))
    for question in ("w1 w900 w2 w30 w0", "w700 w0 w1 w2", "w0 w1", "w0 w1 w2 w3 w4 w5 w6", "w1999 w1500 w0"):
        expected = plain(dict(texts), question, 3000)
        for k in (1, 10, 40):
            found, some = words.search(question, k), words.only(chosen).search(question, k)
            assert [id for id, _ in found] == [id for id, _ in expected[:k]]
            assert [id for id, _ in some] == [id for id, _ in expected if number_of(id) in chosen][:k]
            assert dict(found) == pytest.approx(dict(expected[:k]), rel=1e-12)


class OfTexts:
    """The layer's own kind of segment, made of these documents."""

    def __init__(self, held: Mapping[int, Sequence[str]]) -> None:
        self._held = held

    def make(self, target: Path, _: BuildContext, documents: Sequence[int]) -> None:
        chunks = ((f"c{i}", all_terms(text)) for n in documents for i, text in enumerate(self._held[n]))
        write_postings(target, chunks)

    take = staticmethod(take_postings)


def in_memory(held: Mapping[int, Sequence[str]], changes: Changes) -> BuildContext:
    """A run whose store knows how many chunks each document has."""
    store = Store(Path(), sqlite3.connect(":memory:"))
    store.create()
    rows = [(n, i, "", 0, 0, 0, "") for n, chunks in held.items() for i in range(len(chunks))]
    store.db.executemany("INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?)", rows)

    async def embed(_: object) -> None: ...

    return BuildContext(store, cast(WorkCache, None), ModelClient(None), None, embed, changes=changes)


def test_parts_of_a_corpus_with_the_statistics_of_all_answer_as_one(tmp_path: Path):
    """As shards do: equal to the last bit."""
    texts = drawn(2, 300)
    Words.build(tmp_path / "whole", texts)
    for n in range(3):
        Words.build(tmp_path / f"part{n}", [pair for pair in texts if number_of(pair[0]) % 3 == n])
    whole, parts = Words(tmp_path / "whole"), [Words(tmp_path / f"part{n}") for n in range(3)]
    for question in ("w1 w5 w17", "w1500 w2", "w3 w300 w700 w1 w0 w9", "unknown"):
        words = terms(question)
        together = parts[0].statistics(words) + parts[1].statistics(words) + parts[2].statistics(words)
        assert together == whole.statistics(words)
        found = [hit for part in parts for hit in part.search(question, 20, together)]
        assert sorted(found, key=lambda pair: (-pair[1], pair[0]))[:20] == whole.search(question, 20)


def test_damage_that_was_not_seen_at_opening_is_said(tmp_path: Path):
    Words.build(tmp_path / "words", drawn(4, 50))
    rows = tmp_path / "words" / "1" / "rows.npy"
    np.save(rows, np.load(rows) + 60_000)
    with pytest.raises(StoreDamaged, match=r"words/1 is damaged .*: tell where with: ragways check"):
        Words(tmp_path / "words").search("w1 w2", 5)


def test_lengths_are_rounded_as_lucene_does():
    assert [LENGTHS[byte] for byte in (0, 24, 40, 41, 48, 49, 56, 57, 255)] == [
        0,
        24,
        40,
        42,
        56,
        60,
        88,
        96,
        2013265944,
    ]
    assert all(LENGTHS[byte] == rounded(int(LENGTHS[byte])) for byte in range(256))
