"""`beside`: does a text say what is wanted and nothing else? So that listing guesses does not pay in generated tasks.

The parts that are wanted must all be said: names and texts as they are written, numbers, dates, distances and telephone
numbers in any notation. What stands beside them may only be words of the instruction and words that sentences are made
of ("The role is ..."), so that no second name, status or title can be offered. Where a part has a number, no other
number may stand beside it, save those of the instruction. Nothing may be denied, and the text may not be much longer
than the parts and the instruction. The instruction itself, repeated, says nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from agentrl.envs.webarena.evaluators.quantities import read_quantities
from agentrl.envs.webarena.evaluators.rule_judge import FILLERS, NEGATIONS, NO, YES, normalised, plain

OR = " |OR| "
ROOM = 200  # characters beside those of the parts and of the instruction
NOT_ACHIEVABLE = "n/a"
MARKS = re.compile(r"[*`\"\u201c\u201d]+|\s+")  # quotation and emphasis
TOKEN = re.compile(r"\bn/a\b|(?:(?<!\w)-)?\d+(?:[.,:]\d+)*|[^\W\d_]+")
NUMERAL = re.compile(r"-?\d+(?:[.,:]\d+)*")
CONDITIONS = frozenset({"if", "unless", "whether"})  # "N/A if there is none" is no answer
NOTATIONS = frozenset({"date", "distance", "phone"})  # amounts that are written in several ways
# What sentences are made of. No word that could be a value: no role, status, colour, weekday, name or place.
_SAYING = """access according account address after also altogether amount any asked author away before being below
    between bicycle bike both bought but called car check clone code come command comment commit contain contributor
    coordinates correspond cost count currency current currently customer day degrees detail determine difference
    display distance dollar done drive due during earn equal exact exactly exist figure final find follows foot forum
    found gave get git given gives go going gone got hour however indeed indicate information into issue item just
    kilometer kilometre km label lat latitude lb lbs least let level list lives located location lon longitude look m
    make map mean measure member mentioned meter metre milestone min minute more most namely nd need now only open
    order other out over own page pay people per person please point post postcode pound price product profile project
    question rating rd reach read record reference reported repository request respectively result review role route
    said same say score search see seen sent set shipped show shown since site sku sold some spent st stand star stated
    status submission subscribers such sum telephone tell th them through title together tracking under unit until up us
    usd use used user username using value via walk way web weight while whole whom whose within word write written
    wrote year zip"""
SAYING = frozenset(map(plain, (*_SAYING.split(), *FILLERS)))


def beside(parts: Sequence[str], rivals: Sequence[str], text: str, instruction: str) -> Iterator[str]:
    """What is wrong with the text, in words; nothing where it says all parts and no more. A part may name alternatives
    (joined by " |OR| "); rivals are further texts that must not occur."""
    if len(text) > ROOM + len(instruction) + sum(map(len, parts)):
        yield "must not be so long"
        return
    question, said = _cleaned(instruction), _cleaned(text)
    said = said.replace(question, " ") if question else said
    spans: list[tuple[int, int]] = []
    for part in parts:
        found = [span for each in part.split(OR) for span in _places(_cleaned(each), said)]
        if not found:
            yield f"must include {part!r}"
        spans += found
    for rival in rivals:
        places = _places(_cleaned(rival), said)
        if not all(any(begin <= start and stop <= end for begin, end in spans) for start, stop in places):
            yield f"must not include {rival!r}"
    rest = bytearray(b"\1" * len(said))
    for begin, end in spans:
        rest[begin:end] = bytes(end - begin)
    left = "".join(sign if keep else " " for sign, keep in zip(said, rest, strict=True))
    numbers = {_value(token) for begin, end in spans for token in NUMERAL.findall(said[begin:end])}
    foreign = _foreign(TOKEN.findall(left), {_cleaned(part) for part in parts}, numbers, question)
    if foreign:
        yield f"must not say {', '.join(map(repr, foreign[:3]))} beside it"


def _cleaned(text: str) -> str:
    return MARKS.sub(" ", normalised(text)).strip()


def _places(part: str, text: str) -> list[tuple[int, int]]:
    """Where the text says this part."""
    if NUMERAL.fullmatch(part):
        return [found.span() for found in TOKEN.finditer(text) if _value(found[0]) == _value(part)]
    wanted = read_quantities(part)
    if len(wanted) == 1 and wanted[0].kind in NOTATIONS and len(part) == wanted[0].end - wanted[0].begin:
        return [(each.begin, each.end) for each in read_quantities(text) if each.agrees_with(wanted[0])]
    whole = re.compile(rf"(?<!\w)(?<!\d[.,:]){re.escape(part)}(?!\w|[.,:]\d)")
    return [found.span() for found in whole.finditer(text)] if part else []


def _value(token: str) -> float | str:
    """A numeral as a number; a time of day and words as they are."""
    try:
        number = float(token.replace(",", ""))
    except ValueError:
        return token
    return number if math.isfinite(number) else token


def _foreign(tokens: Sequence[str], parts: set[str], numbers: set[float | str], question: str) -> list[str]:
    """Words and numbers that neither the instruction nor an ordinary sentence around the parts has; `numbers` are those
    of the parts."""
    asked = TOKEN.findall(question)
    words = {plain(word) for word in asked if word not in YES | NO | CONDITIONS | {NOT_ACHIEVABLE}} | SAYING
    is_no = parts <= NO | {NOT_ACHIEVABLE}
    if is_no or parts <= YES:
        words |= {plain(word) for word in (NO | NEGATIONS if is_no else YES)}
    told = {_value(token) for token in asked if NUMERAL.fullmatch(token)}
    # A number of the instruction that is the answer as well must not hide among its other numbers.
    free, closed = told if numbers.isdisjoint(told) else set(), numbers or parts == {NOT_ACHIEVABLE}
    return [
        token
        for token in tokens
        if (closed and _value(token) not in free if NUMERAL.fullmatch(token) else plain(token) not in words)
    ]
