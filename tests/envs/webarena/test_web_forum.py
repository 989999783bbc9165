"""The forum: every page answers, members write, vote, subscribe and move about, and texts are shown as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import pytest

from agentrl.envs.webarena.sites.formats import ago
from agentrl.envs.webarena.sites.forum.app import site
from agentrl.envs.webarena.sites.forum.listing import ORDERS
from agentrl.envs.webarena.sites.forum.text import rich, slug
from agentrl.envs.webarena.sites.world import World
from tests.envs.webarena.forum_visitor import AGENT, Visitor

ME = f"/user/{AGENT}"


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    world = World()
    yield world
    world.close()


@pytest.fixture
def agent(world: World) -> Visitor:
    world.clear()
    return Visitor(world)


@pytest.fixture
def guest(world: World) -> Visitor:
    world.clear()
    return Visitor(world, guest=True)


# ---------------------------------------------------------------------- pages


def example(agent: Visitor, path: str) -> str:
    """An address that fits a route: one of the agent's own texts, a forum that it moderates."""
    comment = agent.db.row("SELECT * FROM comment WHERE user_id = ?", agent.id)
    assert comment is not None
    special = {"/wiki/_revision/{id}": "/wiki/_revision/3", "/messages/thread/{id}": "/messages/thread/3"}
    if path in special:
        return special[path]
    if "{id}" in path:
        thread = agent.path_of("s.user_id = ?", agent.id)
        if "{comment}" in path:
            thread = agent.path_of("s.id = ?", comment["submission_id"])
        _, _, forum, number, title = thread.split("/")
        return path.format(forum=forum, id=number, slug=title, comment=comment["id"])
    return path.format(forum="Coffee", user=AGENT, name="lake-00ff00.svg", path="faq")


def test_every_page_answers_and_names_its_kind(agent: Visitor) -> None:
    kinds = set()
    for route in site.routes:
        if route.method == "GET":
            path = re.sub(r"\(\?P<(\w+)>.*?\+\??\)", r"{\1}", route.pattern.pattern)
            agent.open(example(agent, path.removesuffix("/?").replace("\\", "")))
            assert agent.status == 200, path
            if not agent.source.startswith("<svg"):
                kinds.add(agent.one("body").get("data-page"))
                assert agent.text("title")
    assert len(kinds) >= 20


@pytest.mark.parametrize(
    "path",
    ["/f/nothing", "/f/books/1/x", "/f/books/99999999999999999999", "/f/books/abc", "/user/nobody", "/nothing",
     "/user/nobody/account", "/wiki/_revision/0", "/messages/thread/999", "/submission_images/../../x", "/f/%00/new",
     "/f/books/1/x/comment/2"],
)  # fmt: skip
def test_what_does_not_exist_is_not_found(agent: Visitor, path: str) -> None:
    assert agent.open(path).status == 404


def test_forums_and_members_are_found_in_either_case_and_posts_without_their_title(agent: Visitor) -> None:
    assert agent.open("/f/BOOKS").status == 200
    assert agent.open(f"/user/{AGENT.lower()}").status == 200
    path = agent.path_of("f.name = 'books'")
    title = agent.open(path).text(".submission__title")
    assert agent.open("/".join(path.split("/")[:4]) + "/").text(".submission__title") == title
    assert agent.open("/".join(path.split("/")[:4]) + "/-").text(".submission__title") == title


@pytest.mark.parametrize(
    "path", ["/submit", "/messages", "/notifications", f"{ME}/account", "/create_forum", "/subscribed"]
)
def test_guests_are_sent_to_the_login(guest: Visitor, path: str) -> None:
    assert guest.open(path).url == "/login"


def test_guests_read_everything_else(guest: Visitor) -> None:
    for path in ("/", "/all/new", "/forums", "/f/books", "/wiki", ME, guest.path_of("s.comment_count > 3")):
        assert guest.open(path).status == 200
    assert guest.open("/").text("#sidebar > section").startswith("Featured forums")


# ---------------------------------------------------------------------- order


SCORES = {
    "new": lambda row: row["created_at"],
    "active": lambda row: row["last_active"],
    "top": lambda row: row["upvotes"] - row["downvotes"],
    "most_commented": lambda row: row["comment_count"],
    "controversial": lambda row: (min(row["upvotes"], row["downvotes"]), row["upvotes"] + row["downvotes"]),
    "hot": lambda row: row["ranking"],
}


