"""Tasks of the forum that ask for something (values, counts, comparisons) or for a page."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentrl.envs.webarena.sites.forum.forums import FORUMS_PER_PAGE, SUBMISSIONS, SUBSCRIBERS
from agentrl.envs.webarena.sites.forum.listing import SORT_NAMES, TIMED
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Answer, Click, On, Parameters, Template, template
from agentrl.envs.webarena.tasks.templates.forum.kit import (
    SITES,
    SPANS,
    about,
    author_link,
    findable,
    forums,
    is_on_first_page,
    placed,
    post_link,
    ranked,
    search,
    single_comments,
    submissions,
    to_author,
    to_forum,
    to_guide,
    to_list,
    to_post,
)
from agentrl.envs.webarena.tasks.templates.forum.phrases import MISSING_FORUMS
from agentrl.envs.webarena.tasks.vocabulary import Row, answer, done, ends_at, query, some

PER_PAGE = 20
RATING = re.compile(r"\b(\d{1,2})/10\b")
GUIDE_FACTS = {
    "on which weekday the weekly thread opens": r"weekly thread opens on (\w+)",
    "how many submissions a day are allowed at most": r"At most (\d+) submission",
    "how many days old an account must be to post": r"Accounts must be (\d+) days",
    "how many words a review needs at least": r"Reviews need at least (\d+) words",
}
ORDINALS = ("first", "second", "third", "fourth", "fifth")


# ---------------------------------------------------------------------- scores, ratings, guides, comments


@template(
    "forum-rating-in-review", SITES, "read-value",
    ("What rating out of 10 does the author give in the post \"{title}\" in the {forum} forum?",
     "Find the submission \"{title}\" in /f/{forum}. Which score out of 10 does its text give?",
     "How many points out of 10 does the post \"{title}\" ({forum}) award?"),
    lambda row: answer(f"{row['answer']}/10 |OR| {row['answer']}"),
    lambda row: to_post(row, Answer(row["answer"])),
)  # fmt: skip
def rating_in_review(world: World) -> Iterator[Row]:
    """Submissions whose text, but not the title, gives one rating."""
    rows = submissions(world, "s.body LIKE '%/10%' AND s.title NOT LIKE '%/10%'")
    rated = [row for row in rows if len(set(RATING.findall(row["body"]))) == 1]
    for row in findable(world, rated, "ratings"):
        yield about(row, answer=RATING.findall(row["body"])[0])


@template(
    "forum-fact-in-guide", SITES, "read-value",
    ("According to the wiki's guide to the {forum} forum, tell me {question}.",
     "Look into the wiki guide of {forum}: I want to know {question}.",
     "What does the wiki say about /f/{forum}: {question}?"),
    lambda row: answer(row["answer"]), lambda row: to_guide(row["forum"], Answer(row["answer"])),
)  # fmt: skip
def fact_in_guide(world: World) -> Iterator[Row]:
    sql = """SELECT body FROM wiki_revision r JOIN wiki_page p ON p.id = r.page_id WHERE p.path = ?
        ORDER BY r.id DESC"""
    for forum in forums(world):
        body = world.database("forum").value(sql, f"guides/{forum['name']}")
        for question, pattern in GUIDE_FACTS.items():
            found = re.search(pattern, body)
            assert found is not None
            yield {"forum": forum["name"], "question": question, "answer": found[1]}


@template(
    "forum-reason-of-ban", SITES, "read-value",
    ("{member} was banned from the {forum} forum: {question}?",
     "Find out {question} {member} was banned from /f/{forum}.",
     "Tell me {question} the member {member} has been banned in {forum}."),
    lambda row: answer(row["answer"]),
    lambda row: [
        *to_forum(row["forum"], Click("#sidebar a", "Bans")),
        On(rf"__REDDIT__/f/{row['forum']}/bans", [Answer(row["answer"])]),
    ],
    held_out=True,
)  # fmt: skip
def reason_of_ban(world: World) -> Iterator[Row]:
    sql = """SELECT f.name AS forum, u.username, b.reason, m.username AS banner FROM ban b
        JOIN forum f ON f.id = b.forum_id JOIN user u ON u.id = b.user_id JOIN user m ON m.id = b.banned_by
        ORDER BY b.id"""
    for row in query(world, "forum", sql):
        for question, told in (("why", row["reason"]), ("by whom", row["banner"])):
            yield {"member": row["username"], "forum": row["forum"], "question": question, "answer": told}


def _extreme_comments(world: World, key: str, sign: int) -> Iterator[Row]:
    """Submissions with a comment whose score nobody else's equals."""
    sql = """SELECT c.upvotes - c.downvotes AS score, u.username FROM comment c JOIN user u ON u.id = c.user_id
        WHERE c.submission_id = ? ORDER BY score * ? DESC"""
    rows = submissions(world, "s.comment_count BETWEEN 4 AND 14 AND NOT s.is_locked")
    for row in findable(world, rows, key):
        scores = query(world, "forum", sql, row["id"], sign)
        if scores[0]["score"] != scores[1]["score"]:
            yield about(row, answer=scores[0]["username"])


