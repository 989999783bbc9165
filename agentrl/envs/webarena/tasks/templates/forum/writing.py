"""Tasks of the forum that write something new: submissions, comments, replies, messages, forums."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import cycle

from agentrl.envs.webarena.sites.forum.people import AGENT
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Act, Answer, Choose, Click, Fill, On, Parameters, Template
from agentrl.envs.webarena.tasks.templates.forum.kit import (
    POSTED,
    SITES,
    Row,
    about,
    author_link,
    both,
    ends_at,
    findable,
    shows,
    some,
    submissions,
    text_of,
    to_forum,
    to_post,
    value_of,
)  # fmt: skip
from agentrl.envs.webarena.tasks.templates.forum.phrases import (
    COMMENTS,
    FITTING,
    MESSAGES,
    NEW_FORUMS,
    questions,
    things,
)

INNER = text_of(".submission__inner")
LINKS = (
    "[...document.querySelector('.submission__inner').querySelectorAll('[href],[src]')]"
    ".map(elem => elem.getAttribute('href') || elem.getAttribute('src')).join(' ')"
)
OPINIONS = ("your opinion", "what do you think", "thoughts and experiences welcome")


# ---------------------------------------------------------------------- submissions


def _questions(world: World) -> Iterator[Row]:
    for forum, question in some(questions(), "questions", 10**6):
        yield {"question": question, "forum": forum}


def _discussions(world: World) -> Iterator[Row]:
    opinions = cycle(OPINIONS)
    for forum, thing in some(things(), "discussions", 10**6):
        yield {"topic": f"{thing} in {forum}", "title": thing, "forum": forum, "body": next(opinions)}


def _fitting(world: World) -> Iterator[Row]:
    for forum, (theme, found) in FITTING.items():
        for question in found:
            yield {"question": question, "theme": theme, "forum": forum}


def _submitting(forum: str, *fields: Act) -> Sequence[On]:
    """Open the forum, then the form from there, so that the forum is chosen already; end on the new page."""
    return [
        *to_forum(forum, Click("a.site-nav__link", "Submit")),
        On(rf"__REDDIT__/submit/{forum}$", [*fields, Click("button", "Create submission")]),
    ]


def _post_question(row: Parameters) -> Sequence[On]:
    done = On(rf"__REDDIT__/f/{row['forum']}/\d+/", [Answer()], contains=row["question"])
    return [*_submitting(row["forum"], Fill("#submission_title", row["question"])), done]


def _post_discussion(row: Parameters) -> Sequence[On]:
    fields = [Fill("#submission_title", row["title"]), Fill("#submission_body", row["body"])]
    done = On(rf"__REDDIT__/f/{row['forum']}/\d+/", [Answer()], contains=row["body"])
    return [*_submitting(row["forum"], *fields), done]


def _posted(row: Parameters, *texts: str) -> dict:
    return both(ends_at(f"/f/{row['forum']}"), shows((POSTED, INNER, {"must_include": list(texts)})))


def _pictures(world: World) -> Iterator[Row]:
    targets = cycle(("travel", "UpliftingNews", "space", "nyc", "gardening"))
    pictures = submissions(world, "f.name = 'pics' AND s.url <> ''")
    for row in findable(world, pictures, "pictures", 80):
        yield {"title": row["title"], "image": row["url"], "id": row["id"], "forum": "pics", "target": next(targets)}


def _repost(row: Parameters) -> Sequence[On]:
    link = f'a.submission__comments[href^="/f/pics/{row["id"]}/"]'
    fields = [
        Fill("#submission_url", row["image"]), Fill("#submission_title", row["title"]),
        Fill("#submission_body", "from /f/pics"), Choose("#submission_forum", row["target"]),
    ]  # fmt: skip
    return [
        On("__REDDIT__", [Fill(".site-nav__search input", row["title"], enter=True)]),
        On("__REDDIT__/search", [Click(link)]),
        On(rf"__REDDIT__/f/pics/{row['id']}/", [Click("a.site-nav__link", "Submit")]),
        On("__REDDIT__/submit", [*fields, Click("button", "Create submission")]),
        On(rf"__REDDIT__/f/{row['target']}/\d+/", [Answer()], contains="from /f/pics"),
    ]


# ---------------------------------------------------------------------- comments and messages


def _commented(key: str) -> Callable[[World], Iterator[Row]]:
    def rows(world: World) -> Iterator[Row]:
        comments = cycle(COMMENTS)
        for row in findable(world, submissions(world, "NOT s.is_locked AND s.comment_count < 12"), key):
            yield about(row, comment=next(comments))

    return rows


def _comment(row: Parameters) -> Sequence[On]:
    return [
        *to_post(dict(row), Fill(".reply textarea", row["comment"]), Click(".reply button", "Post")),
        On(rf"/f/{row['forum']}/{row['id']}/.*/comment/\d+$", [Answer()], contains=row["comment"]),
    ]


def _answered(world: World) -> Iterator[Row]:
    """Comments by somebody who has just one below a submission."""
    texts = cycle(COMMENTS)
    found = world.database("forum").rows(
        """SELECT c.id AS comment, c.submission_id, u.username FROM comment c JOIN user u ON u.id = c.user_id
        JOIN submission s ON s.id = c.submission_id WHERE s.comment_count BETWEEN 2 AND 10 AND u.username <> ?
        GROUP BY c.submission_id, u.id HAVING count(*) = 1 ORDER BY c.id""",
        AGENT,
    )
    by_post = {row["submission_id"]: row for row in found}
    for row in findable(world, [row for row in submissions(world) if row["id"] in by_post], "answered"):
        comment = by_post[row["id"]]
        yield about(row, member=comment["username"], comment=comment["comment"], text=next(texts))


def _answer(row: Parameters) -> Sequence[On]:
    reply = Click(f'a.comment__reply[href$="/comment/{row["comment"]}"]')
    return [
        *to_post(dict(row), reply),
        On(rf"/comment/{row['comment']}$", [Fill(".reply textarea", row["text"]), Click(".reply button", "Post")]),
        On(r"/comment/\d+$", [Answer()], when=lambda world: _is_answered(world, row)),
    ]


def _is_answered(world: World, row: Parameters) -> bool:
    sql = "SELECT 1 FROM comment WHERE parent_id = ? AND body = ?"
    return bool(world.database("forum").value(sql, row["comment"], row["text"]))


def _addressees(world: World) -> Iterator[Row]:
    messages = cycle(MESSAGES)
    for row in findable(world, submissions(world, "u.username <> ?", AGENT), "addressees"):
        yield about(row, author=row["author"], message=next(messages))


def _send(row: Parameters) -> Sequence[On]:
    user = f"__REDDIT__/user/{row['author']}"
    return [
        *to_post(dict(row), author_link(dict(row))),
        On(f"{user}$", [Click("#sidebar a", "Send message")]),
        On(f"{user}/compose_message$", [Fill("#message_body", row["message"]), Click("main button", "Send")]),
        On(r"__REDDIT__/messages/thread/\d+$", [Answer()]),
    ]


# ---------------------------------------------------------------------- forums


def _new_forums(world: World) -> Iterator[Row]:
    for name, description, parts in NEW_FORUMS:
        yield {"name": name, "description": description, "parts": list(parts), "listed": ", ".join(parts)}


def _create(row: Parameters) -> Sequence[On]:
    fields = [
        Fill("#forum_name", row["name"]), Fill("#forum_title", row["name"]),
        Fill("#forum_description", row["description"]), Fill("#forum_sidebar", row["listed"]),
    ]  # fmt: skip
    return [
        On("__REDDIT__", [Click("a.site-nav__logo")]),
        On("__REDDIT__/?$", [Click("#sidebar a", "Create new forum")]),
        On("__REDDIT__/create_forum$", [*fields, Click("button", "Create forum")]),
        On(f"__REDDIT__/f/{row['name']}$", [Answer()]),
    ]


def _created(row: Parameters) -> dict:
    page = f"__REDDIT__/f/{row['name']}/edit"
    return shows(
        (page, value_of("#forum_description"), {"must_include": [row["description"]]}),
        (page, value_of("#forum_sidebar"), {"must_include": list(row["parts"])}),
    )


TEMPLATES: tuple[Template, ...] = (
    Template(
        "forum-post-question", SITES, "fill-form",
        ("Put the question \"{question}\" to the members of the {forum} forum.",
         "Ask \"{question}\" in /f/{forum}.",
         "Create a submission titled \"{question}\" in the forum {forum}."),
        _questions, lambda row: _posted(row, row["question"]), _post_question,
    ),
    Template(
        "forum-post-discussion", SITES, "fill-form",
        ("I want to discuss \"{title}\" in the {forum} forum: use that as the title and write \"{body}\" below it.",
         "Start a thread called \"{title}\" in /f/{forum} whose text is \"{body}\"."),
        _discussions, lambda row: _posted(row, row["title"], row["body"]), _post_discussion,
    ),
    Template(
        "forum-post-in-fitting-forum", SITES, "fill-form",
        ("Which forum here is about {theme}? Ask \"{question}\" in it for me.",
         "I would like the people of the forum about {theme} to answer this: \"{question}\". Post it as a title."),
        _fitting, lambda row: _posted(row, row["question"]), _post_question, held_out=True,
    ),
    Template(
        "forum-repost-picture", SITES, "copy-between-pages",
        ("Share the picture \"{title}\" of the pics forum in {target}, too, with the text \"from /f/pics\".",
         "Submit the image of the post \"{title}\" in /f/pics to /f/{target} as well, with the text \"from /f/pics\"."),
        _pictures,
        lambda row: both(
            ends_at(f"/f/{row['target']}"),
            shows(
                (POSTED, INNER, {"must_include": ["from /f/pics"]}), (POSTED, LINKS, {"must_include": [row["image"]]})
            ),
        ),
        _repost, held_out=True,
    ),
    Template(
        "forum-comment-on-post", SITES, "write-reply",
        ("Leave a comment on \"{title}\" in {forum} that reads \"{comment}\".",
         "Write the comment \"{comment}\" below \"{title}\" in /f/{forum}.",
         "Comment on \"{title}\" (forum {forum}): \"{comment}\""),
        _commented("commented"),
        lambda row: shows((f"__REDDIT__{row['path']}", text_of(".comments"), {"must_include": [row["comment"]]})),
        _comment,
    ),
    Template(
        "forum-answer-comment", SITES, "write-reply",
        ("Reply to {member}'s comment on the post \"{title}\" in {forum} with \"{text}\".",
         "Below \"{title}\" in /f/{forum}, answer the comment by {member}: \"{text}\""),
        _answered,
        lambda row: shows(
            (f"__REDDIT__/f/{row['forum']}/{row['id']}/-/comment/{row['comment']}", text_of(".comments"),
             {"must_include": [row["text"]]}),
        ),
        _answer, held_out=True,
    ),
    Template(
        "forum-send-message", SITES, "fill-form",
        ("Send the author of \"{title}\" in {forum} the private message \"{message}\"",
         "Write a message to whoever posted \"{title}\" in /f/{forum}: \"{message}\"",
         "Contact the member who submitted \"{title}\" to {forum} with this text: \"{message}\""),
        _addressees,
        lambda row: shows(
            ("__REDDIT__/messages", text_of(".entry"), {"must_include": [f"to {row['author']}", row["message"]]}),
        ),
        _send,
    ),
    Template(
        "forum-create-forum", SITES, "create-record",
        ("Open a new forum called {name} (description: {description}) and name {listed} in its sidebar.",
         "Make a forum called {name}. Its description is \"{description}\" and its sidebar lists {listed}."),
        _new_forums, _created, _create, held_out=True,
    ),
)  # fmt: skip