@pytest.mark.parametrize("sort", list(ORDERS))
@pytest.mark.parametrize("place", ["/f/gaming", "/all", "/featured", ""])
def test_lists_are_in_the_order_that_their_address_says(agent: Visitor, sort: str, place: str) -> None:
    ids = []
    for page in (1, 2):
        agent.open(f"{place}/{sort}?t=all&page={page}")
        ids += [int(link.get("href").split("/")[3]) for link in agent.all(".submission__comments")]
    assert len(ids) == 40 and len(set(ids)) == 40
    rows = [agent.db.get("submission", number) for number in ids]
    scores = [SCORES[sort](row) for row in rows]
    assert scores == sorted(scores, reverse=True)


def test_spans_of_time_leave_older_submissions_out(agent: Visitor) -> None:
    counts = []
    for time, since in {"day": "2025-06-15", "week": "2025-06-09", "month": "2025-05-16", "all": "2022"}.items():
        agent.open(f"/f/technology/top?t={time}")
        ids = [int(link.get("href").split("/")[3]) for link in agent.all(".submission__comments")]
        assert all(agent.db.get("submission", number)["created_at"] >= since for number in ids)  # type: ignore[index]
        counts.append(len(ids))
    assert counts == sorted(counts) and counts[0] < counts[-1]
    assert agent.open("/f/technology/top").text(".sorts--times .sorts__link--chosen") == "Past 24 hours"


def test_forums_are_listed_by_name_size_and_subscribers(agent: Visitor) -> None:
    names = agent.open("/forums").texts(".forums td:first-child a") + agent.open("/forums?page=2").texts(
        ".forums td:first-child a"
    )
    assert len(names) == 28 and names == sorted(names, key=str.lower)
    for order, column in (("by_submissions", 3), ("by_subscribers", 4)):
        numbers = [int(text) for text in agent.open(f"/forums/{order}").texts(f".forums td:nth-child({column})")]
        assert numbers == sorted(numbers, reverse=True)


def test_comments_stand_below_what_they_answer(agent: Visitor) -> None:
    agent.open(agent.path_of("s.comment_count > 30"))
    levels = [int(element.get("class")[-1]) for element in agent.all("article.comment")]
    assert levels[0] == 0 and max(levels) >= 2
    assert all(second <= first + 1 for first, second in pairwise(levels))


# ---------------------------------------------------------------------- writing


def test_a_submission_gets_an_address_of_forum_number_and_title(agent: Visitor) -> None:
    agent.open("/submit/books")
    assert agent.one("#submission_forum").value == "books"
    agent.submit(
        agent.one("form.form"), submission__title="Which atlas is best?", submission__body="First line\nsecond"
    )
    assert re.fullmatch(r"/f/books/\d+/which-atlas-is-best", agent.url)
    assert agent.text(".submission__title") == "Which atlas is best?"
    assert agent.text(".submission__inner").startswith("Which atlas is best?")
    assert agent.text(".submission__body") == "First linesecond"
    assert agent.one("div.submission__vote").cssselect("form")[0].get("class") == "vote vote--user-upvoted"
    assert agent.open("/f/books/new").texts(".submission__title")[0] == "Which atlas is best?"


def test_links_and_pictures_are_submissions_too(agent: Visitor) -> None:
    agent.post(
        "/submit", submission__url="https://a.example/b?c=1&d=2", submission__title="A link", submission__forum="pics"
    )
    assert agent.one(".submission__title").get("href") == "https://a.example/b?c=1&d=2"
    agent.post(
        "/submit", submission__url="/submission_images/lake-00ff00.svg", submission__title="P", submission__forum="pics"
    )
    assert [image.get("src") for image in agent.all(".submission__inner img")] == ["/submission_images/lake-00ff00.svg"]
    assert agent.open("/submission_images/lake-00ff00.svg").source.startswith("<svg")


