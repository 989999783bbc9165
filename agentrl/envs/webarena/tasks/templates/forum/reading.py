"""Tasks of the forum that ask for something: values, counts, comparisons."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agentrl.envs.webarena.sites.forum.forums import FORUMS_PER_PAGE, SUBMISSIONS, SUBSCRIBERS
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Answer, Click, Fill, On, Parameters, Template, literal
from agentrl.envs.webarena.tasks.templates.forum.kit import (
    SITES,
    Row,
    about,
    author_link,
    findable,
    forums,
    is_on_first_page,
    placed,
    says,
    submissions,
    to_forum,
    to_list,
    to_post,
)  # fmt: skip
from agentrl.envs.webarena.tasks.templates.forum.phrases import MISSING_FORUMS

PER_PAGE = 20
RATING = re.compile(r"\b(\d{1,2})/10\b")
GUIDE_FACTS = {
    "on which weekday the weekly thread opens": r"weekly thread opens on (\w+)",
    "how many submissions a day are allowed at most": r"At most (\d+) submission",
    "how many days old an account must be to post": r"Accounts must be (\d+) days",
    "how many words a review needs at least": r"Reviews need at least (\d+) words",
}


# ---------------------------------------------------------------------- scores, ratings, guides


def _listed_scores(world: World) -> Iterator[Row]:
    for words, row, place in placed(world, "scores"):
        if place["sort"] == "top":
            yield about(row, words=words, **place, answer=row["upvotes"] - row["downvotes"])


def _ratings(world: World) -> Iterator[Row]:
    rated = [
        row
        for row in submissions(world, "s.body LIKE '%/10%' AND s.title NOT LIKE '%/10%'")
        if len(set(RATING.findall(row["body"]))) == 1
    ]
    for row in findable(world, rated, "ratings"):
        yield about(row, answer=RATING.findall(row["body"])[0])


def _guides(world: World) -> Iterator[Row]:
    for forum in forums(world):
        body = world.database("forum").value(
            """SELECT body FROM wiki_revision r JOIN wiki_page p ON p.id = r.page_id WHERE p.path = ?
            ORDER BY r.id DESC""",
            f"guides/{forum['name']}",
        )
        for question, pattern in GUIDE_FACTS.items():
            found = re.search(pattern, body)
            assert found is not None
            yield {"forum": forum["name"], "question": question, "answer": found[1]}


def _read_guide(row: Parameters) -> Sequence[On]:
    path = f"/wiki/guides/{row['forum']}"
    return [
        On("__REDDIT__", [Click("a.site-nav__link", "Wiki")]),
        On("__REDDIT__/wiki", [Click("a", "All pages")]),
        On("__REDDIT__/wiki/_all", [Click(f'a[href="{path}"]')]),
        On(f"__REDDIT__{literal(path)}$", [Answer(row["answer"])]),
    ]


def _bans(world: World) -> Iterator[Row]:
    rows = world.database("forum").rows(
        """SELECT f.name AS forum, u.username, b.reason, m.username AS banner FROM ban b
        JOIN forum f ON f.id = b.forum_id JOIN user u ON u.id = b.user_id JOIN user m ON m.id = b.banned_by
        ORDER BY b.id"""
    )
    for row in rows:
        for question, answer in (("why", row["reason"]), ("by whom", row["banner"])):
            yield {"member": row["username"], "forum": row["forum"], "question": question, "answer": answer}


# ---------------------------------------------------------------------- comments


def _best_comments(world: World) -> Iterator[Row]:
    return _extreme_comments(world, "best", 1)


def _worst_comments(world: World) -> Iterator[Row]:
    return _extreme_comments(world, "worst", -1)


def _extreme_comments(world: World, key: str, sign: int) -> Iterator[Row]:
    """Submissions with a comment whose score nobody else's equals."""
    rows = submissions(world, "s.comment_count BETWEEN 4 AND 14 AND NOT s.is_locked")
    for row in findable(world, rows, key):
        scores = world.database("forum").rows(
            """SELECT c.upvotes - c.downvotes AS score, u.username FROM comment c JOIN user u ON u.id = c.user_id
            WHERE c.submission_id = ? ORDER BY score * ? DESC""",
            row["id"], sign,
        )  # fmt: skip
        if scores[0]["score"] != scores[1]["score"]:
            yield about(row, answer=scores[0]["username"])


