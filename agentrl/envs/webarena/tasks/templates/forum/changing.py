"""Tasks of the forum that change something: votes, subscriptions, own texts, profiles, forums, wiki pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import cycle, product

from agentrl.envs.webarena.sites.forum.content import contents
from agentrl.envs.webarena.sites.forum.data import AGENT_MODERATES
from agentrl.envs.webarena.sites.forum.people import AGENT
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Answer, Click, Fill, Goto, On, Parameters, Template, literal
from agentrl.envs.webarena.tasks.templates.forum.kit import (
    ME,
    SITES,
    VOTE,
    Row,
    about,
    agent_id,
    both,
    ends_at,
    findable,
    has_text,
    path_of,
    placed,
    post_link,
    shows,
    some,
    submissions,
    text_of,
    to_forum,
    to_list,
    value_of,
)  # fmt: skip
from agentrl.envs.webarena.tasks.templates.forum.phrases import ADDED_LINES, BIOGRAPHIES, DESCRIPTIONS

VOTES = {"up": ("Upvote", 1), "down": ("Downvote", -1)}


def _voted(world: World, submission_id: int) -> int:
    db = world.database("forum")
    sql = "SELECT choice FROM submission_vote WHERE submission_id = ? AND user_id = ?"
    return db.value(sql, submission_id, agent_id(db)) or 0


def _button(submission_id: int, kind: str) -> Click:
    return Click(f'form[action="/sv/{submission_id}"] .vote__{kind}')


def _vote_check(path: str, kind: str) -> tuple[str, str, dict]:
    return f"__REDDIT__{path}", VOTE, {"must_include": [f"vote vote--user-{kind}voted"]}


# ---------------------------------------------------------------------- votes


def _listed(world: World) -> Iterator[Row]:
    kinds = cycle(("up", "down"))
    for words, row, place in placed(world, "votes"):
        if not _voted(world, row["id"]):
            kind = next(kinds)
            yield about(row, words=words, **place, kind=kind, verb=VOTES[kind][0])


def _vote(row: Parameters) -> Sequence[On]:
    choice, number = VOTES[row["kind"]][1], row["id"]
    steps = to_list(row["forum"], row["sort"], row["time"], _button(number, row["kind"]))
    return [*steps, On("__REDDIT__", [Answer()], when=lambda world: _voted(world, number) == choice)]


def _prolific(world: World) -> Iterator[Row]:
    """Members with two to four submissions in a forum, on none of which the agent has voted."""
    kinds = cycle(("up", "down"))
    groups: dict[tuple[str, str], list] = {}
    for row in submissions(world, "u.username <> ?", AGENT):
        groups.setdefault((row["author"], row["forum"]), []).append(row)
    db = world.database("forum")
    for (author, forum), rows in some(groups.items(), "prolific", 10**6):
        total = db.value("SELECT count(*) FROM submission WHERE user_id = ?", rows[0]["user_id"])
        if 2 <= len(rows) <= 4 and total <= 20 and not any(_voted(world, row["id"]) for row in rows):
            kind = next(kinds)
            yield {
                "author": author, "forum": forum, "kind": kind, "verb": {"up": "Upvote", "down": "Downvote"}[kind],
                "ids": [row["id"] for row in rows], "paths": [path_of(row) for row in rows],
            }  # fmt: skip


def _vote_all(row: Parameters) -> Sequence[On]:
    page, choice = f"__REDDIT__/user/{row['author']}/submissions", VOTES[row["kind"]][1]

    def lacks(number: int) -> Callable[[World], bool]:
        return lambda world: _voted(world, number) != choice

    votes = [On(page, [_button(number, row["kind"])], when=lacks(number)) for number in row["ids"]]
    return [On("__REDDIT__", [Goto(page)]), On(page, [Answer()]), *votes]


# ---------------------------------------------------------------------- subscriptions


def _unread(world: World) -> Iterator[Row]:
    db = world.database("forum")
    mine = {row["forum_id"] for row in db.rows("SELECT forum_id FROM subscription WHERE user_id = ?", agent_id(db))}
    for words, row, place in placed(world, "unread"):
        if row["forum_id"] not in mine:
            yield {"forum": row["forum"], "words": words, "id": row["id"], "path": path_of(row), **place}


def _is_subscribed(world: World, forum: str) -> bool:
    db = world.database("forum")
    sql = "SELECT 1 FROM subscription s JOIN forum f ON f.id = s.forum_id WHERE f.name = ? AND s.user_id = ?"
    return bool(db.value(sql, forum, agent_id(db)))


def _subscribe(row: Parameters) -> Sequence[On]:
    thread = rf"__REDDIT__/f/{row['forum']}/{row['id']}/"
    return [
        *to_list(row["forum"], row["sort"], row["time"], post_link(dict(row))),
        On(thread, [Click(".subscribe-button", "Subscribe")]),
        On(thread, [Answer()], when=lambda world: _is_subscribed(world, row["forum"])),
    ]


# ---------------------------------------------------------------------- profile and own texts


def _biographies(world: World) -> Iterator[Row]:
    for text in some(BIOGRAPHIES, "biographies"):
        yield {"text": text}


def _change_biography(row: Parameters) -> Sequence[On]:
    def is_done(world: World) -> bool:
        return world.database("forum").value("SELECT biography FROM user WHERE username = ?", AGENT) == row["text"]

    return [
        On("__REDDIT__", [Click("a.site-nav__link", AGENT)]),
        On(f"{ME}$", [Click("#sidebar a", "Edit biography")]),
        On(f"{ME}/edit_biography$", [Fill("#user_biography_biography", row["text"]), Click("main button", "Save")]),
        On(f"{ME}$", [Answer()], when=is_done),
    ]


def _own_posts(world: World) -> Iterator[Row]:
    rows = submissions(world, "u.username = ? AND s.body <> ''", AGENT)
    known = [row for row in findable(world, rows, "own") if has_text(row["body"].split("\n")[0])]
    for row, line in product(known, ADDED_LINES):
        first = row["body"].split("\n")[0]
        yield about(row, line=line, first=first, body=f"{row['body']}\n\n{line}")


def _edit_post(row: Parameters) -> Sequence[On]:
    def is_done(world: World) -> bool:
        return world.database("forum").value("SELECT body FROM submission WHERE id = ?", row["id"]) == row["body"]

    page = f"__REDDIT__/f/{row['forum']}/{row['id']}/"
    return [
        On("__REDDIT__", [Fill(".site-nav__search input", row["title"], enter=True)]),
        On("__REDDIT__/search", [post_link(dict(row))]),
        On(page, [Click(".submission__nav a", "Edit")]),
        On(f"{page}.*/edit$", [Fill("#submission_body", row["body"]), Click("main button", "Edit submission")]),
        On(page, [Answer()], when=is_done),
    ]


# ---------------------------------------------------------------------- forums and wiki


def _descriptions(world: World) -> Iterator[Row]:
    for description, forum in product(DESCRIPTIONS, AGENT_MODERATES):
        yield {"description": description, "forum": forum}


def _describe(row: Parameters) -> Sequence[On]:
    def is_done(world: World) -> bool:
        sql = "SELECT description FROM forum WHERE name = ?"
        return world.database("forum").value(sql, row["forum"]) == row["description"]

    edit = rf"__REDDIT__/f/{row['forum']}/edit"
    return [
        *to_forum(row["forum"], Click("#sidebar a", "Edit forum")),
        On(edit, [Fill("#forum_description", row["description"]), Click("main button", "Save changes")]),
        On(edit, [Answer()], when=is_done),
    ]


def _guides(world: World) -> Iterator[Row]:
    lines = ("Pictures must show the whole object", "New members should introduce themselves first")
    for content in contents():
        for line in lines:
            yield {"forum": content.name, "line": line}


def _edit_guide(row: Parameters) -> Sequence[On]:
    path = f"/wiki/guides/{row['forum']}"

    def is_done(world: World) -> bool:
        return bool(world.database("forum").value("SELECT 1 FROM wiki_revision WHERE body = ?", row["line"]))

    return [
        On("__REDDIT__", [Click("a.site-nav__link", "Wiki")]),
        On("__REDDIT__/wiki", [Click("a", "All pages")]),
        On("__REDDIT__/wiki/_all", [Click(f'a[href="{path}"]')]),
        On(f"__REDDIT__{literal(path)}$", [Click("#sidebar a", "Edit this page")]),
        On(
            f"__REDDIT__/wiki/_edit/guides/{row['forum']}$",
            [Fill("#wiki_body", row["line"]), Click("main button", "Save")],
        ),
        On(f"__REDDIT__{literal(path)}$", [Answer()], when=is_done),
    ]


TEMPLATES: tuple[Template, ...] = (
    Template(
        "forum-vote-on-listed-post", SITES, "vote",
        ("{verb} the {words} in the {forum} forum.",
         "Find the {words} in /f/{forum}. {verb} it.",
         "There is a post in {forum} that I care about: the {words}. {verb} it for me."),
        _listed, lambda row: shows(_vote_check(row["path"], row["kind"])), _vote,
    ),
    Template(
        "forum-vote-on-all-of-member", SITES, "vote",
        ("{verb} every post that {author} has made in the {forum} forum.",
         "{author} has posted in /f/{forum} more than once. {verb} all of these posts."),
        _prolific, lambda row: shows(*(_vote_check(path, row["kind"]) for path in row["paths"])), _vote_all,
        held_out=True,
    ),
    Template(
        "forum-open-thread-and-subscribe", SITES, "subscribe",
        ("Have a look at the {words} in {forum}, stay on its page, and subscribe to the forum.",
         "Go to the discussion of the {words} in /f/{forum}, and subscribe to /f/{forum}.",
         "Subscribe to {forum}, and leave the {words} there open."),
        _unread,
        lambda row: both(
            ends_at(f"/f/{row['forum']}/{row['id']}"),
            shows(("__REDDIT__/", text_of("#sidebar > section"), {"must_include": [row["forum"]]})),
        ),
        _subscribe,
    ),
    Template(
        "forum-change-biography", SITES, "edit-record",
        ("I want \"{text}\" as the biography of my forum account.", "Set the bio of my profile to \"{text}\".",
         "My profile should say \"{text}\" as biography."),
        _biographies, lambda row: shows((ME, text_of(".user-bio__biography"), {"exact_match": row["text"]})),
        _change_biography,
    ),
    Template(
        "forum-edit-own-post", SITES, "edit-record",
        ("My post \"{title}\" needs one more line at the end of its text: \"{line}\".",
         "Add \"{line}\" at the end of my submission \"{title}\" in /f/{forum}."),
        _own_posts,
        lambda row: shows(
            (f"__REDDIT__{row['path']}", text_of(".submission__body"), {"must_include": [row["first"], row["line"]]})
        ),
        _edit_post,
    ),
    Template(
        "forum-change-description", SITES, "edit-record",
        ("Change the description of the {forum} forum to \"{description}\".",
         "I moderate /f/{forum}: set its description to \"{description}\"."),
        _descriptions,
        lambda row: shows(
            (f"__REDDIT__/f/{row['forum']}/edit", value_of("#forum_description"), {"exact_match": row["description"]})
        ),
        _describe, held_out=True,
    ),
    Template(
        "forum-rewrite-guide", SITES, "edit-record",
        ("Replace the text of the wiki's guide to {forum} by \"{line}\".",
         "In the wiki, the page guides/{forum} should only say \"{line}\". Change it."),
        _guides,
        lambda row: shows(
            (f"__REDDIT__/wiki/guides/{row['forum']}", text_of(".wiki-body"), {"exact_match": row["line"]})
        ),
        _edit_guide,
    ),
)  # fmt: skip