@pytest.mark.parametrize(
    "fields, expected",
    [({"title": ""}, "title must not be blank"), ({"title": "x", "forum": ""}, "forum must be chosen"),
     ({"title": "x", "url": "javascript:alert(1)"}, "must be an address"), ({"title": "x" * 301}, "at most 300"),
     ({"title": "x", "body": "y" * 25_001}, "at most 25000")],
)  # fmt: skip
def test_a_submission_with_a_fault_is_shown_again(agent: Visitor, fields: dict[str, str], expected: str) -> None:
    values = {"title": "", "url": "", "body": "kept", "forum": "books"} | fields
    agent.send("/submit", {f"submission[{name}]": value for name, value in values.items()})
    assert expected in agent.text(".message-error") and agent.url == "/submit"
    assert (agent.one("#submission_body").text or "").removeprefix("\n") == values["body"]


def test_comments_and_replies_are_shown_first_on_their_own_page(agent: Visitor) -> None:
    path = agent.path_of("s.comment_count > 3 AND NOT s.is_locked")
    before = int(agent.open(path).text(".submission__comments").split()[0])
    agent.submit(agent.one("form.reply"), **{agent.one(".reply textarea").get("name"): "!?!"})
    assert re.fullmatch(re.escape(path) + r"/comment/\d+", agent.url)
    assert agent.text(".comment__body") == "!?!"
    agent.submit(agent.one("form.reply"), **{agent.one(".reply textarea").get("name"): "an answer"})
    assert agent.text(".comment__body") == "an answer"
    assert agent.open(path).text(".submission__comments") == f"{before + 2} comments"
    assert agent.open(f"{ME}/comments").text(".comment__body") == "an answer"


def test_own_submissions_are_edited_deleted_and_restored(agent: Visitor) -> None:
    path = agent.path_of("s.user_id = ? AND s.body <> ''", agent.id)
    agent.open(path + "/edit").submit(agent.one("form.form"), submission__body="Every watch is new")
    assert agent.url == path and agent.text(".submission__body") == "Every watch is new"
    agent.post(path + "/delete")
    assert agent.open(f"{ME}/trash").one(".entry a").get("href") == path
    assert Visitor(agent.world, guest=True).open(path).status == 404
    agent.post(path + "/restore")
    assert agent.url == path and agent.status == 200


def test_own_comments_are_edited_and_deleted(agent: Visitor) -> None:
    comment = agent.db.row("SELECT * FROM comment WHERE user_id = ?", agent.id)
    assert comment is not None
    path = f"{agent.path_of('s.id = ?', comment['submission_id'])}/comment/{comment['id']}"
    agent.open(path + "/edit").submit(agent.one("form.form"), comment__comment="changed")
    assert agent.url == path and agent.text(".comment__body") == "changed"
    agent.post(path + "/delete")
    assert "changed" not in agent.texts(".comment__body")


def test_nobody_changes_what_others_wrote(agent: Visitor) -> None:
    path = agent.path_of("s.user_id <> ? AND f.name = 'books'", agent.id)
    for action in ("edit", "delete", "restore", "lock", "pin"):
        assert agent.post(f"{path}/{action}", submission__title="x").status == 403
    assert agent.open("/f/books/edit").status == 403
    assert agent.post("/f/books/bans", username=AGENT, reason="x").status == 403
    assert agent.open("/user/plaza_admin/account").status == 403
    assert agent.post("/user/plaza_admin/edit_biography", user_biography__biography="x").status == 403


# ---------------------------------------------------------------------- votes and subscriptions


def test_votes_are_cast_changed_and_taken_back(agent: Visitor) -> None:
    path = agent.path_of("s.id NOT IN (SELECT submission_id FROM submission_vote)")
    score = int(agent.open(path).text(".submission__vote .vote__net-score"))
    for button, expected, kind in (
        ("up", 1, " vote--user-upvoted"),
        ("down", -1, " vote--user-downvoted"),
        ("down", 0, ""),
    ):
        pressed = agent.one(f".submission__vote .vote__{button}")
        agent.submit(agent.one(".submission__vote form"), choice=pressed.get("value"))
        assert agent.url == path
        assert agent.one(".submission__vote form").get("class") == "vote" + kind
        assert int(agent.text(".submission__vote .vote__net-score")) == score + expected