VALUES = (
    Template(
        "forum-score-of-listed-post", SITES, "sort-list",
        ("What is the score of the {words} in the {forum} forum?",
         "Look for the {words} in /f/{forum}. How many points does it have?",
         "Look up the {words} in the forum {forum} and give me its score."),
        lambda world: (
            about(row, words=words, **place, answer=row["upvotes"] - row["downvotes"])
            for words, row, place in placed(world, "scores") if place["sort"] == "top"
        ),
        lambda row: answer(row["answer"]), lambda row: to_list(row, Answer(str(row["answer"]))),
    ),
    rating_in_review, fact_in_guide, reason_of_ban,
    Template(
        "forum-author-of-best-comment", SITES, "compare-values",
        ("Who wrote the comment with the highest score on the post \"{title}\" in {forum}?",
         "On the submission \"{title}\" of the {forum} forum, whose comment has the most points?",
         "Name the author of the best rated comment below \"{title}\" in /f/{forum}."),
        lambda world: _extreme_comments(world, "best", 1), lambda row: answer(row["answer"]),
        lambda row: to_post(row, Answer(row["answer"])),
    ),
    Template(
        "forum-author-of-worst-comment", SITES, "compare-values",
        ("Who wrote the comment with the lowest score on the post \"{title}\" in {forum}?",
         "Whose comment below \"{title}\" in /f/{forum} has the fewest points?"),
        lambda world: _extreme_comments(world, "worst", -1), lambda row: answer(row["answer"]),
        lambda row: to_post(row, Answer(row["answer"])), held_out=True,
    ),
)  # fmt: skip


# ---------------------------------------------------------------------- counts and comparisons


def _count_unpopular(row: Parameters) -> list[On]:
    acts = [Click("a.next")] * (row["pages"] - 1) + [Answer(str(row["answer"]))]
    later = [
        On(rf"__REDDIT__/user/{row['author']}/comments.page={page}$", [act]) for page, act in enumerate(acts[1:], 2)
    ]
    return [*to_list(row, author_link(row)), *to_author(row, "comments", acts[0]), *later]


@template(
    "forum-count-unpopular-comments", SITES, "count-items",
    ("Look up who wrote the {words} in {forum}. How many of this member's comments are below zero points?",
     "Somebody wrote the {words} in /f/{forum}. How many comments by this member have a score below zero?",
     "Find the {words} in {forum}, and count its author's comments with more downvotes than upvotes."),
    lambda row: answer(row["answer"]), _count_unpopular,
)  # fmt: skip
def count_unpopular_comments(world: World) -> Iterator[Row]:
    """How many comments of an author got more downvotes than upvotes."""
    sql = "SELECT count(*) AS number, sum(downvotes > upvotes) AS bad FROM comment WHERE user_id = ?"
    for words, row, place in placed(world, "unpopular"):
        (found,) = query(world, "forum", sql, row["user_id"])
        if 0 < found["number"] <= 3 * PER_PAGE:
            pages = (found["number"] - 1) // PER_PAGE + 1
            yield about(row, words=words, **place, author=row["author"], pages=pages, answer=found["bad"])


