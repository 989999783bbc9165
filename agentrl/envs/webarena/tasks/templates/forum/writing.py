"""Tasks of the forum that write something new (submissions, comments, messages, forums) or change something."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import cycle, product

from agentrl.envs.webarena.sites.forum.content import contents
from agentrl.envs.webarena.sites.forum.data import AGENT_MODERATES
from agentrl.envs.webarena.sites.forum.people import AGENT
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Answer, Choose, Click, Fill, Goto, On, Parameters, Template, template
from agentrl.envs.webarena.tasks.templates.forum import phrases
from agentrl.envs.webarena.tasks.templates.forum.kit import (
    INNER,
    LINKS,
    ME,
    POSTED,
    SEVERAL,
    SITES,
    about,
    author_link,
    findable,
    path_of,
    placed,
    post_link,
    replying,
    search,
    single_comments,
    submissions,
    submitting,
    to_forum,
    to_guide,
    to_list,
    to_post,
)
from agentrl.envs.webarena.tasks.vocabulary import (
    Row,
    both,
    done,
    ends_at,
    exists,
    in_turn,
    shows,
    some,
    text_of,
    value_of,
)

OPINIONS = ("your opinion", "what do you think", "thoughts and experiences welcome")
GUIDE_LINES = ("Pictures must show the whole object", "New members should introduce themselves first")
VOTES = {"up": ("Upvote", 1), "down": ("Downvote", -1)}
VOTE = "document.querySelector('div.submission__vote').querySelector('form').getAttribute('class')"
VOTED = f"""SELECT choice FROM submission_vote v JOIN user u ON u.id = v.user_id
    WHERE u.username = '{AGENT}' AND v.submission_id = ?"""
SUBSCRIBED = f"""SELECT f.id FROM subscription s JOIN forum f ON f.id = s.forum_id JOIN user u ON u.id = s.user_id
    WHERE u.username = '{AGENT}'"""


# ---------------------------------------------------------------------- submissions


def _post(row: Parameters, title: str, body: str = "") -> list[On]:
    fields = [Fill("#submission_title", title), *([Fill("#submission_body", body)] if body else ())]
    end = On(rf"__REDDIT__/f/{row['forum']}/\d+/", [Answer()], contains=body or title)
    return [*submitting(row["forum"], *fields), end]


def _is_posted(row: Parameters, *texts: str) -> dict:
    return both(ends_at(f"__REDDIT__/f/{row['forum']}"), shows((POSTED, INNER, texts)))


@template(
    "forum-repost-picture", SITES, "copy-between-pages",
    ("Share the picture \"{title}\" of the pics forum in {target}, too, with the text \"from /f/pics\".",
     "Submit the image of the post \"{title}\" in /f/pics to /f/{target} as well, with the text \"from /f/pics\"."),
    lambda row: both(
        ends_at(f"__REDDIT__/f/{row['target']}"),
        shows((POSTED, INNER, ["from /f/pics"]), (POSTED, LINKS, [row["image"]])),
    ),
    lambda row: [
        On("__REDDIT__", [search(row["title"])]),
        On("__REDDIT__/search", [post_link(row)]),
        On(rf"__REDDIT__/f/pics/{row['id']}/", [Click("a.site-nav__link", "Submit")]),
        On("__REDDIT__/submit", [
            Fill("#submission_url", row["image"]), Fill("#submission_title", row["title"]),
            Fill("#submission_body", "from /f/pics"), Choose("#submission_forum", row["target"]),
            Click("button", "Create submission"),
        ]),
        On(rf"__REDDIT__/f/{row['target']}/\d+/", [Answer()], contains="from /f/pics"),
    ],
    held_out=True,
)  # fmt: skip
def repost_picture(world: World) -> Iterator[Row]:
    targets = cycle(("travel", "UpliftingNews", "space", "nyc", "gardening"))
    pictures = submissions(world, "f.name = 'pics' AND s.url <> ''")
    for row in findable(world, pictures, "pictures", 80):
        yield {"title": row["title"], "image": row["url"], "id": row["id"], "forum": "pics", "target": next(targets)}


SUBMISSIONS = (
    Template(
        "forum-post-question", SITES, "fill-form",
        ("Put the question \"{question}\" to the members of the {forum} forum.",
         "Ask \"{question}\" in /f/{forum}.",
         "Create a submission titled \"{question}\" in the forum {forum}."),
        lambda world: (
            {"question": question, "forum": forum} for forum, question in some(phrases.questions(), "forum questions")
        ),
        lambda row: _is_posted(row, row["question"]), lambda row: _post(row, row["question"]),
    ),
    Template(
        "forum-post-discussion", SITES, "fill-form",
        ("I want to discuss \"{title}\" in the {forum} forum: use that as the title and write \"{body}\" below it.",
         "Start a thread called \"{title}\" in /f/{forum} whose text is \"{body}\"."),
        lambda world: (
            {"topic": f"{thing} in {forum}", "title": thing, "forum": forum, "body": opinion}
            for (forum, thing), opinion in zip(some(phrases.things(), "forum discussions"), cycle(OPINIONS))
        ),
        lambda row: _is_posted(row, row["title"], row["body"]),
        lambda row: _post(row, row["title"], row["body"]),
    ),
    Template(
        "forum-post-in-fitting-forum", SITES, "fill-form",
        ("Which forum here is about {theme}? Ask \"{question}\" in it for me.",
         "I would like the people of the forum about {theme} to answer this: \"{question}\". Post it as a title."),
        lambda world: (
            {"question": question, "theme": theme, "forum": forum}
            for forum, (theme, found) in phrases.FITTING.items() for question in found
        ),
        lambda row: _is_posted(row, row["question"]), lambda row: _post(row, row["question"]), held_out=True,
    ),
    repost_picture,
)  # fmt: skip


# ---------------------------------------------------------------------- comments, messages, forums


@template(
    "forum-answer-comment", SITES, "write-reply",
    ("Reply to {member}'s comment on the post \"{title}\" in {forum} with \"{text}\".",
     "Below \"{title}\" in /f/{forum}, answer the comment by {member}: \"{text}\""),
    lambda row: shows(
        (f"__REDDIT__/f/{row['forum']}/{row['id']}/-/comment/{row['comment']}", text_of(".comments"), [row["text"]])
    ),
    lambda row: [
        *to_post(row, Click(f'a.comment__reply[href$="/comment/{row["comment"]}"]')),
        On(rf"/comment/{row['comment']}$", replying(row["text"])),
        done(r"/comment/\d+$",
             exists("forum", "SELECT 1 FROM comment WHERE parent_id = ? AND body = ?", row["comment"], row["text"])),
    ],
    held_out=True,
)  # fmt: skip
def answer_comment(world: World) -> Iterator[Row]:
    rows = single_comments(world, "s.comment_count BETWEEN 2 AND 10 AND u.username <> ?", AGENT)
    by_post = {row["submission_id"]: row for row in rows}
    posts = findable(world, [row for row in submissions(world) if row["id"] in by_post], "answered")
    for row, text in zip(posts, cycle(phrases.COMMENTS)):
        comment = by_post[row["id"]]
        yield about(row, member=comment["username"], comment=comment["comment"], text=text)


TEXTS = (
    Template(
        "forum-comment-on-post", SITES, "write-reply",
        ("Leave a comment on \"{title}\" in {forum} that reads \"{comment}\".",
         "Write the comment \"{comment}\" below \"{title}\" in /f/{forum}.",
         "Comment on \"{title}\" (forum {forum}): \"{comment}\""),
        lambda world: (
            about(row, comment=comment) for row, comment in zip(
                findable(world, submissions(world, "NOT s.is_locked AND s.comment_count < 12"), "commented"),
                cycle(phrases.COMMENTS),
            )
        ),
        lambda row: shows((f"__REDDIT__{row['path']}", text_of(".comments"), [row["comment"]])),
        lambda row: [
            *to_post(row, *replying(row["comment"])),
            On(rf"/f/{row['forum']}/{row['id']}/.*/comment/\d+$", [Answer()], contains=row["comment"]),
        ],
    ),
    answer_comment,
    Template(
        "forum-send-message", SITES, "fill-form",
        ("Send the author of \"{title}\" in {forum} the private message \"{message}\"",
         "Write a message to whoever posted \"{title}\" in /f/{forum}: \"{message}\"",
         "Contact the member who submitted \"{title}\" to {forum} with this text: \"{message}\""),
        lambda world: (
            about(row, author=row["author"], message=message) for row, message in zip(
                findable(world, submissions(world, "u.username <> ?", AGENT), "addressees"), cycle(phrases.MESSAGES)
            )
        ),
        lambda row: shows(("__REDDIT__/messages", text_of(".entry"), [f"to {row['author']}", row["message"]])),
        lambda row: [
            *to_post(row, author_link(row)),
            On(f"__REDDIT__/user/{row['author']}$", [Click("#sidebar a", "Send message")]),
            On(f"__REDDIT__/user/{row['author']}/compose_message$",
               [Fill("#message_body", row["message"]), Click("main button", "Send")]),
            done(r"__REDDIT__/messages/thread/\d+$"),
        ],
    ),
    Template(
        "forum-create-forum", SITES, "create-record",
        ("Open a new forum called {name} (description: {description}) and name {listed} in its sidebar.",
         "Make a forum called {name}. Its description is \"{description}\" and its sidebar lists {listed}."),
        lambda world: (
            {"name": name, "description": description, "parts": list(parts), "listed": ", ".join(parts)}
            for name, description, parts in phrases.NEW_FORUMS
        ),
        lambda row: shows(
            (f"__REDDIT__/f/{row['name']}/edit", value_of("#forum_description"), [row["description"]]),
            (f"__REDDIT__/f/{row['name']}/edit", value_of("#forum_sidebar"), row["parts"]),
        ),
        lambda row: [
            On("__REDDIT__", [Click("a.site-nav__logo")]),
            On("__REDDIT__/?$", [Click("#sidebar a", "Create new forum")]),
            On("__REDDIT__/create_forum$", [
                Fill("#forum_name", row["name"]), Fill("#forum_title", row["name"]),
                Fill("#forum_description", row["description"]), Fill("#forum_sidebar", row["listed"]),
                Click("button", "Create forum"),
            ]),
            done(f"__REDDIT__/f/{row['name']}$"),
        ],
        held_out=True,
    ),
)  # fmt: skip


# ---------------------------------------------------------------------- votes and subscriptions


def _voting(row: Parameters, number: int) -> tuple[Click, Callable[[World], bool]]:
    """The button for a submission, and whether it has been pressed."""
    button = Click(f'form[action="/sv/{number}"] .vote__{row["kind"]}')
    return button, lambda world: world.database("forum").value(VOTED, number) == VOTES[row["kind"]][1]


def _vote(row: Parameters) -> list[On]:
    button, voted = _voting(row, row["id"])
    return [*to_list(row, button), done("__REDDIT__", voted)]


@template(
    "forum-vote-on-listed-post", SITES, "vote",
    ("{verb} the {words} in the {forum} forum.",
     "Find the {words} in /f/{forum}. {verb} it.",
     "There is a post in {forum} that I care about: the {words}. {verb} it for me."),
    lambda row: shows((f"__REDDIT__{row['path']}", VOTE, [f"vote vote--user-{row['kind']}voted"])), _vote,
)  # fmt: skip
def vote_on_listed_post(world: World) -> Iterator[Row]:
    kinds = cycle(VOTES)
    for words, row, place in placed(world, "votes"):
        if not world.database("forum").value(VOTED, row["id"]):
            kind = next(kinds)
            yield about(row, words=words, **place, kind=kind, verb=VOTES[kind][0])


def _vote_and_comment(row: Parameters) -> list[On]:
    post = f"__REDDIT__/f/{row['forum']}/{row['id']}/"
    return in_turn(_vote(row), [
        *to_list(row, post_link(row)), On(post, replying(row["comment"])),
        On(rf"{post}.*/comment/\d+$", [Answer()], contains=row["comment"]),
    ])  # fmt: skip


def _vote_all(row: Parameters) -> list[On]:
    page = f"__REDDIT__/user/{row['author']}/submissions"
    steps = [On("__REDDIT__", [Goto(page)]), done(page)]
    for number in row["ids"]:
        button, voted = _voting(row, number)
        steps.append(On(page, [button], when=lambda world, voted=voted: not voted(world)))
    return steps


@template(
    "forum-vote-on-all-of-member", SITES, "vote",
    ("{verb} every post that {author} has made in the {forum} forum.",
     "{author} has posted in /f/{forum} more than once. {verb} all of these posts."),
    lambda row: shows(
        *((f"__REDDIT__{path}", VOTE, [f"vote vote--user-{row['kind']}voted"]) for path in row["paths"])
    ),
    _vote_all, held_out=True,
)  # fmt: skip
def vote_on_all_of_member(world: World) -> Iterator[Row]:
    """Members with two to four submissions in a forum, on none of which the agent has voted."""
    kinds, db = cycle(VOTES), world.database("forum")
    groups: dict[tuple[str, str], list] = {}
    for row in submissions(world, "u.username <> ?", AGENT):
        groups.setdefault((row["author"], row["forum"]), []).append(row)
    for (author, forum), rows in some(groups.items(), "forum prolific"):
        total = db.value("SELECT count(*) FROM submission WHERE user_id = ?", rows[0]["user_id"])
        if 2 <= len(rows) <= 4 and total <= 20 and not any(db.value(VOTED, row["id"]) for row in rows):
            kind = next(kinds)
            yield {
                "author": author, "forum": forum, "kind": kind, "verb": VOTES[kind][0],
                "ids": [row["id"] for row in rows], "paths": [path_of(row) for row in rows],
            }  # fmt: skip


@template(
    "forum-vote-and-comment", SITES, "vote",
    ("{verb} the {words} in the {forum} forum, and then comment on it: \"{comment}\".",
     "Find the {words} in /f/{forum}. {verb} it and leave the comment \"{comment}\" below it."),
    lambda row: shows(
        (f"__REDDIT__{row['path']}", VOTE, [f"vote vote--user-{row['kind']}voted"]),
        (f"__REDDIT__{row['path']}", text_of(".comments"), [row["comment"]]),
    ),
    _vote_and_comment,
)  # fmt: skip
def vote_and_comment(world: World) -> Iterator[Row]:
    for row, comment in zip(vote_on_listed_post.parameters(world), cycle(phrases.COMMENTS)):
        yield {**row, "comment": comment}


@template(
    "forum-open-thread-and-subscribe", SITES, "subscribe",
    ("Have a look at the {words} in {forum}, stay on its page, and subscribe to the forum.",
     "Go to the discussion of the {words} in /f/{forum}, and subscribe to /f/{forum}.",
     "Subscribe to {forum}, and leave the {words} there open."),
    lambda row: both(
        ends_at(f"__REDDIT__/f/{row['forum']}/{row['id']}"),
        shows(("__REDDIT__/", text_of("#sidebar > section"), [row["forum"]])),
    ),
    lambda row: [
        *to_list(row, post_link(row)),
        On(f"__REDDIT__/f/{row['forum']}/{row['id']}/", [Click(".subscribe-button", "Subscribe")]),
        done(f"__REDDIT__/f/{row['forum']}/{row['id']}/",
             exists("forum", f"{SUBSCRIBED} AND f.name = ?", row["forum"])),
    ],
)  # fmt: skip
def open_thread_and_subscribe(world: World) -> Iterator[Row]:
    mine = {row["id"] for row in world.database("forum").rows(SUBSCRIBED)}
    for words, row, place in placed(world, "unread"):
        if row["forum_id"] not in mine:
            yield {"forum": row["forum"], "words": words, "id": row["id"], "path": path_of(row), **place}


# ---------------------------------------------------------------------- profile, own texts, forums, wiki


@template(
    "forum-edit-own-post", SITES, "edit-record",
    ("My post \"{title}\" needs one more line at the end of its text: \"{line}\".",
     "Add \"{line}\" at the end of my submission \"{title}\" in /f/{forum}."),
    lambda row: shows((f"__REDDIT__{row['path']}", text_of(".submission__body"), [row["first"], row["line"]])),
    lambda row: [
        On("__REDDIT__", [search(row["title"])]),
        On("__REDDIT__/search", [post_link(row)]),
        On(f"__REDDIT__/f/{row['forum']}/{row['id']}/", [Click(".submission__nav a", "Edit")]),
        On(f"__REDDIT__/f/{row['forum']}/{row['id']}/.*/edit$",
           [Fill("#submission_body", row["body"]), Click("main button", "Edit submission")]),
        done(f"__REDDIT__/f/{row['forum']}/{row['id']}/",
             exists("forum", "SELECT 1 FROM submission WHERE id = ? AND body = ?", row["id"], row["body"])),
    ],
)  # fmt: skip
def edit_own_post(world: World) -> Iterator[Row]:
    """Those whose first line can be compared as it stands on the page: marks of Markdown disappear there."""
    rows = findable(world, submissions(world, "u.username = ? AND s.body <> ''", AGENT), "own")
    for row in rows:
        first = row["body"].split("\n")[0]
        if not re.search(r"[*\[\]<>#]", first):
            for line in phrases.ADDED_LINES:
                yield about(row, line=line, first=first, body=f"{row['body']}\n\n{line}")


RECORDS = (
    Template(
        "forum-change-biography", SITES, "edit-record",
        ("I want \"{text}\" as the biography of my forum account.", "Set the bio of my profile to \"{text}\".",
         "My profile should say \"{text}\" as biography."),
        lambda world: ({"text": text} for text in some(phrases.BIOGRAPHIES, "forum biographies", SEVERAL)),
        lambda row: shows((ME, text_of(".user-bio__biography"), row["text"])),
        lambda row: [
            On("__REDDIT__", [Click("a.site-nav__link", AGENT)]),
            On(f"{ME}$", [Click("#sidebar a", "Edit biography")]),
            On(f"{ME}/edit_biography$", [Fill("#user_biography_biography", row["text"]), Click("main button", "Save")]),
            done(f"{ME}$",
                 exists("forum", "SELECT 1 FROM user WHERE username = ? AND biography = ?", AGENT, row["text"])),
        ],
    ),
    edit_own_post,
    Template(
        "forum-change-description", SITES, "edit-record",
        ("Change the description of the {forum} forum to \"{description}\".",
         "I moderate /f/{forum}: set its description to \"{description}\"."),
        lambda world: (
            {"description": description, "forum": forum}
            for description, forum in product(phrases.DESCRIPTIONS, AGENT_MODERATES)
        ),
        lambda row: shows((f"__REDDIT__/f/{row['forum']}/edit", value_of("#forum_description"), row["description"])),
        lambda row: [
            *to_forum(row["forum"], Click("#sidebar a", "Edit forum")),
            On(f"__REDDIT__/f/{row['forum']}/edit",
               [Fill("#forum_description", row["description"]), Click("main button", "Save changes")]),
            done(f"__REDDIT__/f/{row['forum']}/edit", exists(
                "forum", "SELECT 1 FROM forum WHERE name = ? AND description = ?", row["forum"], row["description"]
            )),
        ],
        held_out=True,
    ),
    Template(
        "forum-rewrite-guide", SITES, "edit-record",
        ("Replace the text of the wiki's guide to {forum} by \"{line}\".",
         "In the wiki, the page guides/{forum} should only say \"{line}\". Change it."),
        lambda world: ({"forum": content.name, "line": line} for content in contents() for line in GUIDE_LINES),
        lambda row: shows((f"__REDDIT__/wiki/guides/{row['forum']}", text_of(".wiki-body"), row["line"])),
        lambda row: [
            *to_guide(row["forum"], Click("#sidebar a", "Edit this page")),
            On(f"__REDDIT__/wiki/_edit/guides/{row['forum']}$",
               [Fill("#wiki_body", row["line"]), Click("main button", "Save")]),
            done(f"__REDDIT__/wiki/guides/{row['forum']}$",
                 exists("forum", "SELECT 1 FROM wiki_revision WHERE body = ?", row["line"])),
        ],
    ),
)  # fmt: skip
VOTES_AND_MORE = (vote_on_listed_post, vote_on_all_of_member, vote_and_comment, open_thread_and_subscribe)
TEMPLATES = (*SUBMISSIONS, *TEXTS, *VOTES_AND_MORE, *RECORDS)
