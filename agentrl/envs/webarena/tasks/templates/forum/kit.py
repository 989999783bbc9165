"""What the tasks of the forum share: records that can be named, ways to their pages, evaluations."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from datetime import timedelta
from random import Random
from typing import Any, TypeVar

from agentrl.envs.webarena.sites.database import START, Database
from agentrl.envs.webarena.sites.forum.content import contents
from agentrl.envs.webarena.sites.forum.forums import FORUMS_PER_PAGE, MAX_WORDS
from agentrl.envs.webarena.sites.forum.listing import SORT_NAMES, TIME_NAMES, TIMED, TIMES
from agentrl.envs.webarena.sites.forum.people import AGENT
from agentrl.envs.webarena.sites.forum.text import slug
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Act, Click, Fill, On

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
Row = dict[str, Any]
T = TypeVar("T")


def some(items: Iterable[T], key: str, count: int = SEVERAL) -> list[T]:
    """So many of the items, in an order that depends on nothing but the key."""
    found = list(items)
    return Random(f"forum {key}").sample(found, min(count, len(found)))


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
    return some(found, key, len(found))


def findable(world: World, rows: Iterable[sqlite3.Row], key: str, count: int = SEVERAL) -> list[sqlite3.Row]:
    """Submissions that a search for their title shows on the first page."""
    titles = [row["title"].lower() for row in world.database("forum").rows("SELECT title FROM submission")]
    found: list[sqlite3.Row] = []
    for row in some(rows, key, 10**6):
        if len(found) == count:
            break
        if '"' not in row["title"] and _hits(titles, row["title"]) <= FOUND:
            found.append(row)
    return found


def _hits(titles: list[str], title: str) -> int:
    """How many titles contain all words that a search for this one looks for."""
    for word in title.lower().split()[:MAX_WORDS]:
        titles = [other for other in titles if word in other]
    return len(titles)


def path_of(row: sqlite3.Row) -> str:
    """The address of a submission's page."""
    return f"/f/{row['forum']}/{row['id']}/{slug(row['title'])}"


def about(row: sqlite3.Row, **more: Any) -> Row:
    """What every task about a submission says of it."""
    return {"id": row["id"], "title": row["title"], "forum": row["forum"], "path": path_of(row), **more}


def agent_id(db: Database) -> int:
    """The number of the agent's account."""
    return db.value("SELECT id FROM user WHERE username = ?", AGENT)


# ---------------------------------------------------------------------- solutions


def to_forum(forum: str, *acts: Act) -> list[On]:
    """Open a forum from the list of all forums, and do this on its page."""
    link = Click(f'.forums a[href="/f/{forum}"]')
    pages = [On(r"__REDDIT__/forums", [link])]
    if not is_on_first_page(forum):
        pages = [On(r"__REDDIT__/forums", [Click("a.next")]), On(r"__REDDIT__/forums\?page=2", [link])]
    return [On("__REDDIT__", [Click("a.site-nav__link", "Forums")]), *pages, On(rf"__REDDIT__/f/{forum}$", list(acts))]


def is_on_first_page(forum: str) -> bool:
    """Is the forum among the first in the list of all forums?"""
    return forum.lower() in sorted(content.name.lower() for content in contents())[:FORUMS_PER_PAGE]


def to_list(forum: str, sort: str, time: str, *acts: Act) -> list[On]:
    """Open a forum, choose an order and a span of time, and do this with the list."""
    steps = to_forum(forum, Click("a.sorts__link", SORT_NAMES[sort]))
    if sort not in TIMED or time == "day":
        return [*steps, On(rf"__REDDIT__/f/{forum}/{sort}$", list(acts))]
    choose = On(rf"__REDDIT__/f/{forum}/{sort}", [Click("a.sorts__link", TIME_NAMES[time])])
    return [*steps, choose, On(rf"__REDDIT__/f/{forum}/{sort}\?t={time}$", list(acts))]


def to_post(row: Row, *acts: Act) -> list[On]:
    """Search for a submission by its title, open it, and do this there."""
    link = Click(f'a.submission__comments[href^="/f/{row["forum"]}/{row["id"]}/"]')
    return [
        On("__REDDIT__", [Fill(".site-nav__search input", row["title"], enter=True)]),
        On("__REDDIT__/search", [link]),
        On(rf"__REDDIT__/f/{row['forum']}/{row['id']}(/|$)", list(acts)),
    ]


def post_link(row: Row) -> Click:
    """The link from a list to a submission's comments."""
    return Click(f'a.submission__comments[href^="/f/{row["forum"]}/{row["id"]}/"]')


def author_link(row: Row) -> Click:
    """The link from a submission to who wrote it."""
    return Click(f'.submission__info a.author[href="/user/{row["author"]}"]')


# ---------------------------------------------------------------------- evaluations


def says(*texts: Any) -> dict[str, Any]:
    """The answer contains all of these."""
    return {"eval_types": ["string_match"], "reference_answers": {"must_include": [str(text) for text in texts]}}


def ends_at(*paths: str) -> dict[str, Any]:
    """The agent ends on one of these pages."""
    url = " |OR| ".join(f"__REDDIT__{path}" for path in paths)
    return {"eval_types": ["url_match"], "reference_answers": None, "reference_url": url, "url_note": "GOLD in PRED"}


def shows(*targets: tuple[str, str, dict[str, Any]]) -> dict[str, Any]:
    """Pages hold what they should: (address, locator, required contents)."""
    checks = [{"url": url, "locator": locator, "required_contents": required} for url, locator, required in targets]
    return {"eval_types": ["program_html"], "reference_answers": None, "reference_url": "", "program_html": checks}


def both(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Both evaluations must pass."""
    kept = {key: value for key, value in second.items() if value}
    return {**first, **kept, "eval_types": [*first["eval_types"], *second["eval_types"]]}


def text_of(selector: str) -> str:
    """The locator of an element's visible text."""
    return f"document.querySelector('{selector}').outerText"


def value_of(selector: str) -> str:
    """The locator of a field's contents."""
    return f"document.querySelector('{selector}').value"


VOTE = "document.querySelector('div.submission__vote').querySelector('form').getAttribute('class')"
POSTED = "func:reddit_get_post_url('__last_url__')"


def has_text(text: str) -> bool:
    """Can the text be compared as it stands on the page? Marks of Markdown disappear there."""
    return not re.search(r"[*\[\]<>#]|\n", text)
