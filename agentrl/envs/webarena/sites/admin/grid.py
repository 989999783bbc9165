"""`Grid`: a table of records with a keyword search, filters, sorting and paging, declared by its columns.

The original keeps all this in scripts and sessions. Here it is in the address, so that a grid can be linked, reloaded
and gone back to:

    ?search=words                 rows that contain every word in one of the searched columns
    &filters[status]=Canceled     a choice, or for texts a part of the value
    &filters[total][from]=10      numbers, sums and dates (6/15/2025) have two ends, each optional
    &filters[total][to]=20
    &sort=total&dir=desc          a column and a direction
    &page=2&limit=50              which rows
    &panel=filters                the filters are shown, to be changed
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from agentrl.envs.webarena.sites.admin.base import record, returns_to, site
from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.formats import day, moment, money, paging, pattern, read_date, short_date
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context

PAGE_SIZES = (20, 30, 50)
MAX_LENGTH = 500  # characters of a parameter: every link of the grid repeats it
RANGES = ("money", "number", "date")  # kinds of columns whose filter has two ends
Choice = tuple[str, str]  # what is stored, what is shown


@dataclass(frozen=True)
class Column:
    """A column: its name in the source, its heading, and what kind of value it holds."""

    name: str
    label: str
    kind: str = "text"  # text, choice, number, money, date
    width: int = 0  # pixels; columns without one share what is left
    choices: tuple[Choice, ...] = ()
    filtered: bool = True
    shown: bool = True
    most: int = 160  # characters of a text that the grid shows

    def text(self, row: sqlite3.Row) -> str:
        """How the value of a row is shown."""
        value = row[self.name]
        if value is None:
            return ""
        if self.kind == "money":
            return money(value)
        if self.kind == "date":
            return moment(value, seconds=True) if len(value) > 10 else day(value)
        if isinstance(value, float):
            return _shown(value)
        text = dict(self.choices).get(str(value), str(value))
        return text if len(text) <= self.most else text[: self.most - 3] + "..."


@dataclass(frozen=True)
class Grid:
    """A kind of table. `source` is a query whose columns the grid's columns name; one of them is `id`."""

    path: str
    title: str
    source: str
    columns: tuple[Column, ...]
    searched: tuple[str, ...] = ()
    sort: str = "id"
    descending: bool = True
    edit: str = ""  # format string over the row: where its last cell leads
    edit_label: str = "Edit"
    add: Choice | None = None  # address and label of the button that makes a new record
    actions: tuple[Choice, ...] = ()  # for marked rows: value, label
    actions_path: str = ""  # where they are posted to
    open_filters: bool = False  # the filters are always shown
    values: tuple[Any, ...] = ()  # of the source's question marks

    def view(self, context: Context) -> GridView:
        """The grid as the address asks for it."""
        asked = {name: value[:MAX_LENGTH] for name, value in context.request.query}
        return GridView(self, asked, context.db)

    def among(self, source: str, *values: Any, **changes: Any) -> Grid:
        """The same grid over other rows, such as the orders of one customer."""
        return replace(self, source=source, values=values, **changes)


def grid_page(grid: Grid, kind: str, *paths: str) -> None:
    """Register the page of a grid, which is also found under these paths; `kind` names it in the page's markup."""

    @site.get(grid.path, *paths)
    def show(context: Context) -> Response:
        _ = context.member
        return context.page("grid.html", kind=kind, title=grid.title, view=grid.view(context))


