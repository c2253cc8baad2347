"""BM25 against an independent implementation, the promises of its order, and of what a fold leaves."""

from __future__ import annotations

import gc
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import accumulate
from math import log
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.core.errors import StoreDamaged
from ragways.layers.words import WORDS, StoredWords, all_terms, terms
from ragways.store.store import number_of
from tests.layers.views import LayerRuns
from tests.store.rows import number


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[LayerRuns]:
    made = LayerRuns(tmp_path, WORDS)
    yield made
    made.close()


def drawn(seed: int, count: int) -> dict[str, str]:
    """Texts whose words are as rare as those of real ones, of all lengths; some words stand often."""
    chance = random.Random(seed)
    vocabulary, shares = [f"w{n}" for n in range(2000)], [1 / (n + 3) for n in range(2000)]
    texts = [chance.choices(vocabulary, shares, k=int(chance.lognormvariate(3.5, 0.9)) + 1) for _ in range(count)]
    return {f"{n}.txt": " ".join(words) for n, words in enumerate(texts)}


def plain(texts: Mapping[str, str], question: str) -> list[tuple[str, float]]:
    """BM25 as it is written down, chunk by chunk, with lengths as Lucene rounds them; by score, document and place."""
    counted = {id: Counter(all_terms(text)) for id, text in texts.items()}
    average = sum(each.total() for each in counted.values()) / len(counted) if counted else 1
    having = {term: sum(term in each for each in counted.values()) for term in terms(question)}
    found = []
    for id, counts in counted.items():
        score, length = 0.0, rounded(counts.total())
        for term, holding in having.items():
            rarity = log(1 + (len(counted) - holding + 0.5) / (holding + 0.5))
            part = counts[term] / (counts[term] + 1.2 * (0.25 + 0.75 * length / average)) if counts[term] else 0.0
            score += rarity * 2.2 * part
        if score:
            found.append((id, score))
    found.sort(key=lambda pair: -pair[1])
    # What single precision cannot distinguish is equal.
    begins = [not n or score < found[n - 1][1] * (1 - 1e-6) for n, (_, score) in enumerate(found)]
    group = dict(zip((id for id, _ in found), accumulate(begins), strict=True))
    return sorted(found, key=lambda pair: (group[pair[0]], place(pair[0])))


def place(id: str) -> tuple[int, ...]:
    return tuple(int(part.lstrip("spc")) for part in id.split(":")[1:])


def rounded(length: int) -> int:
    """Four significant bits above 24, as Lucene stores a length in a byte."""
    drop = max(0, (length - 24).bit_length() - 4) if length > 24 else 0
    return length if length <= 24 else 24 + ((length - 24) >> drop << drop)


def chunks(runs: LayerRuns) -> dict[str, str]:
    return {one.id: one.searched for source in runs.store.sources() for one in source.passages}


QUESTIONS = ("w1 w5 w17", "w1500", "w3 w300 w700 w1 w0 w9", "w2", "w1999 w1500 w0")


def assert_plain(runs: LayerRuns, words: StoredWords, k: int = 10) -> None:
    texts = chunks(runs)
    assert len(words) == len(texts)
    for question in QUESTIONS:
        expected, found = plain(texts, question), words.search(question, k)
        assert [id for id, _ in found] == [id for id, _ in expected[:k]]
        assert dict(found) == pytest.approx(dict(expected[:k]), rel=3e-6)


def test_scores_and_order_are_those_of_bm25(runs: LayerRuns):
    words = runs.run({**drawn(1, 400), "same.txt": "w1 w1 w9", "other.txt": "w1 w1 w9"})
    for k in (1, 10, 40, 1000):
        assert_plain(runs, words, k)


def test_equal_scores_are_ordered_by_document_and_place_wherever_they_are_cut(runs: LayerRuns):
    words = runs.run({f"{n}.txt": "same words here" for n in range(150)})
    ids = [f"article:{n}:s0:p0:c0" for n in sorted(number(f"{n}.txt") for n in range(150))]
    for k in (1, 5, 37, 100, 200):
        assert [id for id, _ in words.search("words", k)] == ids[:k]


@pytest.mark.parametrize("question", ["", "the of and", "!!!", "\x00", "AND OR (", "a" * 70, "text:harbour id:1", "*"])
def test_no_question_is_a_query(runs: LayerRuns, question: str):
    words = runs.run({"a.txt": "harbour light"})
    assert words.search(question, 5) in ([], words.search("harbour", 5))
    assert words.search("harbour", 0) == []


@pytest.mark.parametrize("count", [0, 1, 60, 399])
def test_a_search_among_some_documents_is_the_search_among_all_without_the_others(runs: LayerRuns, count: int):
    words = runs.run({**drawn(5, 400), **{f"same{n}.txt": "w1 same" for n in range(100)}})
    chosen = {number(f"{n}.txt") for n in random.Random(count).sample(range(400), count)}
    part = words.only(frozenset(chosen | {1_000_000}))
    for question in (*QUESTIONS, "same", "nothing"):
        everywhere = [hit for hit in words.search(question, 10_000) if number_of(hit[0]) in chosen]
        for k in (0, 1, 5, 100):
            found = part.search(question, k)
            assert [id for id, _ in found] == [id for id, _ in everywhere[:k]]
            assert dict(found) == pytest.approx(dict(everywhere[:k]), rel=1e-6)
    assert part.holding(["w1"]).tolist() == [n for n in words.holding(["w1"]).tolist() if n in chosen]


