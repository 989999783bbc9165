"""`read_quantities`: the amounts in a text, each with its kind and a value that does not depend on how it is written.

"1h 45min" and "105 minutes" are the same duration, "1.4 km" and "1400m" the same distance, "3/2/22" and "March 2nd,
2022" the same date.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import NamedTuple

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb feburary", "march mar", "april apr", "may", "june jun", "july jul",
            "august aug", "september sep sept sepetember", "october oct octorbor", "november nov", "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_MONTH = rf"(?P<month>{'|'.join(sorted(MONTHS, key=len, reverse=True))})\.?"
_DAY = r"(?P<day>[0-3]?[0-9])(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>[12][0-9]{3})"
_NUMBER = r"(?<!\w)(?<![0-9][.,])(?:[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?)"  # not from within one
_METRES = {
    "km": 1000, "m": 1, "mi": 1609.344, "ft": 0.3048, "mile": 1609.344, "kilomet": 1000, "met": 1, "feet": 0.3048,
}  # fmt: skip


class Quantity(NamedTuple):
    """An amount and where it stands in the text."""

    kind: str  # date, time, duration, distance, money, percent, phone or number
    value: float | tuple
    begin: int
    end: int

    def agrees_with(self, other: Quantity) -> bool:
        """The same amount? A bare number may be money or a telephone number elsewhere."""
        kinds = {self.kind, other.kind}
        if kinds == {"phone", "number"}:
            return self._digits() == other._digits()
        if kinds == {"duration", "time"}:  # "1:05" may be an hour and five minutes
            first, second = (each._minutes() for each in (self, other))
            return abs(first - second) <= 1e-6
        if len(kinds) == 2 and kinds != {"money", "number"}:
            return False
        if isinstance(self.value, tuple) or isinstance(other.value, tuple):
            return self.value == other.value
        return abs(self.value - other.value) <= 1e-6 * max(1.0, abs(self.value))

    def _minutes(self) -> float:
        return 60 * self.value[0] + self.value[1] if isinstance(self.value, tuple) else self.value

    def _digits(self) -> str:
        return self.value[0] if isinstance(self.value, tuple) else f"{self.value:.0f}"[-10:]


def read_quantities(text: str) -> list[Quantity]:
    """All amounts of a text in lower case, in order; no two overlap. More special forms come first."""
    found: list[Quantity] = []
    taken = bytearray(len(text))
    for kind, pattern, value in FORMS:
        for match in pattern.finditer(text):
            if any(taken[match.start() : match.end()]):
                continue
            amount = value(match)
            if amount is not None:
                found.append(Quantity(kind, amount, match.start(), match.end()))
                taken[match.start() : match.end()] = b"\1" * (match.end() - match.start())
    return sorted(found, key=lambda quantity: quantity.begin)


# ---------------------------------------------------------------------- values


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _date(match: re.Match[str]) -> tuple | None:
    year, month = match["year"], match["month"]
    full = 0 if year is None else int(year) + (2000 if len(year) == 2 else 0)
    try:
        checked = date(full or 2000, MONTHS.get(month) or int(month), int(match["day"]))
    except ValueError:
        return None
    return (full, checked.month, checked.day)


def _time(match: re.Match[str]) -> tuple | None:
    hour, minute, half = int(match["hour"]), int(match["minute"] or 0), match["half"]
    if half:
        hour = hour % 12 + (12 if half.startswith("p") else 0)
    return (hour, minute)


def _duration(match: re.Match[str]) -> float:
    minutes_each = {"days": 1440, "hours": 60, "minutes": 1, "seconds": 1 / 60}
    parts = match.groupdict()
    return sum(_number(amount) * minutes_each[unit] for unit, amount in parts.items() if amount is not None)


def _distance(match: re.Match[str]) -> float:
    unit = next(name for name in sorted(_METRES, key=len, reverse=True) if match["unit"].startswith(name))
    return _number(match["amount"]) * _METRES[unit]


def _phone(match: re.Match[str]) -> tuple | None:
    digits = re.sub(r"\D", "", match[0])
    return (digits[-10:],) if 7 <= len(digits) <= 15 else None


Form = tuple[str, re.Pattern[str], Callable[[re.Match[str]], "float | tuple | None"]]
FORMS: tuple[Form, ...] = (
    ("date", re.compile(rf"\b{_YEAR}[-/.](?P<month>[01]?[0-9])[-/.](?P<day>[0-3]?[0-9])\b"), _date),
    ("date", re.compile(r"\b(?P<month>[01]?[0-9])/(?P<day>[0-3]?[0-9])/(?P<year>[12][0-9]{3}|[0-9]{2})\b"), _date),
    ("date", re.compile(rf"\b{_MONTH}[ \t]+{_DAY}\b(?![.:][0-9])(?:\s*,?\s+{_YEAR}\b)?"), _date),
    ("date", re.compile(rf"(?<![\w.,]){_DAY}[ \t]+(?:of\s+)?{_MONTH}\b(?:\s*,?\s+{_YEAR}\b)?"), _date),
    ("date", re.compile(rf"\b{_MONTH}\s*,?\s+{_YEAR}\b"), lambda match: (int(match["year"]), MONTHS[match["month"]])),
    ("duration", re.compile(rf"\b(?P<days>{_NUMBER})\s*days?\b"), _duration),
    ("duration", re.compile(r"\b(?P<hours>[0-9]{1,2}):(?P<minutes>[0-5][0-9])\s*(?:hours?|hrs?|h)\b"), _duration),
    ("duration", re.compile(
        rf"\b(?P<hours>{_NUMBER})\s*(?:hours?|hrs?|h)\b\.?"
        rf"(?:[\s,]*(?:and\s+)?(?P<minutes>{_NUMBER})\s*(?:minutes?|mins?|m)\b)?"
    ), _duration),
    ("duration", re.compile(r"\b(?P<hours>[0-9]+)h(?P<minutes>[0-9]+)(?:minutes?|mins?|m)?\b"), _duration),
    ("duration", re.compile(rf"\b(?P<minutes>{_NUMBER})[\s-]*(?:minutes?|mins?)\b"), _duration),
    ("duration", re.compile(rf"\b(?P<seconds>{_NUMBER})\s*(?:seconds?|secs?)\b"), _duration),
    ("distance", re.compile(
        rf"\b(?P<amount>{_NUMBER})[\s-]*(?P<unit>kilomet(?:er|re)s?|met(?:er|re)s?|miles?|feet|km|mi|ft|m)\b(?!\w)"
    ), _distance),
    ("money", re.compile(
        rf"[$£€]\s?(?P<before>{_NUMBER})|\busd\s?(?P<usd>{_NUMBER})|(?P<after>{_NUMBER})\s?(?:dollars?|usd)\b"
    ), lambda match: _number(match["before"] or match["usd"] or match["after"])),
    ("percent", re.compile(rf"(?P<amount>{_NUMBER})\s?(?:%|percent\b)"), lambda match: _number(match["amount"])),
    ("time", re.compile(r"\b(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{1,2})(?::[0-9]{2})?\s?(?P<half>[ap]\.?m\b)?"), _time),
    ("time", re.compile(r"\b(?P<hour>1[0-2]|[1-9])(?P<minute>)\s?(?P<half>[ap]\.?m)\b"), _time),
    ("phone", re.compile(r"(?:\+\s?|\()?\b[0-9]{1,4}\)?(?:[\s.-]\(?[0-9]{2,4}\)?){2,4}\b"), _phone),
    ("number", re.compile(rf"(?<![\w.])-?(?:{_NUMBER})(?![\w])"), lambda match: _number(match[0])),
)  # fmt: skip