def test_a_vote_in_a_list_comes_back_to_the_list(agent: Visitor) -> None:
    form = agent.open("/f/books/new").one(".submission__vote form")
    agent.submit(form, choice=form.cssselect(".vote__down")[0].get("value"))
    assert agent.url == "/f/books/new"
    assert "downvoted" in agent.one(".submission__vote form").get("class")
    assert agent.post(form.get("action"), choice="1", next="//evil.example/").url.startswith("/f/books/")


def test_comments_are_voted_on(agent: Visitor) -> None:
    agent.open(agent.path_of("s.comment_count > 3"))
    form = agent.one(".comment__vote form")
    agent.submit(form, choice="-1")
    assert "vote--user-downvoted" in {name for entry in agent.all(".comment__vote form") for name in entry.classes}


def subscribed(visitor: Visitor) -> list[str]:
    """The forums in the first box beside the front page."""
    return [link.text for link in visitor.open("/").one("#sidebar > section").cssselect("a")]


def test_subscriptions_are_listed_beside_the_front_page(agent: Visitor) -> None:
    assert "space" not in subscribed(agent)
    agent.open("/f/space").submit(agent.one(".forum-card form"))
    assert agent.url == "/f/space" and agent.text(".subscribe-button") == "Unsubscribe"
    assert "space" in subscribed(agent)
    agent.open("/f/space").submit(agent.one(".forum-card form"))
    assert "space" not in subscribed(agent)


def test_hidden_forums_and_blocked_members_disappear_from_lists(agent: Visitor) -> None:
    name = agent.open("/all/new").text(".submission__forum")
    agent.post(f"/f/{name}/hide")
    assert name not in agent.open("/all/new").texts(".submission__forum")
    author = agent.open("/all/new").text(".submission__info .author")
    agent.open(f"/user/{author}/block_user").submit(agent.one("form.form"), comment="noise")
    assert agent.url == f"{ME}/block_list" and author in agent.text(".records")
    assert author not in agent.open("/all/new").texts(".submission__info .author")
    agent.post(f"/user/{author}/unblock_user")
    assert author in agent.open("/all/new").texts(".submission__info .author")


# ---------------------------------------------------------------------- forums, members, messages, wiki


def test_a_new_forum_is_edited_by_who_made_it(agent: Visitor) -> None:
    agent.open("/create_forum").submit(
        agent.one("form.form"), forum__name="Nightshift", forum__title="Night",
        forum__description="For those awake at three", forum__sidebar="Jobs\nTea",
    )  # fmt: skip
    assert agent.url == "/f/Nightshift"
    agent.open("/f/Nightshift/edit")
    assert agent.one("#forum_description").text.strip() == "For those awake at three"
    assert agent.one("#forum_sidebar").text.strip() == "Jobs\nTea"
    agent.submit(agent.one("form.form"), forum__description="Changed")
    assert agent.one("#forum_description").text.strip() == "Changed"
    assert "Nightshift" in agent.open("/").text("#sidebar > section")
    agent.post("/create_forum", forum__name="nightSHIFT", forum__title="x", forum__description="x", forum__sidebar="x")
    assert "taken" in agent.text(".message-error")


def test_moderators_ban_pin_and_lock(agent: Visitor) -> None:
    author = agent.open("/f/Coffee/new").text(".submission__info .author")
    agent.post("/f/Coffee/bans", username=author, reason="Spam")
    assert author in agent.text(".records")
    path = agent.path_of("f.name = 'Coffee' ORDER BY s.id")
    agent.post(f"{path}/pin")
    assert "Pinned" in agent.open("/f/Coffee").text(".submission__info")
    agent.post(f"{path}/lock")
    assert "Locked" in agent.open(path).text(".submission__info")
    agent.post("/f/Coffee/moderators", username=author)
    assert author in agent.text(".records")


def test_the_biography_is_shown_in_the_profile(agent: Visitor) -> None:
    agent.open(f"{ME}/edit_biography").submit(
        agent.one("form.form"), user_biography__biography="Chemist between two jobs"
    )
    assert agent.url == ME and agent.text(".user-bio__biography") == "Chemist between two jobs"