# ---------------------------------------------------------------------- counts


def _unpopular(world: World) -> Iterator[Row]:
    """How many comments of an author got more downvotes than upvotes."""
    db = world.database("forum")
    for words, row, place in placed(world, "unpopular"):
        scores = db.rows(
            "SELECT downvotes > upvotes AS bad FROM comment WHERE user_id = ? ORDER BY created_at DESC", row["user_id"]
        )
        if 0 < len(scores) <= 3 * PER_PAGE:
            pages = (len(scores) - 1) // PER_PAGE + 1
            answer = sum(score["bad"] for score in scores)
            yield about(row, words=words, **place, author=row["author"], pages=pages, answer=answer)


def _count_unpopular(row: Parameters) -> Sequence[On]:
    user = f"__REDDIT__/user/{row['author']}"
    steps = [
        *to_list(row["forum"], row["sort"], row["time"], author_link(dict(row))),
        On(f"{user}$", [Click("a.tabs__link", "Comments")]),
    ]
    for page in range(1, row["pages"] + 1):
        act = Answer(str(row["answer"])) if page == row["pages"] else Click("a.next")
        steps.append(On(f"{user}/comments{'$' if page == 1 else rf'.page={page}$'}", [act]))
    return steps


def _authors(world: World) -> Iterator[Row]:
    """How often the author of a submission has written in its forum; all of it fits on one page."""
    db = world.database("forum")
    for row in findable(world, submissions(world), "authors", 400):
        total = db.value("SELECT count(*) FROM submission WHERE user_id = ?", row["user_id"])
        here = db.value(
            "SELECT count(*) FROM submission WHERE user_id = ? AND forum_id = ?", row["user_id"], row["forum_id"]
        )
        if here >= 2 and total <= PER_PAGE:
            yield about(row, author=row["author"], answer=here)


def _count_submissions(row: Parameters) -> Sequence[On]:
    user = f"__REDDIT__/user/{row['author']}"
    return [
        *to_post(dict(row), author_link(dict(row))),
        On(f"{user}$", [Click("a.tabs__link", "Submissions")]),
        On(f"{user}/submissions$", [Answer(str(row["answer"]))]),
    ]


# ---------------------------------------------------------------------- comparisons


def _places_of_forums(world: World) -> Iterator[Row]:
    for what, number in (("submissions", SUBMISSIONS), ("subscribers", SUBSCRIBERS)):
        rows = world.database("forum").rows(f"SELECT f.name, {number} AS size FROM forum f ORDER BY size DESC, f.name")
        sizes = [row["size"] for row in rows]
        for place, row in enumerate(rows):
            if sizes.count(row["size"]) == 1:
                page = place // FORUMS_PER_PAGE + 1
                yield {"answer": row["name"], "what": what, "place": _ordinal(place + 1), "page": page}


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in (11, 12, 13) else "th"
    return f"{number}{ending}"


def _place_of_forum(row: Parameters) -> Sequence[On]:
    path = f"__REDDIT__/forums/by_{row['what']}"
    steps = [
        On("__REDDIT__", [Click("a.site-nav__link", "Forums")]),
        On("__REDDIT__/forums", [Click("a.sorts__link", row["what"].title())]),
        On(f"{path}$", [Answer(row["answer"]) if row["page"] == 1 else Click("a.next")]),
    ]
    return [*steps, On(rf"{path}\?page=2$", [Answer(row["answer"])])]


