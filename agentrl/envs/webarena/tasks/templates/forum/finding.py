"""Tasks of the forum that lead to a page: lists in a certain order, submissions, profiles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentrl.envs.webarena.sites.forum.listing import SORT_NAMES, TIME_NAMES, TIMED
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Answer, Click, On, Parameters, Template
from agentrl.envs.webarena.tasks.templates.forum.kit import (
    SITES,
    SPANS,
    Row,
    about,
    author_link,
    ends_at,
    findable,
    forums,
    placed,
    post_link,
    ranked,
    some,
    submissions,
    to_list,
    to_post,
)  # fmt: skip

ORDINALS = ("first", "second", "third", "fourth", "fifth")
FRONT_PAGES = {"featured": "featured forums", "all": "all forums", "subscribed": "the forums I am subscribed to"}
PEOPLE_PAGES = {"submissions": "Submissions", "comments": "Comments"}


def _lists(world: World) -> Iterator[Row]:
    for forum in forums(world):
        for sort in TIMED:
            for time in TIME_NAMES:
                if time != "day":
                    order, span = SORT_NAMES[sort], SPANS[time]
                    yield {"forum": forum["name"], "sort": sort, "time": time, "order": order, "span": span}


def _front_lists(world: World) -> Iterator[Row]:
    for page, words in FRONT_PAGES.items():
        for sort in SORT_NAMES:
            for time in TIME_NAMES if sort in TIMED else ("",):
                if time != "day":
                    span = f" for {SPANS[time]}" if time else ""
                    yield {
                        "list": f"{page} {sort} {time}", "page": page, "words": words, "sort": sort, "time": time,
                        "order": SORT_NAMES[sort], "span": span,
                    }  # fmt: skip


def _open_front_list(row: Parameters) -> Sequence[On]:
    path = f"__REDDIT__/{row['page']}"
    steps = [
        On("__REDDIT__", [Click("a.tabs__link", row["page"].title())]),
        On(path, [Click("a.sorts__link", SORT_NAMES[row["sort"]])]),
    ]
    if row["time"]:
        steps.append(On(f"{path}/{row['sort']}", [Click("a.sorts__link", TIME_NAMES[row["time"]])]))
        return [*steps, On(rf"{path}/{row['sort']}\?t={row['time']}$", [Answer()])]
    return [*steps, On(f"{path}/{row['sort']}$", [Answer()])]


def _front_address(row: Parameters) -> str:
    return f"/{row['page']}/{row['sort']}" + (f"?t={row['time']}" if row["time"] else "")


def _numbered(world: World) -> Iterator[Row]:
    for forum in forums(world):
        for sort, time, words in (
            ("new", "", "when sorted by new"),
            ("top", "all", "when sorted by top of all time"),
            ("most_commented", "all", "when sorted by most commented of all time"),
        ):
            rows = ranked(world, forum["name"], sort, time)[: len(ORDINALS)]
            for number, row in enumerate(rows):
                yield about(row, number=ORDINALS[number], words=words, sort=sort, time=time)


def _authors(world: World) -> Iterator[Row]:
    for words, row, place in placed(world, "authors"):
        for page in PEOPLE_PAGES:
            yield {"author": row["author"], "words": words, "page": page, "forum": row["forum"], **place}


def _open_author(row: Parameters) -> Sequence[On]:
    user = f"__REDDIT__/user/{row['author']}"
    return [
        *to_list(row["forum"], row["sort"], row["time"], author_link(dict(row))),
        On(f"{user}$", [Click("a.tabs__link", PEOPLE_PAGES[row["page"]])]),
        On(f"{user}/{row['page']}$", [Answer()]),
    ]


def _titled(world: World) -> Iterator[Row]:
    for row in findable(world, submissions(world), "titled"):
        yield about(row, author=row["author"])


def _conversations(world: World) -> Iterator[Row]:
    """Comments by somebody who has just one below a submission."""
    rows = world.database("forum").rows(
        """SELECT c.id AS comment, c.submission_id, u.username FROM comment c JOIN user u ON u.id = c.user_id
        JOIN submission s ON s.id = c.submission_id WHERE s.comment_count BETWEEN 3 AND 14 AND u.id <> s.user_id
        GROUP BY c.submission_id, u.id HAVING count(*) = 1 ORDER BY c.id"""
    )
    by_post = {row["submission_id"]: row for row in some(rows, "conversations", 10**6)}
    chosen = [row for row in submissions(world) if row["id"] in by_post]
    for row in findable(world, chosen, "conversations"):
        found = by_post[row["id"]]
        yield about(row, member=found["username"], comment=found["comment"])


TEMPLATES: tuple[Template, ...] = (
    Template(
        "forum-open-sorted-forum", SITES, "sort-list",
        ("Show me the posts of the {forum} forum, sorted by \"{order}\" for {span}.",
         "Open /f/{forum}, choose the order \"{order}\" and let it cover {span}.",
         "I want to see what {forum} lists under \"{order}\" for {span}."),
        _lists, lambda row: ends_at(f"/f/{row['forum']}/{row['sort']}?t={row['time']}"),
        lambda row: to_list(row["forum"], row["sort"], row["time"], Answer()),
    ),
    Template(
        "forum-open-front-list", SITES, "filter-list",
        ("Show me posts from {words}, sorted by \"{order}\"{span}.",
         "On the front page, list the submissions of {words} by \"{order}\"{span}."),
        _front_lists, lambda row: ends_at(_front_address(row)), _open_front_list,
    ),
    Template(
        "forum-open-numbered-post", SITES, "open-item",
        ("Open the comments of the {number} post in the {forum} forum {words}.",
         "Go to the {number} submission of /f/{forum} {words}.",
         "Show me the discussion of the {number} entry in {forum} {words}."),
        _numbered, lambda row: ends_at(f"/f/{row['forum']}/{row['id']}"),
        lambda row: [
            *to_list(row["forum"], row["sort"], row["time"], post_link(dict(row))),
            On(rf"__REDDIT__/f/{row['forum']}/{row['id']}/", [Answer()]),
        ],
    ),
    Template(
        "forum-open-titled-post", SITES, "search-item",
        ("Open the discussion of \"{title}\" in the {forum} forum.",
         "Find the post \"{title}\" by {author} and show me its comments.",
         "Take me to the thread \"{title}\" in /f/{forum}."),
        _titled, lambda row: ends_at(f"/f/{row['forum']}/{row['id']}"), lambda row: to_post(dict(row), Answer()),
    ),
    Template(
        "forum-open-author", SITES, "open-item",
        ("Show me all {page} of the member who wrote the {words} in {forum}.",
         "Find the {words} in /f/{forum} and open the list of {page} by its author."),
        _authors, lambda row: ends_at(f"/user/{row['author']}/{row['page']}"), _open_author, held_out=True,
    ),
    Template(
        "forum-open-comment", SITES, "permalink",
        ("Open the permalink of {member}'s comment on \"{title}\" in {forum}.",
         "Show me only the comment by {member}, with its replies, below the post \"{title}\" in /f/{forum}."),
        _conversations, lambda row: ends_at(f"{row['path']}/comment/{row['comment']}"),
        lambda row: [
            *to_post(dict(row), Click(f'a.comment__permalink[href$="/comment/{row["comment"]}"]')),
            On(f"/comment/{row['comment']}$", [Answer()]),
        ],
        held_out=True,
    ),
)  # fmt: skip
