"""What the tasks of the forum share: records that can be named, and ways to their pages."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from agentrl.envs.webarena.sites.database import START
from agentrl.envs.webarena.sites.forum.content import contents
from agentrl.envs.webarena.sites.forum.forums import FORUMS_PER_PAGE, MAX_WORDS
from agentrl.envs.webarena.sites.forum.listing import SORT_NAMES, TIME_NAMES, TIMED, TIMES
from agentrl.envs.webarena.sites.forum.people import AGENT
from agentrl.envs.webarena.sites.forum.text import slug
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Act, Click, Fill, On, Parameters
from agentrl.envs.webarena.tasks.vocabulary import Row, some, text_of

SITES = ("reddit",)
SEVERAL = 150  # instances of a template
FOUND = 12  # a search that lists a submission among so many shows it on the first page
ME = f"__REDDIT__/user/{AGENT}"
SCORES = {
    "new": lambda row: row["created_at"],
    "active": lambda row: row["last_active"],
    "top": lambda row: row["upvotes"] - row["downvotes"],
    "most_commented": lambda row: row["comment_count"],
}
# How people say which submission of a forum they mean: order, span of time, words.
PLACES = (
    ("new", "", "newest post"),
    ("top", "all", "post with the highest score of all time"),
    ("most_commented", "all", "post with the most comments of all time"),
    ("top", "year", "post with the highest score of the past year"),
    ("top", "month", "post with the highest score of the past month"),
)
SPANS = {"week": "the past week", "month": "the past month", "year": "the past year", "all": "all time"}
POSTED = "func:reddit_get_post_url('__last_url__')"
INNER = text_of(".submission__inner")
LINKS = (
    "[...document.querySelector('.submission__inner').querySelectorAll('[href],[src]')]"
    ".map(elem => elem.getAttribute('href') || elem.getAttribute('src')).join(' ')"
)


# ---------------------------------------------------------------------- records


def forums(world: World) -> list[sqlite3.Row]:
    """All forums by name."""
    return world.database("forum").rows("SELECT * FROM forum ORDER BY name")


def submissions(world: World, where: str = "1", *values: Any) -> list[sqlite3.Row]:
    """Submissions with the names of forum and author, oldest first."""
    return world.database("forum").rows(
        f"""SELECT s.*, f.name AS forum, u.username AS author FROM submission s JOIN forum f ON f.id = s.forum_id
            JOIN user u ON u.id = s.user_id WHERE {where} ORDER BY s.id""",
        *values,
    )


def ranked(world: World, forum: str, sort: str, time: str) -> list[sqlite3.Row]:
    """The first submissions of a list, as far as their order leaves no doubt."""
    where, values = "f.name = ?", [forum]
    days = TIMES[time] if sort in TIMED else None
    if days is not None:
        where, values = where + " AND s.created_at >= ?", [forum, (START - timedelta(days=days)).isoformat(" ")]
    rows = sorted(submissions(world, where, *values), key=SCORES[sort], reverse=True)[:9]
    scores = [SCORES[sort](row) for row in rows]
    doubtful = next((place for place in range(1, len(rows)) if scores[place] == scores[place - 1]), len(rows))
    return rows[: max(doubtful - 1, 0)] if doubtful < len(rows) else rows


def placed(world: World, key: str) -> list[tuple[str, sqlite3.Row, Row]]:
    """(words, submission, where it is listed) for the first submission of every list of every forum."""
    found = []
    for forum in forums(world):
        for sort, time, words in PLACES:
            rows = ranked(world, forum["name"], sort, time)
            if rows:
                found.append((words, rows[0], {"sort": sort, "time": time}))
    return some(found, f"forum {key}")


def findable(world: World, rows: Iterable[sqlite3.Row], key: str, count: int = SEVERAL) -> list[sqlite3.Row]:
    """Submissions that a search for their title shows on the first page."""
    titles = [row["title"].lower() for row in world.database("forum").rows("SELECT title FROM submission")]
    found: list[sqlite3.Row] = []
    for row in some(rows, f"forum {key}"):
        if len(found) == count:
            break
        hits = titles  # those that contain all words that the search looks for
        for word in row["title"].lower().split()[:MAX_WORDS]:
            hits = [title for title in hits if word in title]
        if '"' not in row["title"] and len(hits) <= FOUND:
            found.append(row)
    return found


def path_of(row: sqlite3.Row) -> str:
    """The address of a submission's page."""
    return f"/f/{row['forum']}/{row['id']}/{slug(row['title'])}"