def _perhaps_missing(world: World) -> Iterator[Row]:
    """Forums that exist, and as many that do not."""
    rows = world.database("forum").rows(f"SELECT f.name, {SUBSCRIBERS} AS size FROM forum f ORDER BY f.name")
    for row, missing in zip(rows, MISSING_FORUMS, strict=True):
        yield {"forum": row["name"], "answer": str(row["size"])}
        yield {"forum": missing, "answer": "N/A"}


def _look_through(row: Parameters) -> Sequence[On]:
    """Read the list of forums up to its end, or up to the page that has the forum."""
    answer = Answer(row["answer"])
    return [
        On("__REDDIT__", [Click("a.site-nav__link", "Forums")]),
        On(
            "__REDDIT__/forums$",
            [answer if row["answer"] != "N/A" and is_on_first_page(row["forum"]) else Click("a.next")],
        ),
        On(r"__REDDIT__/forums\?page=2$", [answer]),
    ]


def _pairs_of_posts(world: World) -> Iterator[Row]:
    for forum in forums(world):
        rows = submissions(world, "s.forum_id = ? AND s.comment_count > 0", forum["id"])
        known = findable(world, rows, f"pairs {forum['name']}", 12)
        for first, second in zip(known[::2], known[1::2], strict=False):
            if first["comment_count"] != second["comment_count"]:
                more = max(first, second, key=lambda row: row["comment_count"])
                less = second if more is first else first
                if less["title"].lower() in more["title"].lower():
                    continue
                yield {
                    "first": first["title"], "second": second["title"], "forum": forum["name"], "answer": more["title"],
                    "other": less["title"],
                }  # fmt: skip


def _compare_posts(row: Parameters) -> Sequence[On]:
    def search(title: str) -> Fill:
        return Fill(".site-nav__search input", title, enter=True)

    return [
        On("__REDDIT__", [search(row["first"])]),
        On("__REDDIT__/search", [search(row["second"])], contains=row["first"]),
        On("__REDDIT__/search", [Answer(row["answer"])], contains=row["second"]),
    ]


def _moderators(world: World) -> Iterator[Row]:
    db = world.database("forum")
    for forum in forums(world):
        rows = db.rows(
            """SELECT u.username FROM moderator m JOIN user u ON u.id = m.user_id WHERE forum_id = ?
            ORDER BY m.created_at""",
            forum["id"],
        )
        names = [row["username"] for row in rows]
        yield {"forum": forum["name"], "question": "the longest", "answer": names[0]}
        yield {"forum": forum["name"], "question": "the shortest time", "answer": names[-1]}


