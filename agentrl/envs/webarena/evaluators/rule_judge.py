"""The rule judge of answers: does an answer say what a reference says? No model; when in doubt, no.

Amounts must agree whatever their notation (see `quantities.py`), and no other amount of the same kind may be offered
beside them. Names and other words of the reference must occur. What is said must not be denied. Where references are
of the form "key: value", each value must stand by its key.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from agentrl.envs.webarena.evaluators.quantities import MONTHS, Quantity, read_quantities

MAX_LENGTH = 20_000  # characters of an answer that are read; a rule needs no more
_FILLERS = """a an the is are was were be been am it its this that these those of to in on at for from by with and or as
    i my me you your we our they their he she his her do does did has have had will would can could there here so then
    about around approximately total answer which who what when where how than s t takes take
    name email phone number id date time purchase"""
_NEGATIONS = """no not never none neither nor without cannot cant isnt arent wasnt werent dont doesnt didnt wont wouldnt
    couldnt shouldnt hasnt havent hadnt unable impossible nothing nobody nowhere"""
FILLERS, NEGATIONS = frozenset(_FILLERS.split()), frozenset(_NEGATIONS.split())
YES, NO = frozenset({"yes", "yeah", "yep", "true", "correct"}), frozenset({"no", "nope", "false", "incorrect"})
CLAUSE_END = re.compile(r"[.;!?\n](?=\s|$)|\b(?:but|although|while|and|so)\b|,(?=\s)")
WORD = re.compile(r"[^\W_]+(?:'[a-z]+)?")
REFUSALS = re.compile(
    r"\bn/a\b|\bnot (?:possible|achievable|available|feasible|applicable|found|exist)\b|\bimpossible\b|\bunachievable\b"
    r"|\b(?:can ?not|can't|could not|couldn't) (?:be (?:done|completed|achieved|found)|find|do (?:this|that|it))\b"
    r"|\bdoesn't exist\b|\bdon't exist\b|\bno such\b|\bunable to\b"
    r"|\bthere (?:is|are|was|were) (?:no|not any)\b(?! (?:doubt|problem|need))"
    r"|\bno (?:\w+ ){0,3}(?:found|exists?|available)\b"
)
EXISTENCE = frozenset({"such", "exist", "find", "found", "available", "any", "possible", "able", "site", "page"})
# Numbers that people write as words; "one" is mostly none.
_NUMERALS = """zero - two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty"""
NUMERALS = {word: str(number) for number, word in enumerate(_NUMERALS.split()) if word != "-"}
NUMERALS |= {word: str(10 * number) for number, word in enumerate(["thirty", "forty", "fifty", "sixty"], start=3)}
ONE, NONE = re.compile(r"\b(?:one|a single|only a)\b"), re.compile(r"\b(?:no|none|nothing|nobody)\b")
NUMERAL_WORD = re.compile(rf"\b(?:{'|'.join(NUMERALS)})\b")
MAX_KEYED = 40
MAX_WORDS = 200  # of an answer, beside four for each word of the references
A_SENTENCE = 5  # words with meaning: a reference of so many may be quoted, and numbers beside it are no guesses


def normalised(text: str) -> str:
    """In lower case, with plain quotes and letters."""
    text = unicodedata.normalize("NFKC", text[:MAX_LENGTH]).lower()
    return text.replace("\u2019", "'").replace("\u2018", "'").replace("\u2013", "-").replace("\u2014", "-").strip()


def agrees(references: Sequence[str], answer: str, question: str = "") -> bool:
    """Does the answer say everything that the references say, and nothing against it?"""
    wanted, answer, question = [_folded(each) for each in references], _folded(answer), _folded(question)
    answer = _with_digits(answer, wanted)
    length = sum(len(_content(text)) for text in wanted)
    if not answer or len(_content(answer)) > MAX_WORDS + 4 * length:
        return False  # everything can be found in enough words: a whole page is no answer
    offered = read_quantities(answer)
    asked = [quantity for text in wanted for quantity in read_quantities(text)]
    # Listing guesses must not pay: no amount that nobody mentioned, of a kind that is asked for. Long references
    # (addresses, quotations) leave room for numbers.
    known, kinds = [*asked, *read_quantities(question)], {quantity.kind for quantity in asked}
    if length > A_SENTENCE:
        kinds.discard("number")
    if "duration" in kinds:
        kinds.add("time")
    if any(each.kind in kinds and not _count(each, known) for each in offered):
        return False
    if any(_count(each, offered) < _count(each, asked) for each in asked):
        return False
    if not all(_says(reference, answer, question) for reference in wanted):
        return False
    if len(wanted) > 1 and not all(_says_together(reference, answer) for reference in wanted):
        return False
    return len(wanted) == 1 or _values_stand_by_keys(wanted, answer)


def refuses(reason: str, answer: str) -> bool:
    """Does the answer say that the task cannot be done, for this reason?"""
    answer, reason = normalised(answer), normalised(reason)
    if reason and reason != "n/a":
        denied = [clause.text for clause in _clauses(answer) if clause.is_negated]
        wanted = [word for word in _content(reason) if word not in map(plain, EXISTENCE)]
        return _recall(wanted or _content(reason), _content(" ".join(denied))) >= 0.6
    return REFUSALS.search(answer) is not None


def _folded(text: str) -> str:
    """Letters without accents: López is Lopez."""
    parts = unicodedata.normalize("NFD", normalised(text))
    return "".join(sign for sign in parts if not unicodedata.combining(sign))


def _with_digits(answer: str, wanted: Sequence[str]) -> str:
    """The answer with numbers in digits: "three", and "one" and "none" where such a number is asked for."""
    answer = NUMERAL_WORD.sub(lambda word: NUMERALS[word[0]], answer)
    numbers = {text.strip(" .") for text in wanted}
    if not any(each.kind == "number" for each in read_quantities(answer)):
        if "1" in numbers:
            return ONE.sub("1", answer, count=1)
        if "0" in numbers:
            return NONE.sub("0", answer, count=1)
    return answer


def _count(quantity: Quantity, others: Sequence[Quantity]) -> int:
    return sum(quantity.agrees_with(other) for other in others)


# ---------------------------------------------------------------------- one reference


def _says(reference: str, answer: str, question: str) -> bool:
    """Does the answer have the words of the reference, and does it not deny them? Its amounts were compared before."""
    quantities = read_quantities(reference)
    polarity, reference = _split_polarity(reference)
    said_polarity, rest = _split_polarity(answer)
    if polarity and said_polarity and polarity != said_polarity:
        return False
    content = _content(reference)
    if len(content) >= A_SENTENCE and reference.rstrip(" .") in rest:
        return True  # quoted as it stands
    if not content and not quantities:
        if polarity and not said_polarity:
            return _restates(question, rest, negated=polarity == "no")
        return bool(polarity) and polarity == said_polarity and not (polarity == "yes" and _is_negated(rest))
    share = 0.5 if quantities else 1.0 if len(content) <= 4 else 0.75
    if round(_recall(content, _content(rest)) * len(content)) < int(share * len(content)):
        return False
    for clause in _clauses(reference):  # no "not" in what is said about it where it has none, or the other way round
        about = [each for each in _clauses(rest) if each.touches(clause)]
        if about and any(each.is_negated for each in about) != clause.is_negated:
            return False
    return True


def _says_together(reference: str, answer: str) -> bool:
    """Do two or three words of a reference stand in one clause, and not the first ones here and the last ones there?"""
    content = _content(reference)
    if not 2 <= len(content) <= 3 or len(_clauses(reference)) > 1 or ": " in reference:
        return True
    return any(_recall(content, list(clause.content)) == 1.0 for clause in _clauses(answer))


def _restates(question: str, answer: str, *, negated: bool) -> bool:
    """Is it a yes or no without the word: what the question asks, as a statement, denied or not?"""
    asked, clauses = set(_content(question)), _clauses(answer)
    if _is_negated(question) or "?" in answer or not VERB.search(answer):
        return False
    fitting = all(clause.content and clause.content <= asked and not clause.quantities for clause in clauses)
    return bool(clauses) and fitting and all(clause.is_negated == negated for clause in clauses)


VERB = re.compile(
    r"\b(?:is|are|was|were|does|do|did|has|have|had|can|could|will)(?:n't)?\b|\bcan(?:not|'t)\b|\bwon't\b"
)


def _split_polarity(text: str) -> tuple[str, str]:
    """("yes" or "no" or "", the rest) by the first word; "no reviews" is no answer to a yes-or-no question."""
    found = re.match(r"\W*([a-z]+)\b\s*(?P<sign>[,.!;:-]|$)?", text)
    if found is None or (found[1] not in YES | NO) or (found["sign"] is None):
        return "", text
    return ("yes" if found[1] in YES else "no"), text[found.end() :]


class Clause(NamedTuple):
    """A part of a text that a "not" reaches."""

    content: frozenset[str]
    quantities: tuple[Quantity, ...]
    is_negated: bool
    text: str

    def touches(self, other: Clause) -> bool:
        """Is it about the same?"""
        if not self.content.isdisjoint(other.content):
            return True
        return any(_count(quantity, self.quantities) for quantity in other.quantities)


@lru_cache(64)
def _clauses(text: str) -> tuple[Clause, ...]:
    """The clauses of a text; commas inside numbers do not end one."""
    pieces, begin = [], 0
    for found in CLAUSE_END.finditer(text):
        pieces.append(text[begin : found.start()])
        begin = found.end()
    return tuple(
        Clause(frozenset(_content(piece)), tuple(read_quantities(piece)), _is_negated(piece), piece)
        for piece in (*pieces, text[begin:])
        if piece.strip()
    )


def _is_negated(text: str) -> bool:
    bare = [word.replace("'", "") for word in WORD.findall(text)]
    return any(word in NEGATIONS for word in bare)


# ---------------------------------------------------------------------- words


def _content(text: str) -> list[str]:
    """The words that carry meaning, in a plain form; amounts are left out."""
    for quantity in reversed(read_quantities(text)):
        text = text[: quantity.begin] + " " + text[quantity.end :]
    found = [word.removesuffix("'s").replace("'", "") for word in WORD.findall(text)]
    return [plain(word) for word in found if word not in FILLERS and word not in NEGATIONS]


@lru_cache(4096)
def plain(word: str) -> str:
    """A word without plural and other endings; months by number."""
    if word in MONTHS:
        return f"month{MONTHS[word]}"
    word = re.sub(r"([a-z])\1", r"\1", word)
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending).rstrip("e")
    return word.rstrip("e") if len(word) > 3 else word


def _recall(wanted: list[str], said: list[str]) -> float:
    """How much of what is wanted was said. Words of a reference may be cut off: there are such mistakes."""
    found, words = 0, set(said)
    for word in wanted:
        longer = (other for other in words if other.startswith(word) and len(other) - len(word) <= 2)
        found += word in words or (len(word) >= 5 and any(longer))
    return found / len(wanted) if wanted else 0.0


# ---------------------------------------------------------------------- "driving: 13min", "walking: 1h 45min"


def _values_stand_by_keys(references: Sequence[str], answer: str) -> bool:
    pairs = [each.split(": ", 1) for each in references if ": " in each]
    if len(pairs) != len(references) or len(pairs) > MAX_KEYED:
        return True
    # A key stands where its last word does that occurs at all.
    first = {plain(found[0]): found.start() for found in reversed(list(WORD.finditer(answer)))}
    places = [next((first[word] for word in reversed(_words(key)) if word in first), None) for key, _ in pairs]
    if any(place is None for place in places):  # "name: ..." needs no key, "walking: ..." does
        return not any(_content(key) for (key, _), place in zip(pairs, places, strict=True) if place is None)
    ordered = sorted((place, index) for index, place in enumerate(places) if place is not None)
    starts = [place for place, _ in ordered]
    after = {index: answer[begin:end] for (begin, index), end in zip(ordered, [*starts[1:], len(answer)], strict=True)}
    before = {index: answer[begin:end] for (end, index), begin in zip(ordered, [0, *starts[:-1]], strict=True)}
    return any(all(_holds(pairs[index][1], part) for index, part in parts.items()) for parts in (after, before))


def _holds(value: str, part: str) -> bool:
    quantities, offered = read_quantities(value), read_quantities(part)
    if quantities:
        kinds = {each.kind for each in quantities}
        rivals = [each for each in offered if each.kind in kinds]
        return all(_count(each, offered) for each in quantities) and all(_count(each, quantities) for each in rivals)
    return _recall(_words(value), _words(part)) > 0.5


def _words(text: str) -> list[str]:
    return [plain(word) for word in WORD.findall(text)]