def form_pages(
    grid: Grid, table: str, label: str, empty: Mapping[str, Any], values: Callable[[Context, int], dict[str, Any]], *,
    title: str, key: str = "id", saved: str = "", **shared: Any,
) -> None:  # fmt: skip
    """Register the form of a grid's records, to look at one, to change one and to add one.

    `values` reads what the form says about the record with an id (0: a new one). `title` is the column that names a
    record, `key` its id in addresses, `saved` where the browser goes afterwards (default: to the form again). The
    template has the name of the table, and knows the record by the last word of that."""
    new_path, save_path, saved = f"{grid.path}new/", f"{grid.path}save/", saved or grid.edit

    def form(context: Context, row: Mapping[str, Any], kind: str, heading: str) -> Response:
        return context.page(f"{table}.html", kind=kind, title=heading, **{table.split("_")[-1]: row}, **shared)

    @site.get(grid.edit)
    def edit(context: Context) -> Response:
        row = dict(record(context, table))
        return form(context, row, table, row[title])

    @site.get(new_path)
    def new(context: Context) -> Response:
        _ = context.member
        return form(context, {"id": 0, **empty}, f"{table}_new", f"New {label.title()}")

    @site.post(f"{save_path}{key}/{{id}}/")
    @returns_to(grid.edit)
    def save(context: Context) -> Response:
        number = record(context, table)["id"]
        context.db.update(table, number, **values(context, number))
        return context.redirect(saved.format(id=number), f"You saved the {label}.")

    @site.post(save_path)
    @returns_to(new_path)
    def create(context: Context) -> Response:
        number = context.db.insert(table, **values(context, 0))
        return context.redirect(saved.format(id=number), f"You saved the {label}.")


def delete_page(grid: Grid, table: str, message: str, key: str = "id") -> None:
    """Register the button that deletes one of a grid's records."""

    @site.post(f"{grid.path}delete/{key}/{{id}}/")
    @returns_to(grid.path)
    def delete(context: Context) -> Response:
        context.db.delete(table, record(context, table)["id"])
        return context.redirect(grid.path, message)


def marked(context: Context, table: str) -> list[int]:
    """The rows that were marked for an action, as far as they exist."""
    numbers = dict.fromkeys(context.number(text) for text in context.forms("selected"))
    return [number for number in numbers if context.db.get(table, number) is not None]