def about(row: sqlite3.Row, **more: Any) -> Row:
    """What every task about a submission says of it."""
    return {"id": row["id"], "title": row["title"], "forum": row["forum"], "path": path_of(row), **more}


def single_comments(world: World, where: str, *values: Any) -> list[sqlite3.Row]:
    """Comments by somebody who has just one below a submission."""
    return world.database("forum").rows(
        f"""SELECT c.id AS comment, c.submission_id, u.username FROM comment c JOIN user u ON u.id = c.user_id
        JOIN submission s ON s.id = c.submission_id WHERE {where}
        GROUP BY c.submission_id, u.id HAVING count(*) = 1 ORDER BY c.id""",
        *values,
    )


# ---------------------------------------------------------------------- ways


def to_forum(forum: str, *acts: Act) -> list[On]:
    """Open a forum from the list of all forums, and do this on its page."""
    link = Click(f'.forums a[href="/f/{forum}"]')
    pages = [On(r"__REDDIT__/forums", [link])]
    if not is_on_first_page(forum):
        pages = [On(r"__REDDIT__/forums", [Click("a.next")]), On(r"__REDDIT__/forums\?page=2", [link])]
    return [On("__REDDIT__", [Click("a.site-nav__link", "Forums")]), *pages, On(rf"__REDDIT__/f/{forum}$", acts)]


def is_on_first_page(forum: str) -> bool:
    """Is the forum among the first in the list of all forums?"""
    return forum.lower() in sorted(content.name.lower() for content in contents())[:FORUMS_PER_PAGE]


def to_list(row: Parameters, *acts: Act) -> list[On]:
    """Open a forum, choose an order and a span of time, and do this with the list."""
    sort, time, path = row["sort"], row["time"], f"__REDDIT__/f/{row['forum']}/{row['sort']}"
    steps = to_forum(row["forum"], Click("a.sorts__link", SORT_NAMES[sort]))
    if sort not in TIMED or time == "day":
        return [*steps, On(f"{path}$", acts)]
    return [*steps, On(path, [Click("a.sorts__link", TIME_NAMES[time])]), On(rf"{path}\?t={time}$", acts)]


def to_post(row: Parameters, *acts: Act) -> list[On]:
    """Search for a submission by its title, open it, and do this there."""
    return [
        On("__REDDIT__", [search(row["title"])]),
        On("__REDDIT__/search", [post_link(row)]),
        On(rf"__REDDIT__/f/{row['forum']}/{row['id']}(/|$)", acts),
    ]


def to_guide(forum: str, *acts: Act) -> list[On]:
    """Open the wiki's guide to a forum, and do this there."""
    path = f"/wiki/guides/{forum}"
    return [
        On("__REDDIT__", [Click("a.site-nav__link", "Wiki")]),
        On("__REDDIT__/wiki", [Click("a", "All pages")]),
        On("__REDDIT__/wiki/_all", [Click(f'a[href="{path}"]')]),
        On(f"__REDDIT__{re.escape(path)}$", acts),
    ]


def to_author(row: Parameters, tab: str, *acts: Act) -> list[On]:
    """From a page with a submission to its author, open a tab, and do this there."""
    user = f"__REDDIT__/user/{row['author']}"
    return [On(f"{user}$", [Click("a.tabs__link", tab.title())]), On(f"{user}/{tab}$", acts)]


def submitting(forum: str, *fields: Act) -> list[On]:
    """Open the forum, then the form from there, so that the forum is chosen already, and send it."""
    return [
        *to_forum(forum, Click("a.site-nav__link", "Submit")),
        On(rf"__REDDIT__/submit/{forum}$", [*fields, Click("button", "Create submission")]),
    ]


def replying(text: str) -> list[Act]:
    """Write into the form below a submission or comment, and send it."""
    return [Fill(".reply textarea", text), Click(".reply button", "Post")]


def search(title: str) -> Fill:
    """Search for submissions."""
    return Fill(".site-nav__search input", title, enter=True)


def post_link(row: Parameters) -> Click:
    """The link from a list to a submission's comments."""
    return Click(f'a.submission__comments[href^="/f/{row["forum"]}/{row["id"]}/"]')


def author_link(row: Parameters) -> Click:
    """The link from a submission to who wrote it."""
    return Click(f'.submission__info a.author[href="/user/{row["author"]}"]')