def test_preferences_decide_what_the_front_page_shows(agent: Visitor) -> None:
    agent.open(f"{ME}/preferences").submit(agent.one("form.form"), front_page="all", front_page_sort="new")
    agent.open("/")
    assert agent.text(".tabs__link--chosen") == "All" and agent.text(".sorts__link--chosen") == "New"


def test_messages_are_sent_and_answered(agent: Visitor) -> None:
    assert len(agent.open("/messages").all(".entry")) == 7
    agent.open("/user/plaza_admin/compose_message").submit(agent.one("form.form"), message__body="Hello there")
    assert re.fullmatch(r"/messages/thread/\d+", agent.url)
    agent.submit(agent.one("form.form"), message__body="And again")
    assert agent.texts(".message-entry__body") == ["Hello there", "And again"]
    assert agent.open("/messages").text(".entry__title") == "And again"


def test_notifications_tell_of_replies_and_are_cleared(agent: Visitor) -> None:
    assert len(agent.open("/notifications").all(".entry")) == 12
    agent.post("/notifications/clear", id=agent.one(".entry button").get("value"))
    assert len(agent.all(".entry")) == 11
    assert agent.post("/notifications/clear").text(".empty") == "There are no notifications."


def test_wiki_pages_are_written_and_keep_their_history(agent: Visitor) -> None:
    before = len(agent.open("/wiki/_history/guides/books").all(".records tr"))
    agent.open("/wiki/_edit/guides/books").submit(agent.one("form.form"), wiki__body="New text")
    assert agent.url == "/wiki/guides/books" and agent.text(".wiki-body") == "New text"
    assert len(agent.open("/wiki/_history/guides/books").all(".records tr")) == before + 1
    agent.open("/wiki/_create").submit(agent.one("form.form"), wiki__path="my/page", wiki__title="T", wiki__body="B")
    assert agent.url == "/wiki/my/page"
    assert agent.open("/wiki/_edit/rules").status == 403


def test_search_finds_words_in_titles_bodies_and_comments(agent: Visitor) -> None:
    agent.open("/search?q=Salt+Ledger")
    assert agent.all(".submission__title") and "Salt Ledger" in agent.text(".submission__title")
    agent.open("/search?q=Salt+Ledger&type=comments")
    assert agent.all(".comment__body")
    assert all("salt" in text.lower() and "ledger" in text.lower() for text in agent.texts(".comment__body"))
    assert agent.open("/search?q=xyzzyplugh").text(".empty") == "No results."


def test_login_logout_and_registration(guest: Visitor) -> None:
    guest.open("/login").submit(guest.one("form.form"), _username=AGENT, _password="wrong")
    assert "Invalid" in guest.text(".message-error")
    assert [label.text for label in guest.all("form.form label")] == ["Username", "Password"]
    guest.submit(guest.one("form.form"), _username=AGENT, _password="test1234")
    assert guest.url == "/" and AGENT in guest.text(".site-nav")
    assert "Delete" in guest.open(f"{ME}/account").source
    guest.post("/logout")
    assert AGENT not in guest.text(".site-nav")
    form = {
        "user__username": "new_member",
        "user__password__first": "long enough",
        "user__password__second": "long enough",
    }
    guest.open("/registration").submit(guest.one("form.form"), **form)
    assert "new_member" in guest.text(".site-nav")


# ---------------------------------------------------------------------- texts


def test_titles_become_addresses_and_moments_words() -> None:
    assert slug("It's 8/10!") == "it-s-8-10" and slug("!?!") == "-"
    assert len(slug("word " * 100)) <= 60 and not slug("word " * 100).endswith("-")
    assert ago("2025-06-13 09:00:00", "2025-06-16 09:00:00") == "3 days ago"
    assert ago("2025-06-16 08:00:00", "2025-06-16 09:00:00") == "1 hour ago"


def test_markdown_becomes_safe_html() -> None:
    assert rich("a\n\n- b\n- c") == "<p>a</p>\n<ul><li>b</li><li>c</li></ul>"
    assert rich("[x](https://a.b/c) **d**") == '<p><a href="https://a.b/c">x</a> <strong>d</strong></p>'
    assert "<a" not in rich("[x](javascript:alert(1)) [y](//evil.example)")
    assert rich("<b>https://a.b/\"onclick='x'</b>").count("<") == 4
    assert "<script" not in rich("**<script>**")