@dataclass
class GridView:
    """One page of a grid, with the links and fields around it."""

    grid: Grid
    query: dict[str, str]
    db: Database
    _clauses: list[str] = field(default_factory=list)
    _values: list[Any] = field(default_factory=list)
    chips: list[tuple[str, str, str]] = field(default_factory=list)  # label, value, address without this filter

    def __post_init__(self) -> None:
        self._values.extend(self.grid.values)
        for word in self.search.split()[:20]:
            self._clauses.append("(" + " OR ".join(f"{name} LIKE ? ESCAPE '\\'" for name in self.grid.searched) + ")")
            self._values.extend([pattern(word)] * len(self.grid.searched))
        for column in self.grid.columns:
            if column.filtered:
                (self._filter_range if column.kind in RANGES else self._filter_value)(column)

    # ------------------------------------------------------------------ which rows

    @property
    def search(self) -> str:
        """The words searched for; none where the grid cannot be searched."""
        return self.query.get("search", "").strip() if self.grid.searched else ""

    def _filter_value(self, column: Column) -> None:
        key = f"filters[{column.name}]"
        value = self.query.get(key, "").strip()
        if not value:
            return
        if column.kind == "choice":
            self._require(f"CAST({column.name} AS TEXT) = ?", value)
        else:
            self._require(f"{column.name} LIKE ? ESCAPE '\\'", pattern(value))
        self.chips.append((column.label, dict(column.choices).get(value, value), self.link(**{key: "", "page": ""})))

    def _filter_range(self, column: Column) -> None:
        keys = [f"filters[{column.name}][{end}]" for end in ("from", "to")]
        low, high = (_bound(self.query.get(key, ""), column.kind) for key in keys)
        if low is not None:
            self._require(f"{column.name} >= ?", low)
        if high is not None:
            self._require(f"{column.name} <= ?", high + " 23:59:59" if column.kind == "date" else high)
        if low is not None or high is not None:
            ends = " - ".join("..." if end is None else _shown(end) for end in (low, high))
            self.chips.append((column.label, ends, self.link(**dict.fromkeys(keys, ""), page="")))

    def _require(self, clause: str, value: Any) -> None:
        self._clauses.append(clause)
        self._values.append(value)

    @property
    def _where(self) -> str:
        return " WHERE " + " AND ".join(self._clauses) if self._clauses else ""

    @cached_property
    def total(self) -> int:
        """How many rows there are on all pages."""
        return self.db.value(f"SELECT count(*) FROM ({self.grid.source}){self._where}", *self._values)

    @cached_property
    def rows(self) -> Sequence[sqlite3.Row]:
        """The rows of this page."""
        direction = "DESC" if self.descending else "ASC"
        order = f"{self.sort} {direction}" + ("" if self.sort == "id" else f", id {direction}")
        sql = f"SELECT * FROM ({self.grid.source}){self._where} ORDER BY {order} LIMIT ? OFFSET ?"
        return self.db.rows(sql, *self._values, self.limit, (self.page - 1) * self.limit)

    # ------------------------------------------------------------------ sorting and paging

    @property
    def sort(self) -> str:
        """The column that the rows are sorted by."""
        wanted = self.query.get("sort", "")
        return wanted if any(column.name == wanted for column in self.shown) else self.grid.sort

    @property
    def descending(self) -> bool:
        """Largest first?"""
        return self.query["dir"] == "desc" if self.query.get("dir") in ("asc", "desc") else self.grid.descending

    @property
    def limit(self) -> int:
        """Rows on a page."""
        wanted = self.query.get("limit", "")
        return int(wanted) if wanted in map(str, PAGE_SIZES) else PAGE_SIZES[0]

    @property
    def pages(self) -> int:
        """How many pages there are; never none."""
        return paging(1, self.total, self.limit)[1]

    @property
    def page(self) -> int:
        """Which page this is, from 1."""
        wanted = self.query.get("page", "")
        is_number = wanted.isascii() and wanted.isdigit() and len(wanted) < 9
        return paging(int(wanted) if is_number else 1, self.total, self.limit)[0]

    # ------------------------------------------------------------------ what the template needs

    @property
    def shown(self) -> list[Column]:
        """The columns of the table."""
        return [column for column in self.grid.columns if column.shown]

    @property
    def fields(self) -> list[Column]:
        """The columns that can be filtered."""
        return [column for column in self.grid.columns if column.filtered]

    @property
    def panel(self) -> bool:
        """Are the filters shown?"""
        return self.grid.open_filters or self.query.get("panel") == "filters"

    def link(self, **changes: Any) -> str:
        """The address of this grid with some parameters changed; empty ones are left out."""
        fields = {**self.query, "panel": "", **{key: str(value) for key, value in changes.items()}}
        query = urlencode({key: value for key, value in fields.items() if value})
        return f"{self.grid.path}?{query}" if query else self.grid.path

    def sort_link(self, column: Column) -> str:
        """Sort by this column; a second time turns the order round."""
        turned = self.sort == column.name and not self.descending
        return self.link(sort=column.name, dir="desc" if turned else "asc", page="")

    def kept(self, *without: str) -> list[tuple[str, str]]:
        """Parameters that a form of the grid must carry along: all but the page and those it asks for itself."""
        dropped = (*without, "page", "panel")
        return [(key, value) for key, value in self.query.items() if value and not key.startswith(dropped)]

    def value(self, column: Column, end: str = "") -> str:
        """What a filter's field holds."""
        return self.query.get(f"filters[{column.name}]" + (f"[{end}]" if end else ""), "")


def _shown(value: float | str) -> str:
    """A number without needless zeros, or a day as date fields show it."""
    return short_date(value) if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")


def _bound(text: str, kind: str) -> Any:
    """One end of a range, or None where nothing usable was entered."""
    if kind == "date":
        found = read_date(text)
        return None if found is None else found.isoformat()
    try:
        value = float(text.strip().removeprefix("$").replace(",", ""))
    except ValueError:
        return None
    return value if abs(value) < 1e12 else None
