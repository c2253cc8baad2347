"""BM25 against an independent implementation, and the promises of its order."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from rank_bm25 import BM25Okapi

from ragways.index.words import Words, all_terms, terms


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
    Words.build(tmp_path / "words", [(f"id{n:03}", "same words here") for n in range(100, 0, -1)])
    words = Words(tmp_path / "words")
    for k in (1, 5, 37, 100, 200):
        assert [id for id, _ in words.search("words", k)] == [f"id{n:03}" for n in range(1, min(k, 100) + 1)]


def test_adding_on_top_is_the_same_as_building_anew(tmp_path: Path, texts: list[tuple[str, str]]):
    Words.build(tmp_path / "first", texts[:300])
    before = {file.name: file.stat().st_mtime_ns for file in (tmp_path / "first").iterdir()}
    Words.build(tmp_path / "grown", texts[300:], onto=tmp_path / "first")
    Words.build(tmp_path / "anew", texts)
    for question in ("term1 term2 term3", "term42"):
        assert Words(tmp_path / "grown").search(question, 50) == Words(tmp_path / "anew").search(question, 50)
        assert all(int(id.split(":")[1]) < 300 for id, _ in Words(tmp_path / "first").search(question, 50))
    assert before.items() <= {file.name: file.stat().st_mtime_ns for file in (tmp_path / "first").iterdir()}.items()


@pytest.mark.parametrize("question", ["", "the of and", "!!!", "\x00", "AND OR (", "a" * 70, "text:harbour id:1", "*"])
def test_no_question_is_a_query(tmp_path: Path, question: str):
    Words.build(tmp_path / "words", [("id1", "harbour light")])
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
    Words.build(tmp_path / "words", [(each, text) for each, (text, _) in FOUND.items()])
    found = Words(tmp_path / "words").search(FOUND[name][1], 3)
    assert found[0][0] == name


def test_a_question_whose_language_cannot_be_told_meets_texts_of_any_language(tmp_path: Path):
    """Texts are stemmed as English too, whatever they are; `Abhängigkeiten` alone says nothing of its language."""
    Words.build(
        tmp_path / "words", [("de", "Die Abhängigkeiten werden bei den Tests überschrieben."), ("en", "Tests.")]
    )
    assert [id for id, _ in Words(tmp_path / "words").search("Abhängigkeiten", 3)] == ["de"]


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
def test_search_among_some_chunks_is_the_search_among_all_without_the_others(
    tmp_path: Path, texts: list[tuple[str, str]], count: int
):
    """Few chunks are named in the query, of many the others are passed over; scores are the same in both."""
    Words.build(tmp_path / "words", [*texts, *((f"article:{n}:s1:p0:c0", "term1 same") for n in range(100))])
    words = Words(tmp_path / "words")
    chosen = frozenset(id for id, _ in random.Random(count).sample(texts, count)) | {"article:7:s1:p0:c0"}
    part = words.only(chosen if count else frozenset())
    for question in ("term1 term2 term3", "term7", "same", "nothing"):
        all_found = words.search(question, 1000)
        for k in (0, 1, 5, 100):
            assert part.search(question, k) == ([hit for hit in all_found if hit[0] in chosen][:k] if count else [])
