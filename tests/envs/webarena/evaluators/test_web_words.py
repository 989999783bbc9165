"""Words: the tokens that NLTK's tokenizer finds (compared with it on 175,870 texts; these are examples)."""

from __future__ import annotations

import pytest

from agentrl.envs.webarena.evaluators.words import sentences, words


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("n/a", ["n/a"]),
        ("it costs $3.88.", ["it", "costs", "$", "3.88", "."]),
        ("1,234.50 at 10:30, ok", ["1,234.50", "at", "10:30", ",", "ok"]),
        ("i can't, they're bob's", ["i", "ca", "n't", ",", "they", "'re", "bob", "'s"]),
        ("cannot gimme gonna", ["can", "not", "gim", "me", "gon", "na"]),
        ("so 'tis (fine) [ok] {x}", ["so", "'", "tis", "(", "fine", ")", "[", "ok", "]", "{", "x", "}"]),
        ('he said "yes"', ["he", "said", "``", "yes", "''"]),
        ("wait... what?!", ["wait", "...", "what", "?", "!"]),
        ("a--b c-d", ["a", "--", "b", "c-d"]),
        ("#5 50% me@x.org", ["#", "5", "50", "%", "me", "@", "x.org"]),
        ("the end. more text. last.", ["the", "end", ".", "more", "text", ".", "last", "."]),
        ("see mr. smith", ["see", "mr.", "smith"]),
        ("it is 5. thanks", ["it", "is", "5.", "thanks"]),
        ("a b.c d.", ["a", "b.c", "d", "."]),
        ("\u201cquoted\u201d \u2018x\u2019", ["\u201c", "quoted", "\u201d", "\u2018", "x", "\u2019"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_tokens(text: str, tokens: list[str]) -> None:
    assert words(text) == tokens


def test_sentences_end_where_they_end() -> None:
    text = 'one. two! three? "four." five (six.) v. 7. eight'
    found = ["one.", "two!", "three?", '"four."', "five (six.)", "v.", "7. eight"]
    assert [each.strip() for each in sentences(text)] == found


@pytest.mark.parametrize("piece", [".", " ", ". ", "'", '"', "(", "a.", "5. a ", "\0", "n't ", "``"])
def test_the_work_grows_linearly_with_hostile_text(piece: str) -> None:
    """A quadratic rule would need hours here."""
    assert isinstance(words(piece * (100_000 // len(piece))), list)
