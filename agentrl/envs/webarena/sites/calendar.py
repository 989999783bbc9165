"""The calendar that date fields open: a page of one month, of which other pages take the part with the days."""

from __future__ import annotations

import calendar
import re
from datetime import date
from typing import TYPE_CHECKING

from agentrl.envs.webarena.sites.messages import Response

if TYPE_CHECKING:
    from agentrl.envs.webarena.sites.site import Context

CALENDAR = "/.calendar"  # on every site
FORMATS = {"iso": "{0:%Y-%m-%d}", "us": "{0.month}/{0.day}/{0.year}"}  # how the field wants its date


def month_page(context: Context) -> Response:
    """The month that the address asks for, else the present one."""
    found = re.fullmatch(r"(\d{4})-(\d\d)", context.query("month"), re.ASCII)
    year, month = (int(found[1]), int(found[2])) if found else map(int, context.db.now()[:7].split("-"))
    year, month = min(max(year, 1900), 2100), min(max(month, 1), 12)
    field = re.sub(r"[^\w-]", "", context.query("field"), flags=re.ASCII)[:60]
    form = context.query("form") if context.query("form") in FORMATS else "iso"
    weeks = [
        [(number, FORMATS[form].format(date(year, month, number)) if number else "") for number in week]
        for week in calendar.monthcalendar(year, month)
    ]

    def address(months: int) -> str:
        years, rest = divmod(12 * year + month - 1 + months, 12)
        return f"{CALENDAR}?field={field}&form={form}&month={years}-{rest + 1:02}"

    title = f"{calendar.month_name[month]} {year}"
    return context.page("calendar.html", field=field, month=title, weeks=weeks, earlier=address(-1), later=address(1))