# Folding


@settings(max_examples=10, deadline=None)
@given(st.data())
def test_a_fold_answers_as_made_from_the_same_rows(data: st.DataObject):
    """In so few documents every removal has the words made anew, and additions alone add to a segment."""
    text = st.lists(st.sampled_from([f"w{n}" for n in range(12)]), min_size=1, max_size=60).map(" ".join)
    with TemporaryDirectory() as place:
        runs = LayerRuns(Path(place), WORDS)
        for _ in range(data.draw(st.integers(1, 6))):
            keys = st.sampled_from([f"{n}.txt" for n in range(12)])
            words = runs.run(data.draw(st.dictionaries(keys, text | st.just(""), max_size=5)))
        made = runs.run({}, make=True)
        texts = chunks(runs)
        for question in ("w1", "w0 w3 w7", " ".join(f"w{n}" for n in range(12))):
            found, expected = words.search(question, 50), plain(texts, question)
            assert [id for id, _ in found] == [id for id, _ in made.search(question, 50)]
            assert dict(found) == pytest.approx(dict(made.search(question, 50)), rel=1e-6)
            assert dict(found) == pytest.approx(dict(expected[:50]), rel=3e-6)
        assert sorted(words.chunks()) == sorted(texts)
        assert runs.findings() == []
        runs.close()


def test_few_removals_are_marked_and_a_hundredth_has_the_words_made_anew(runs: LayerRuns):
    texts = drawn(7, 250)
    runs.run(texts)
    total = len(runs.open())
    first = segments(runs)
    gone = 0
    for key in texts:
        size = len(runs.open())
        words = runs.run({key: ""})
        gone += size - len(words)
        assert number(key) not in set(words.holding(terms(texts[key])).tolist())
        assert runs.findings() == []
        if 100 * gone >= total:
            break
        assert first <= segments(runs)
    assert not first & segments(runs)
    assert_plain(runs, words)


def segments(runs: LayerRuns) -> set[str]:
    return {path.name for path in runs.view.glob("*.term")}


def test_a_reader_of_the_generation_before_keeps_it(runs: LayerRuns):
    old = runs.run(drawn(2, 300))
    before, view = old.search("w1 w5", 20), runs.view
    files = {path.name: path.read_bytes() for path in view.iterdir()}
    assert not [name for name in files if name.endswith(".lock")]
    new = runs.run({"0.txt": "", "new.txt": "w1 w5 w5 w5"})
    assert new.search("w1 w5", 20) != before
    assert old.search("w1 w5", 20) == before
    assert (
        StoredWords(view).search("w1 w5", 20) == before
    )  # which leaves no lock in the folder, for it may be read-only
    assert {path.name: path.read_bytes() for path in view.iterdir()} == files
    for path in view.iterdir():
        path.unlink()
    view.rmdir()
    gc.collect()
    assert old.search("w1 w5", 20) == before


def test_damaged_files_end_in_an_error_with_its_cure(runs: LayerRuns):
    runs.run(drawn(4, 300))
    for path in sorted(runs.view.iterdir()):
        content = path.read_bytes()
        path.unlink()
        path.write_bytes(content[: len(content) // 2])
        with suppress(StoreDamaged):  # or it is not read by a search
            runs.open().search("w1 w2", 5)
        path.write_bytes(content)
    assert runs.open().search("w1 w2", 5)
    (runs.view / "meta.json").unlink()
    with pytest.raises(StoreDamaged):
        runs.open()


def test_a_check_finds_what_is_lacking(runs: LayerRuns):
    runs.run({"a.txt": "harbour", "b.txt": "light"})
    with runs.store.batch() as batch:
        batch.remove(number("a.txt"))
    assert [finding.name for finding in runs.findings()] == ["words of chunks that are not there"]


# Words of a text


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


def test_words_find_a_sentence_of_every_language_by_a_part_of_it(runs: LayerRuns):
    """Each question shares a part of its own sentence with it and nothing with the others."""
    words = runs.run({f"{name}.txt": text for name, (text, _) in FOUND.items()})
    for name, (_, question) in FOUND.items():
        assert number_of(words.search(question, 3)[0][0]) == number(f"{name}.txt")


def test_a_question_whose_language_is_not_recognized_meets_texts_of_any_language(runs: LayerRuns):
    """Texts are stemmed as English too, whatever they are; `Abhängigkeiten` alone says nothing of its language."""
    words = runs.run({"de.txt": "Die Abhängigkeiten werden bei den Tests überschrieben.", "en.txt": "Tests."})
    assert [number_of(id) for id, _ in words.search("Abhängigkeiten", 3)] == [number("de.txt")]


@pytest.mark.parametrize("text", ["中" * 200_000, "ก็" * 100_000, "ก" + "่" * 200_000, "क" * 200_000, "中 " * 100_000])
def test_a_text_has_no_more_words_than_twice_its_characters(text: str):
    words = all_terms(text)
    assert len(words) <= 2 * len(text)
    assert max(map(len, words)) <= 64


def test_no_word_has_a_blank_in_it():
    """The index has a text's words joined by blanks."""
    text = "".join(map(chr, range(1, 0x3000))) + " ".join(text for each in FOUND.values() for text in each)
    for part in (text[at : at + 400] for at in range(0, len(text), 400)):
        assert " ".join(all_terms(part)).split() == all_terms(part)