TEMPLATES: tuple[Template, ...] = (
    Template(
        "forum-score-of-listed-post", SITES, "sort-list",
        ("What is the score of the {words} in the {forum} forum?",
         "Look for the {words} in /f/{forum}. How many points does it have?",
         "Look up the {words} in the forum {forum} and give me its score."),
        _listed_scores, lambda row: says(row["answer"]),
        lambda row: to_list(row["forum"], row["sort"], row["time"], Answer(str(row["answer"]))),
    ),
    Template(
        "forum-rating-in-review", SITES, "read-value",
        ("What rating out of 10 does the author give in the post \"{title}\" in the {forum} forum?",
         "Find the submission \"{title}\" in /f/{forum}. Which score out of 10 does its text give?",
         "How many points out of 10 does the post \"{title}\" ({forum}) award?"),
        _ratings, lambda row: says(f"{row['answer']}/10 |OR| {row['answer']}"),
        lambda row: to_post(dict(row), Answer(row["answer"])),
    ),
    Template(
        "forum-fact-in-guide", SITES, "read-value",
        ("According to the wiki's guide to the {forum} forum, tell me {question}.",
         "Look into the wiki guide of {forum}: I want to know {question}.",
         "What does the wiki say about /f/{forum}: {question}?"),
        _guides, lambda row: says(row["answer"]), _read_guide,
    ),
    Template(
        "forum-reason-of-ban", SITES, "read-value",
        ("{member} was banned from the {forum} forum: {question}?",
         "Find out {question} {member} was banned from /f/{forum}.",
         "Tell me {question} the member {member} has been banned in {forum}."),
        _bans, lambda row: says(row["answer"]),
        lambda row: [
            *to_forum(row["forum"], Click("#sidebar a", "Bans")),
            On(rf"__REDDIT__/f/{row['forum']}/bans", [Answer(row["answer"])]),
        ],
        held_out=True,
    ),
    Template(
        "forum-author-of-best-comment", SITES, "compare-values",
        ("Who wrote the comment with the highest score on the post \"{title}\" in {forum}?",
         "On the submission \"{title}\" of the {forum} forum, whose comment has the most points?",
         "Name the author of the best rated comment below \"{title}\" in /f/{forum}."),
        _best_comments, lambda row: says(row["answer"]), lambda row: to_post(dict(row), Answer(row["answer"])),
    ),
    Template(
        "forum-author-of-worst-comment", SITES, "compare-values",
        ("Who wrote the comment with the lowest score on the post \"{title}\" in {forum}?",
         "Whose comment below \"{title}\" in /f/{forum} has the fewest points?"),
        _worst_comments, lambda row: says(row["answer"]), lambda row: to_post(dict(row), Answer(row["answer"])),
        held_out=True,
    ),
    Template(
        "forum-count-unpopular-comments", SITES, "count-items",
        ("Look up who wrote the {words} in {forum}. How many of this member's comments are below zero points?",
         "Somebody wrote the {words} in /f/{forum}. How many comments by this member have a score below zero?",
         "Find the {words} in {forum}, and count its author's comments with more downvotes than upvotes."),
        _unpopular, lambda row: says(row["answer"]), _count_unpopular,
    ),
    Template(
        "forum-count-submissions-of-author", SITES, "count-items",
        ("How many submissions has the author of \"{title}\" made to the {forum} forum in total?",
         "Look at who posted \"{title}\" in {forum}. How many posts in {forum} does this member have altogether?",
         "Count the submissions in /f/{forum} by the member who wrote \"{title}\"."),
        _authors, lambda row: says(row["answer"]), _count_submissions,
    ),
    Template(
        "forum-rank-of-forums", SITES, "sort-list",
        ("Which forum is {place} by number of {what}?",
         "Name the forum that has the {place} most {what}.",
         "If all forums are sorted by {what}, which one comes {place}?"),
        _places_of_forums, lambda row: says(row["answer"]), _place_of_forum,
    ),
    Template(
        "forum-subscribers-or-none", SITES, "recognise-impossible",
        ("How many subscribers does the forum {forum} have? Answer N/A if there is no such forum.",
         "Tell me the number of subscribers of /f/{forum}, or N/A if this forum does not exist."),
        _perhaps_missing,
        lambda row: {"eval_types": ["string_match"], "reference_answers": {"exact_match": row["answer"]}},
        _look_through,
    ),
    Template(
        "forum-compare-posts", SITES, "compare-values",
        ("Which post in {forum} has more comments: \"{first}\" or \"{second}\"?",
         "Compare \"{first}\" and \"{second}\" (both in /f/{forum}). Tell me the title of the one with more comments."),
        _pairs_of_posts,
        lambda row: {
            "eval_types": ["string_match"],
            "reference_answers": {"must_include": [row["answer"]], "must_exclude": [row["other"]]},
        },
        _compare_posts, held_out=True,
    ),
    Template(
        "forum-oldest-moderator", SITES, "read-value",
        ("Who has been a moderator of the {forum} forum for {question}?",
         "Of all moderators of /f/{forum}, who has had that role for {question}?"),
        _moderators, lambda row: says(row["answer"]),
        lambda row: [
            *to_forum(row["forum"], Click("#sidebar li a", "Moderators")),
            On(rf"__REDDIT__/f/{row['forum']}/moderators", [Answer(row["answer"])]),
        ],
    ),
)  # fmt: skip
