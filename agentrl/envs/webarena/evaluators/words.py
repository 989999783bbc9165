"""`words`: a text as the tokens that NLTK's `word_tokenize` finds, which the benchmark's one-token rule compares.

Tokens follow the Penn Treebank: punctuation stands alone, numbers such as 1,234.50 and times such as 10:30 stay whole,
clitics ('s, n't) are cut off, and a full stop belongs to its word unless it ends a sentence. Where sentences end is
decided as NLTK's English model does it for text in lower case, which is all that evaluators ever ask about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_LENGTH = 2_000_000  # characters that are looked at; no page and no honest answer is longer

# Abbreviations after which a full stop ends no sentence, as far as NLTK's English model knows them: "no", "etc",
# "dept", "capt" and "apr" it does not.
_ABBREVIATIONS = """a.d a.m adm ala ariz aug ave bros calif co col colo conn corp cos ct d.c dec dr feb fla fri ft ga
    gen ill inc jan jr kan ky l.a lt ltd m.b.a maj messrs mg mich minn mr mrs ms n.c n.j n.m n.y nev nov oct ok okla ore
    p.m pa ph.d prof rep reps s.c sen sep sept sr st tenn tues u.k u.n u.s u.s.a va vs vt w.va wash wed wis yr"""
ABBREVIATIONS = frozenset(_ABBREVIATIONS.split())
SENTENCE_END = re.compile(r"[.?!](?=[)\";}\]*:@'({\[!?]|\s+(?P<next>\S))")
LAST_WORD = re.compile(r"[^\s()\";}\]*:@'{\[!?]+\Z")
NUMBER = re.compile(r"-?[.,]?\d[\d,.-]*\.?")
CLOSING = re.compile(r"""["')\]}]+(?=\s|$)""")


def _in_two(found: re.Match[str]) -> str:
    first, second = (part for part in found.groups() if part is not None)
    return f" {first} {second} "


OPENING_QUOTES = (
    (re.compile(r"[\u00ab\u201c\u2018\u201e]|`+"), r" \g<0> "),
    (re.compile(r'\A"'), "``"),
    (re.compile(r"``"), r" \g<0> "),
    (re.compile(r"""([ (\[{<])(?:"|'')"""), r"\1 `` "),
    (re.compile(r"(?i)(?<!\w)'(?!(?:re|ve|ll|m|t|s|d|n)\b)(?=\w)"), "' "),
)
SEPARATORS = (
    (re.compile(r"([:,])(\D)"), r" \1 \2"),
    (re.compile(r"[:,]$"), r" \g<0> "),
    (re.compile(r"\.{2,}|[;@#$%&\u2012-\u2015]"), r" \g<0> "),
)
BRACKETS_AND_MARKS = (
    (re.compile(r"[?!]"), r" \g<0> "),
    (re.compile(r"(?<=[^'])' "), " ' "),
    (re.compile(r"[*\[\](){}<>]|--"), r" \g<0> "),
)
CLOSING_QUOTES = (
    (re.compile(r"[\u00bb\u201d\u2019]|''"), r" \g<0> "),
    (re.compile(r'"'), " '' "),
    (re.compile(r"\s+"), " "),
    (re.compile(r"(?<=[^' ])(?:'[smdSMD]?) "), r" \g<0> "),
    (re.compile(r"([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) "), r"\1 \2 "),
    (re.compile(r"(?i)\b(?:(can)(not)|(d)('ye)|(gim)(me)|(gon)(na)|(got)(ta)|(lem)(me)|(more)('n))\b"), _in_two),
    (re.compile(r"(?i)\b(wan)(na)(?=\s)| ('t)(is|was)\b"), _in_two),
)


def words(text: str) -> list[str]:
    """The tokens of a text, in order."""
    return [token for sentence in sentences(text[:MAX_LENGTH]) for token in tokens(sentence)]


def tokens(sentence: str) -> list[str]:
    """The tokens of one sentence."""
    for pattern, replacement in OPENING_QUOTES:
        sentence = pattern.sub(replacement, sentence)
    sentence = _split_last_stop(sentence, "])}>\"'\u00bb\u201d\u2019 ", " ")
    for pattern, replacement in SEPARATORS:
        sentence = pattern.sub(replacement, sentence)
    sentence = _split_last_stop(sentence, """])}>"'""", "")
    for pattern, replacement in BRACKETS_AND_MARKS:
        sentence = pattern.sub(replacement, sentence)
    sentence = f" {sentence} "
    for pattern, replacement in CLOSING_QUOTES:
        sentence = pattern.sub(replacement, sentence)
    return sentence.split()


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text."""
    begin = 0
    for found in SENTENCE_END.finditer(text):
        if found.start() < begin or not _ends_sentence(text, begin, found):
            continue
        closing = CLOSING.match(text, found.end())
        end = closing.end() if closing else found.end()
        yield text[begin:end]
        begin = end
    yield text[begin:]


def _ends_sentence(text: str, begin: int, found: re.Match[str]) -> bool:
    """Question and exclamation marks do; a full stop not after abbreviations, nor after numbers and initials that the
    text goes on behind."""
    if found[0] != ".":
        return True
    last = LAST_WORD.search(text, max(begin, found.start() - 60), found.start())
    word = last[0].lstrip("-,#&") if last else ""
    if not word or word.endswith("."):  # an ellipsis
        return False
    if word in ABBREVIATIONS or word.rpartition("-")[2] in ABBREVIATIONS:
        return False
    after = found["next"] or text[found.end()]
    goes_on = after.islower() or after in ";:,.!?"
    is_number_or_initial = NUMBER.fullmatch(word) or (len(word) == 1 and word.isalpha())
    return not (is_number_or_initial and goes_on)


def _split_last_stop(text: str, closing: str, after: str) -> str:
    """Cut the full stop at the end off its word; closing quotes and brackets may follow it."""
    stripped = text.rstrip()
    body = stripped.rstrip(closing)
    tail = stripped[len(body) :]
    if len(body) < 2 or body[-1] != "." or body[-2] == ".":
        return text
    return f"{body[:-1]} .{after}{tail} "
