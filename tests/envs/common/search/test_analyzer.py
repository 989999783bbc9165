# ruff: noqa: RUF001  (letters that look alike are what is tested)
"""Words, possessives, case and stop words, as Lucene's English analyzer cuts them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrl.envs.common.search import analyze
from agentrl.envs.common.search.analyzer import QUERY_TERMS, STOP_WORDS, analyze_query, pieces, words

CASES = {
    "Women's T-Shirts, size 3.5": ["women", "t", "shirt", "size", "3.5"],
    "the cat and the dog": ["cat", "dog"],
    # letters are joined by : . ' and their relatives, digits by , . ; '
    "u.s.a. x:y can't": ["u.s.a", "x:y", "can't"],
    "1,000 2;5 6.5' 5'6 1.": ["1,000", "2;5", "6.5", "5'6", "1"],
    "a.1 1.a a,b 1:2": ["1", "1", "b", "1", "2"],  # nothing joins a letter and a digit; a alone is a stop word
    "3d mp3 x2y": ["3d", "mp3", "x2y"],
    "foo_bar _baz__ __ _": ["foo_bar", "_baz__"],
    "'quoted' end. (x) [y] {z} a/b <r>": ["quot", "end", "x", "y", "z", "b", "r"],
    "usb-c & hdmi+dvi 100% $12.99 #1": ["usb", "c", "hdmi", "dvi", "100", "12.99", "1"],
    # possessives of any apostrophe, in any case
    "MEN'S men’s men＇s mens' s": ["men", "men", "men", "men", "s"],
    # beyond ASCII
    "Café NAÏVE Ünï": ["café", "naïv", "ünï"],
    "l’oréal can’t m·m": ["l’oréal", "can’t", "m·m"],
    "ΟΔΟΣ İstanbul Straße": ["οδοσ", "istanbul", "straße"],
    "日本 ひら カタカナ 한국어": ["日", "本", "ひ", "ら", "カタカナ", "한국어"],
    "ภาษาไทย": ["ภาษาไทย"],
    "cafe\u0301 a\u00adb zero\u200bwidth": ["cafe\u0301", "a\u00adb", "zero", "width"],
    "☕ 👍🏽 👨‍👩‍👧x 🇩🇪🇫🇷": ["☕", "👍🏽", "👨‍👩‍👧", "x", "🇩🇪", "🇫🇷"],
    "brand® ™ © → ★": ["brand", "®", "™", "©", "★"],
    "acme®™ ©2020 5™6": ["acm", "®", "™", "©", "2020", "5", "™", "6"],
    "\uff76\uff9e q\uff9f \uff9e \uff9f\u0434\uff9f": ["\uff76\uff9e", "q\uff9f", "\u0434\uff9f"],  # half-width marks
    "a\uff3fb \uff3f \u203f c": ["a\uff3fb", "c"],
    "🅰🅱x ℹ 〽〰 ⼀ ゛ ㍍ ㋐カ": ["🅰🅱x", "ℹ", "〽", "〰", "⼀", "゛", "㍍", "㋐カ"],
    "１２，３ ａ：ｂ": ["１２，３", "ａ：ｂ"],
    "": [],
    " \t\n\x00": [],
    "... --- ;;; ''": [],
    "\ud800 a1 \udfff": ["a1"],
}


@pytest.mark.parametrize(("text", "expected"), CASES.items(), ids=[ascii(text)[:30] for text in CASES])
def test_cases(text: str, expected: list[str]) -> None:
    assert analyze(text) == expected


def test_there_are_33_stop_words_and_none_gets_through() -> None:
    assert len(STOP_WORDS) == 33
    assert analyze(" ".join(STOP_WORDS) + " " + " ".join(STOP_WORDS).upper()) == []


def test_words_the_stop_list_leaves_alone() -> None:
    assert analyze("i am from you") == ["i", "am", "from", "you"]


@given(st.text(alphabet=st.characters(max_codepoint=127)))
@settings(max_examples=300, deadline=None)
def test_plain_text_is_cut_the_same_by_both_ways_through_the_analyzer(text: str) -> None:
    assert analyze(text) == analyze(f"{text} ß")[:-1]


@given(st.text(alphabet=st.one_of(st.characters(max_codepoint=127), st.sampled_from(list("ab1:.',;_ é日\u0301")))))
@settings(max_examples=500, deadline=None)
def test_the_terms_of_all_pieces_are_the_terms_of_the_text(text: str) -> None:
    assert [term for piece in pieces(text) for term in analyze(piece)] == analyze(text)


@given(st.text())
@settings(max_examples=300, deadline=None)
def test_any_text_gives_terms_without_spaces_that_were_in_it(text: str) -> None:
    for word in words(text):
        assert word in (text.lower() if text.isascii() else text)
    for term in analyze(text):
        assert term and not any(letter.isspace() for letter in term)
        term.encode()  # no half surrogates


def test_an_endless_word_is_cut_into_pieces() -> None:
    assert [len(term) for term in analyze("x" * 600)] == [255, 255, 90]
    assert [len(term) for term in analyze("é" * 300)] == [255, 45]


def test_a_query_counts_its_terms_in_order() -> None:
    assert analyze_query("shoes for shoe lovers, Shoe's") == {"shoe": 3, "lover": 1}


@pytest.mark.parametrize(
    "query",
    [
        " ".join(f"w{i}" for i in range(400_000)),
        "a1." * 1_000_000,
        "'" * 3_000_000,
        "x" * 3_000_000,
        "é" * 3_000_000,
        "e\u0301" * 1_000_000,
        "👨‍" * 1_000_000,
        "_" * 3_000_000,
        "a:" * 1_500_000,
    ],
    ids=["words", "dots", "quotes", "one word", "letters", "accents", "family", "underscores", "colons"],
)
def test_a_query_of_megabytes_is_bounded(query: str) -> None:
    start = time.process_time()
    assert len(analyze_query(query)) <= QUERY_TERMS
    assert time.process_time() - start < 10
