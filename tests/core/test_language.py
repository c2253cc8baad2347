"""Words, sentences and languages of many scripts."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.core.language import folded_words, full_stops, language, unspaced_words

UNSPACED = st.text(st.sampled_from("接收上传文件静的ファイルをにはどう안녕하세요한국"), min_size=2, max_size=30)
ANYTHING = st.text(
    st.one_of(st.characters(), st.sampled_from("接的カﾞ안ᄀกำเ่ລ်ខ្हिन्दी。！ .aé")), max_size=40
)  # fmt: skip


@given(ANYTHING)
def test_the_words_of_any_text_cover_it(text: str):
    """Every letter stands in a word; no word holds a space, so that words can be written beside each other."""
    rest, words = unspaced_words(text)
    assert not unspaced_words(rest)[1]
    assert all(word and not any(sign.isspace() for sign in word) for word in words)
    taken = unicodedata.normalize("NFKD", "".join(set(text) - set(rest)))
    assert set(taken) <= set(unicodedata.normalize("NFKD", "".join(words)))
    assert {sign for sign in rest.casefold() if sign.isalnum()} <= set("".join(folded_words(rest)))


@given(st.text(st.characters(max_codepoint=127), max_size=40))
def test_words_of_plain_letters_are_those_between_signs(text: str):
    assert folded_words(text) == re.findall("[a-z0-9_]+", text.lower())


@given(UNSPACED, UNSPACED, UNSPACED)
def test_a_part_of_a_text_has_words_of_the_whole(before: str, part: str, after: str):
    assert set(folded_words(part)) <= set(folded_words(before + part + after))


def test_words_of_scripts_without_spaces():
    assert folded_words("上传文件 Upload") == ["upload", "上传", "传文", "文件", "上", "传", "文", "件"]
    assert folded_words("ﾌｧｲﾙ") == folded_words("ファイル") == ["ファ", "ァイ", "イル"]
    assert folded_words("한국어") == folded_words(unicodedata.normalize("NFD", "한국어")) == ["한국", "국어"]
    # A vowel or tone mark is no word without its letter.
    assert folded_words("ที่นี่") == ["ที่นี่"]
    assert folded_words("हिन्दी भाषा।") == ["हिन्दी", "भाषा"]
    assert unspaced_words("plain words") == ("plain words", [])


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("今天很好。我们走吧！你去吗？「好。」他说", ["今天很好。", "我们走吧！", "你去吗？", "「好。」", "他说"]),
        ("版本３．５发布．然后呢", ["版本３．５发布．", "然后呢"]),
        ("好的!再见?嗯", ["好的!", "再见?", "嗯"]),
        ("भारत एक देश है। यह बड़ा है॥", ["भारत एक देश है।", " यह बड़ा है॥"]),
        ("ما هي العاصمة؟ الرياض", ["ما هي العاصمة؟", " الرياض"]),
        ("သူသွားသည်။သူလာသည်။", ["သူသွားသည်။", "သူလာသည်။"]),
        ("ភាសា។ខ្មែរ", ["ភាសា។", "ខ្មែរ"]),
        ("ก" * 40 + " " + "ข" * 10 + " " + "ค" * 40, ["ก" * 40 + " ", "ข" * 10 + " " + "ค" * 40]),
        ("Wait! 3.5? Yes…", ["Wait! 3.5? Yes…"]),
        ("", [""]),
    ],
)
def test_full_stops_of_each_script(text: str, sentences: list[str]):
    ends = full_stops(text)
    assert [text[start:end] for start, end in zip([0, *ends], ends, strict=False)] == sentences


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("zh", "接收上传的文件需要先安装哪个包？"),
        ("ja", "FastAPI の BackgroundTasks とは何ですか？"),
        ("ko", "파이썬은 무엇입니까?"),
        ("th", "เมืองหลวงของไทยคืออะไร"),
        ("lo", "ນະຄອນຫຼວງແມ່ນຫຍັງ"),
        ("my", "မြို့တော်ကဘာလဲ"),
        ("km", "រាជធានីគឺជាអ្វី"),
        ("hi", "भारत की राजधानी क्या है?"),
        ("ta", "தலைநகரம் என்ன?"),
        ("ru", "Что такое столица?"),
        ("uk", "Що таке столиця України?"),
        ("el", "Ποια είναι η πρωτεύουσα;"),
        ("ar", "ما هي العاصمة؟"),
        ("fa", "پایتخت کجاست؟"),
        ("he", "מהי הבירה?"),
        ("de", "Wie wird eine Abhängigkeit beim Testen überschrieben?"),
        ("fr", "Quelle est la capitale du pays et qui la dirige ?"),
        ("es", "¿Cuál es la capital del país y cómo se llama?"),
        ("it", "Qual è la capitale del paese e quali sono gli abitanti?"),
        ("pt", "Qual é a capital do país e quais são os rios?"),
        ("nl", "Wat is de hoofdstad en hoe wordt het land bestuurd?"),
        ("sv", "Vad är huvudstaden och hur är det där?"),
        ("fi", "Mikä on pääkaupunki ja missä se on?"),
        ("hu", "Mi a főváros és hogyan kell odamenni?"),
        ("tr", "Başkent ne ve nasıl bir yer?"),
        ("pl", "Jaka jest stolica i gdzie jest to miasto?"),
        ("en", "What is the capital of the country?"),
        ("en", "Who directed Die Hard, and was it shot in Der Spiegel's home town?"),
        ("en", "Wangliang (魍魎 or 罔两) is the name of a malevolent spirit in Chinese mythology."),
        ("", "Die Hard"),
        ("", "Simón José Antonio de la Santísima Trinidad"),
        ("", "def f(x): return x + 1"),
        ("", ""),
    ],
)
def test_the_language_of_a_text(code: str, text: str):
    assert language(text) == code
