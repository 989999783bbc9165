"""Search in submissions and comments."""

from __future__ import annotations

import re

from agentrl.envs.webarena.sites.forum import text
from agentrl.envs.webarena.sites.forum.app import site
from agentrl.envs.webarena.sites.forum.listing import COLUMNS, TABLES, Page, page_number, paged
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context

MAX_WORDS = 8
MAX_WORD = 80
LIKE = r"LIKE ? ESCAPE '\'"


@site.get("/search")
def search_page(context: Context) -> Response:
    """Everything that contains all words of the query: submissions first, on the second tab comments."""
    query = text.clean(context.query("q"))
    words = [_pattern(word) for word in query.split()[:MAX_WORDS]]
    kind = "comments" if context.query("type") == "comments" else "submissions"
    page = (_comments if kind == "comments" else _submissions)(context, words) if words else Page([], 1, False)
    return context.page("search.html", query=query, kind=kind, page=page)


def _pattern(word: str) -> str:
    """The word anywhere in a text, for LIKE, which ignores case."""
    return "%" + re.sub(r"([\\%_])", r"\\\1", word[:MAX_WORD]) + "%"


def _submissions(context: Context, words: list[str]) -> Page:
    user_id = context.user["id"] if context.user is not None else -1
    where = " AND ".join([f"s.title || ' ' || s.body {LIKE}"] * len(words))
    in_title = " + ".join([f"(s.title {LIKE})"] * len(words))
    sql = (
        f"SELECT {COLUMNS} FROM {TABLES} WHERE NOT s.is_trashed AND {where} "
        f"ORDER BY {in_title} DESC, s.upvotes - s.downvotes DESC, s.id DESC"
    )
    return paged(context.db, sql, [user_id, *words, *words], page_number(context))


def _comments(context: Context, words: list[str]) -> Page:
    where = " AND ".join([f"c.body {LIKE}"] * len(words))
    sql = f"""SELECT c.*, u.username AS author, s.title FROM comment c JOIN user u ON u.id = c.user_id
        JOIN submission s ON s.id = c.submission_id WHERE NOT c.is_trashed AND NOT s.is_trashed AND {where}
        ORDER BY c.upvotes - c.downvotes DESC, c.id DESC"""
    return paged(context.db, sql, words, page_number(context))
