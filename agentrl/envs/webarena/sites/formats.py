"""How all sites write and read dates, sums of money, parts of addresses and pages of lists."""

from __future__ import annotations

import re
from datetime import date, datetime

UNITS = (("year", 31536000), ("month", 2592000), ("week", 604800), ("day", 86400), ("hour", 3600), ("minute", 60))


# ---------------------------------------------------------------------- dates


def stamp(when: datetime) -> str:
    """A moment as the tables have it: "2025-06-03 14:05:00"."""
    return when.isoformat(" ", "seconds")


def day(text: str, month: str = "%b") -> str:
    """ "2025-06-03 14:05:00" as "Jun 3, 2025"; "" and what is no date stay as they are."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return text
    return f"{when:{month}} {when.day}, {when.year}"


def moment(text: str, *, seconds: bool = False) -> str:
    """ "Jun 3, 2025 2:05pm", or with seconds "Jun 3, 2025 2:05:00 PM"; what is no date stays as it is."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return text
    clock = f"{when:%M:%S %p}" if seconds else f"{when:%M}{'am' if when.hour < 12 else 'pm'}"
    return f"{day(text)} {when.hour % 12 or 12}:{clock}"


def short_date(text: str) -> str:
    """ "6/3/25"; what is no date stays as it is."""
    when = read_date(text[:10])
    return text if when is None else f"{when.month}/{when.day}/{when:%y}"


def ago(then: str, now: str, least: int = 60) -> str:
    """How long ago, in the largest unit: "3 weeks ago"; "just now" below `least` seconds."""
    seconds = int((datetime.fromisoformat(now) - datetime.fromisoformat(then)).total_seconds())
    for unit, length in UNITS:
        if seconds >= max(length, least):
            count = seconds // length
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"


def read_date(text: str) -> date | None:
    """A day entered as 6/15/2025, 06/15/25 or 2025-06-15; None if it is none of them."""
    for pattern, order in (
        (r"(\d{1,2})/(\d{1,2})/(\d{4}|\d{2})", (2, 0, 1)),
        (r"(\d{4})-(\d{1,2})-(\d{1,2})", (0, 1, 2)),
    ):
        if found := re.fullmatch(pattern, text.strip(), re.ASCII):
            year, month, number = (int(found.groups()[index]) for index in order)
            try:
                return date(year + 2000 if year < 100 else year, month, number)
            except ValueError:
                return None
    return None


def date_or_none(text: str) -> str | None:
    """A date that was typed, as "2030-01-03"; also "1/3/2030" and "Jan 3, 2030". "" stays; None where it is no date."""
    text = text.strip()
    if not text:
        return ""
    for form in ("%Y-%m-%d", "%m/%d/%Y", "%b %d, %Y", "%B %d, %Y"):
        try:
            return str(datetime.strptime(text[:40], form).date())
        except ValueError:
            continue
    return None


# ---------------------------------------------------------------------- money, addresses, pages


def money(amount: float | None) -> str:
    """An amount as pages print it: "$1,234.50", "-$5.00"."""
    amount = amount or 0.0
    return f"-${-amount:,.2f}" if amount < -0.004 else f"${abs(amount):,.2f}"


def slug(text: str) -> str:
    """A part of an address: letters and digits in lower case, joined by hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def pattern(text: str) -> str:
    """A pattern for LIKE ... ESCAPE '\\' that finds texts containing this one."""
    return "%" + re.sub(r"([\\%_])", r"\\\1", text) + "%"


def paging(asked: int, total: int, size: int) -> tuple[int, int]:
    """Which page of a list to show for the one that is asked for (from 1), and the last one there is."""
    last = max(1, -(-total // size))
    return min(max(asked, 1), last), last