@template(
    "forum-count-submissions-of-author", SITES, "count-items",
    ("How many submissions has the author of \"{title}\" in the {forum} forum made to all forums together?",
     "Look at who posted \"{title}\" in {forum}. How many posts does this member have altogether, in all forums?",
     "Count all submissions by the member who wrote \"{title}\" in /f/{forum}."),
    lambda row: answer(row["answer"]),
    lambda row: [
        *to_post(row, author_link(row)), *to_author(row, "submissions", Answer(str(row["answer"]))),
    ],
)  # fmt: skip
def count_submissions_of_author(world: World) -> Iterator[Row]:
    """How much the author of a submission has written; all of it fits on one page."""
    sql = "SELECT count(*) AS total FROM submission WHERE user_id = ?"
    for row in findable(world, submissions(world), "authors", 400):
        (found,) = query(world, "forum", sql, row["user_id"])
        if 2 <= found["total"] <= PER_PAGE:
            yield about(row, author=row["author"], answer=found["total"])


@template(
    "forum-rank-of-forums", SITES, "sort-list",
    ("Which forum is {place} by number of {what}?",
     "Name the forum that has the {place} most {what}.",
     "If all forums are sorted by {what}, which one comes {place}?"),
    lambda row: answer(row["answer"]),
    lambda row: [
        On("__REDDIT__", [Click("a.site-nav__link", "Forums")]),
        On("__REDDIT__/forums", [Click("a.sorts__link", row["what"].title())]),
        *_look_through(row, f"__REDDIT__/forums/by_{row['what']}", row["page"] == 1),
    ],
)  # fmt: skip
def rank_of_forums(world: World) -> Iterator[Row]:
    for what, number in (("submissions", SUBMISSIONS), ("subscribers", SUBSCRIBERS)):
        rows = query(world, "forum", f"SELECT f.name, {number} AS size FROM forum f ORDER BY size DESC, f.name")
        sizes = [row["size"] for row in rows]
        for place, row in enumerate(rows, 1):
            if sizes.count(row["size"]) == 1:
                ending = {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th") if place % 100 not in (11, 12, 13) else "th"
                page = (place - 1) // FORUMS_PER_PAGE + 1
                yield {"answer": row["name"], "what": what, "place": f"{place}{ending}", "page": page}


@template(
    "forum-subscribers-or-none", SITES, "recognise-impossible",
    ("How many subscribers does the forum {forum} have? Answer N/A if there is no such forum.",
     "Tell me the number of subscribers of /f/{forum}, or N/A if this forum does not exist."),
    lambda row: answer(row["answer"]),
    lambda row: [
        On("__REDDIT__", [Click("a.site-nav__link", "Forums")]),
        *_look_through(row, "__REDDIT__/forums", row["answer"] != "N/A" and is_on_first_page(row["forum"])),
    ],
)  # fmt: skip
def subscribers_or_none(world: World) -> Iterator[Row]:
    """Forums that exist, and as many that do not."""
    rows = query(world, "forum", f"SELECT f.name, {SUBSCRIBERS} AS size FROM forum f ORDER BY f.name")
    for row, missing in zip(rows, MISSING_FORUMS, strict=True):
        yield {"forum": row["name"], "answer": str(row["size"])}
        yield {"forum": missing, "answer": "N/A"}


def _look_through(row: Parameters, path: str, is_first: bool) -> list[On]:
    """The end of a way: read the answer off the first or the second page of a list of forums."""
    told = Answer(row["answer"])
    return [On(f"{path}$", [told if is_first else Click("a.next")]), On(rf"{path}\?page=2$", [told])]


@template(
    "forum-compare-posts", SITES, "compare-values",
    ("Which post in {forum} has more comments: \"{first}\" or \"{second}\"?",
     "Compare \"{first}\" and \"{second}\" (both in /f/{forum}). Tell me the title of the one with more comments."),
    lambda row: answer(row["answer"], without=[row["other"]]),
    lambda row: [
        On("__REDDIT__", [search(row["first"])]),
        On("__REDDIT__/search", [search(row["second"])], contains=row["first"]),
        On("__REDDIT__/search", [Answer(row["answer"])], contains=row["second"]),
    ],
    held_out=True,
)  # fmt: skip
def compare_posts(world: World) -> Iterator[Row]:
    for forum in forums(world):
        rows = submissions(world, "s.forum_id = ? AND s.comment_count > 0", forum["id"])
        known = findable(world, rows, f"pairs {forum['name']}", 12)
        for first, second in zip(known[::2], known[1::2], strict=False):
            less, more = sorted((first, second), key=lambda row: row["comment_count"])
            is_clear = less["comment_count"] != more["comment_count"]
            if is_clear and less["title"].lower() not in more["title"].lower():
                titles = {"first": first["title"], "second": second["title"]}
                yield {**titles, "forum": forum["name"], "answer": more["title"], "other": less["title"]}


# ---------------------------------------------------------------------- pages


@template(
    "forum-open-numbered-post", SITES, "open-item",
    ("Open the comments of the {number} post in the {forum} forum {words}.",
     "Go to the {number} submission of /f/{forum} {words}.",
     "Show me the discussion of the {number} entry in {forum} {words}."),
    lambda row: ends_at(f"__REDDIT__/f/{row['forum']}/{row['id']}"),
    lambda row: [*to_list(row, post_link(row)), done(rf"__REDDIT__/f/{row['forum']}/{row['id']}/")],
)  # fmt: skip
def open_numbered_post(world: World) -> Iterator[Row]:
    for forum in forums(world):
        for sort, time, words in (
            ("new", "", "when sorted by new"),
            ("top", "all", "when sorted by top of all time"),
            ("most_commented", "all", "when sorted by most commented of all time"),
        ):
            for number, row in zip(ORDINALS, ranked(world, forum["name"], sort, time), strict=False):
                yield about(row, number=number, words=words, sort=sort, time=time)


@template(
    "forum-open-comment", SITES, "permalink",
    ("Open the permalink of {member}'s comment on \"{title}\" in {forum}.",
     "Show me only the comment by {member}, with its replies, below the post \"{title}\" in /f/{forum}."),
    lambda row: ends_at(f"__REDDIT__{row['path']}/comment/{row['comment']}"),
    lambda row: [
        *to_post(row, Click(f'a.comment__permalink[href$="/comment/{row["comment"]}"]')),
        done(f"/comment/{row['comment']}$"),
    ],
    held_out=True,
)  # fmt: skip
def open_comment(world: World) -> Iterator[Row]:
    rows = single_comments(world, "s.comment_count BETWEEN 3 AND 14 AND u.id <> s.user_id")
    by_post = {row["submission_id"]: row for row in some(rows, "forum conversations")}
    for row in findable(world, [row for row in submissions(world) if row["id"] in by_post], "conversations"):
        found = by_post[row["id"]]
        yield about(row, member=found["username"], comment=found["comment"])


PAGES = (
    Template(
        "forum-open-sorted-forum", SITES, "sort-list",
        ("Show me the posts of the {forum} forum, sorted by \"{order}\" for {span}.",
         "Open /f/{forum}, choose the order \"{order}\" and let it cover {span}.",
         "I want to see what {forum} lists under \"{order}\" for {span}."),
        lambda world: (
            {"forum": forum["name"], "sort": sort, "time": time, "order": SORT_NAMES[sort], "span": SPANS[time]}
            for forum in forums(world) for sort in TIMED for time in SPANS
        ),
        lambda row: ends_at(f"__REDDIT__/f/{row['forum']}/{row['sort']}?t={row['time']}"),
        lambda row: to_list(row, Answer()),
    ),
    open_numbered_post,
    Template(
        "forum-open-titled-post", SITES, "search-item",
        ("Open the discussion of \"{title}\" in the {forum} forum.",
         "Find the post \"{title}\" by {author} and show me its comments.",
         "Take me to the thread \"{title}\" in /f/{forum}."),
        lambda world: (
            about(row, author=row["author"]) for row in findable(world, submissions(world), "titled")
        ),
        lambda row: ends_at(f"__REDDIT__/f/{row['forum']}/{row['id']}"), lambda row: to_post(row, Answer()),
    ),
    Template(
        "forum-open-author", SITES, "open-item",
        ("Show me all {page} of the member who wrote the {words} in {forum}.",
         "Find the {words} in /f/{forum} and open the list of {page} by its author."),
        lambda world: (
            {"author": row["author"], "words": words, "page": page, "forum": row["forum"], **place}
            for words, row, place in placed(world, "authors") for page in ("submissions", "comments")
        ),
        lambda row: ends_at(f"__REDDIT__/user/{row['author']}/{row['page']}"),
        lambda row: [*to_list(row, author_link(row)), *to_author(row, row["page"], Answer())], held_out=True,
    ),
    open_comment,
)  # fmt: skip
TEMPLATES = (
    *VALUES, count_unpopular_comments, count_submissions_of_author, rank_of_forums, subscribers_or_none, compare_posts,
    *PAGES,
)  # fmt: skip
