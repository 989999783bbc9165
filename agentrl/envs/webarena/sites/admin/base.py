"""The site object that all pages of the administration register with, its menu, and how pages read and write values."""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

from agentrl.envs.common.data_files import data_file
from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.formats import day, moment, money, short_date
from agentrl.envs.webarena.sites.messages import Request, Response
from agentrl.envs.webarena.sites.site import PACKAGE, Context, Handler, Site
from agentrl.envs.webarena.sites.store.pricing import STORE_NAME

# ---------------------------------------------------------------------- the menu at the left


SECTIONS = data_file("agentrl.envs.webarena.sites.admin", "menu.toml")["sections"]
_STARTS = {start: section["label"] for section in SECTIONS for start in section["pages"]}


def open_section(path: str) -> str:
    """The label of the section that a page belongs to: that of the longest path it starts with."""
    found = max((start for start in _STARTS if path.startswith(start)), key=len, default=None)
    return "Dashboard" if found is None else _STARTS[found]


# ---------------------------------------------------------------------- the site

MAX_MONEY = 1e9
ORDER_STATUSES = ("Pending", "Processing", "Complete", "Canceled", "Closed", "On Hold", "Fraud")


class AdminSite(Site):
    """The administration. What lies outside /admin on its host is the storefront, as with the original."""

    def handle(self, request: Request, db: Database) -> Response:
        """Answer a request, or let the storefront do it."""
        path = request.path
        if path == "/admin" or path.startswith("/admin/") or path in ("/static/base.css", "/static/admin.css"):
            return super().handle(request, db)
        storefront: Site = import_module(f"{PACKAGE}.shop.site").site
        return storefront.handle(request, db)

    def shared(self, context: Context) -> Mapping[str, Any]:
        """The menu with the section of this page open, and how values are written."""
        path = context.request.path
        return {
            "menu": SECTIONS, "section": open_section(path), "path": path, "store_name": STORE_NAME,
            "money": money, "moment": partial(moment, seconds=True), "day": day, "short_date": short_date,
        }  # fmt: skip


site = AdminSite("shopping_admin", "admin", "admin_session", user_table="admin_user", login_path="/admin/")


# ---------------------------------------------------------------------- what is asked for


def record(context: Context, table: str) -> sqlite3.Row:
    """The row whose id is in the path; `NotFound` without one. Only members come this far."""
    _ = context.member
    return context.record(table)


def short(text: str, most: int, label: str) -> str:
    """A text of one line for a column that the original limits; `Refused` if it is longer."""
    text = text.strip()
    if len(text) > most:
        raise Refused(f'"{label}" must have at most {most} characters.')
    return text


def required(text: str, label: str, most: int = 255) -> str:
    """A text that must not be empty."""
    text = short(text, most, label)
    if not text:
        raise Refused(f'"{label}" is a required field.')
    return text


def paragraphs(text: str) -> str:
    """A text of several lines, as it was before a browser sent it."""
    return text.replace("\r\n", "\n").strip()


def amount(text: str, label: str, *, most: float = MAX_MONEY) -> float:
    """A sum of money or other number that is not negative, rounded to cents."""
    text = text.strip().removeprefix("$").replace(",", "")
    if not re.fullmatch(r"[0-9]{1,12}(\.[0-9]{0,6})?|\.[0-9]{1,6}", text):
        raise Refused(f'"{label}" must be a number that is not negative.')
    value = float(text)
    if not math.isfinite(value) or value > most:
        raise Refused(f'"{label}" must be at most {most:,.0f}.')
    return round(value, 2)


def whole(text: str, label: str, *, most: int = 10**8) -> int:
    """A whole number that is not negative ("5" or "5.00")."""
    value = amount(text, label, most=most)
    if value != int(value):
        raise Refused(f'"{label}" must be a whole number.')
    return int(value)


class Refused(Exception):
    """What was entered cannot be saved; the message says why."""


def returns_to(address: str) -> Callable[[Handler], Handler]:
    """Decorate a function that saves a form: a refusal leads back to this address (a format string over the parts of
    the path) with the reason in red, and nothing is changed."""

    def decorate(handler: Handler) -> Handler:
        def guarded(context: Context) -> Response:
            _ = context.member
            try:
                with context.db.atomic():
                    return handler(context)
            except Refused as refusal:
                return context.redirect(address.format(**context.params), f"error: {refusal}")

        return guarded

    return decorate
