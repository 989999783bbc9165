"""The page that lists the sites for a person: links, accounts, and a button that undoes everything."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any
from urllib.parse import urlsplit

from agentrl.envs.webarena.sites.places import Place

ABOUT = {
    "shopping": ("The shop", "Products, search, cart, checkout, orders, reviews, wish list"),
    "shopping_admin": ("The shop's administration", "Orders, customers, products, reviews, pages, reports"),
    "reddit": ("The forum", "Forums, submissions, comments, votes, profiles"),
    "gitlab": ("The code host", "Projects, files, commits, issues, merge requests, members"),
    "map": ("The map", "Places, search, details, directions by car, bicycle and on foot"),
}
STYLE = """main { padding: 32px 40px; width: 1000px; } h1 { padding: 0 0 8px 0; } p { padding: 0 0 16px 0; }
.card { border: 1px solid #c9ced6; padding: 14px 18px; margin: 0 0 12px 0; display: flex; gap: 24px; }
.card h2 { width: 260px; } .about { flex: 1; } .account { width: 300px; color: #66707c; font-size: 13px; }"""


def start_page(places: Mapping[str, Place], port: int | None, changes: Mapping[str, Any]) -> str:
    """The HTML. `changes` is what the visitor has changed: data -> table -> rows."""
    cards = "".join(_card(name, place, port) for name, place in places.items())
    return (
        '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>Web sites</title>'
        f'<link rel="stylesheet" href="/static/base.css"><style>{STYLE}</style></head>\n<body data-page="start">\n'
        "<main>\n<h1>Web sites</h1>\n<p>These are the sites that agents work on. What you change, only you see; you "
        f"are logged in everywhere.</p>\n{cards}"
        f'<form method="post" action="/reset"><p>{_changed(changes)}</p>'
        '<button type="submit">Reset everything</button></form>\n</main>\n</body>\n</html>\n'
    )


def _card(name: str, place: Place, port: int | None) -> str:
    title, about = ABOUT.get(name, (name, ""))
    parts = urlsplit(place.url)
    address = f"http://{parts.hostname}{f':{port}' if port else ''}{parts.path or '/'}"
    account = place.account
    who = f"{escape(account.name)}<br>password {escape(account.password)}" if account else "no account is needed"
    return (
        f'<div class="card"><h2><a href="{escape(address)}">{escape(title)}</a></h2>'
        f'<div class="about">{escape(about)}<br>{escape(address)}</div><div class="account">{who}</div></div>\n'
    )


def _changed(changes: Mapping[str, Any]) -> str:
    rows = sum(len(table) for tables in changes.values() for table in tables.values())
    if not rows:
        return "You have changed nothing so far."
    return f"You have changed {rows} {'record' if rows == 1 else 'records'} so far."
