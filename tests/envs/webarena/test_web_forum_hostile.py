"""Hostile text in every field of the forum: stored, shown escaped or refused with a reason, never an error."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from lxml import html

from agentrl.envs.webarena.sites.world import World
from tests.envs.webarena.forum_visitor import AGENT, Visitor
from tests.longer import only

HOSTILE = [
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "'; DROP TABLE submission; --", "{{ 7 * 7 }}{% x %}",
    "${7*7} #{7*7} %s %n", "[x](javascript:alert(1))", "<!-- --></textarea></title><script>1</script>", "\x00\x1b[31m",
    "\ud800 half a character", "\u202e right to left \u0000", "é漢😀" * 50, "a" * 1_000_000, "**" * 5_000, "[" * 5_000,
    "\n" * 3_000, "> " * 2_000 + "\n- x", "0", "-1", "../../etc/passwd", "%00%2e%2e/",
]  # fmt: skip


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    world = World()
    yield world
    world.close()


def forms(visitor: Visitor) -> list[str]:
    """Pages whose last form takes text."""
    mine = visitor.path_of("s.user_id = ? AND NOT s.is_locked", visitor.id)
    comment = visitor.db.row("SELECT * FROM comment WHERE user_id = ?", visitor.id)
    assert comment is not None
    reply = f"{visitor.path_of('s.id = ?', comment['submission_id'])}/comment/{comment['id']}"
    me = f"/user/{AGENT}"
    return [
        "/submit/books", mine, f"{mine}/edit", reply, f"{reply}/edit", "/create_forum", "/f/Coffee/edit",
        "/f/Coffee/moderators", "/f/Coffee/bans", f"{me}/edit_biography", f"{me}/account", f"{me}/preferences",
        "/user/plaza_admin/compose_message", "/user/plaza_admin/block_user", "/messages/thread/1", "/wiki/_edit/faq",
        "/wiki/_create", "/search", "/registration",
    ]  # fmt: skip


@pytest.mark.parametrize("number", only(range(0, len(HOSTILE), 4), range(len(HOSTILE))))
def test_hostile_text_in_every_field_is_shown_as_text(world: World, number: int) -> None:
    hostile, visitor = HOSTILE[number], Visitor(world)
    for path in forms(visitor):
        world.clear()
        visitor = Visitor(world)
        visitor.open(path)
        scripts = _dangerous(visitor.source)
        form = next(
            form for form in visitor.all("main form") if form.xpath(".//textarea | .//input[not(@type='hidden')]")
        )
        names = [field.get("name") for field in form.xpath(".//input | .//textarea | .//select") if field.get("name")]
        values = {name: hostile for name in names if name != "submission[forum]"}
        if (form.get("method") or "get") == "post":
            kept = {"submission[forum]": "books"} if "submission[forum]" in names else {}
            visitor.send(form.get("action"), values | kept)
        assert visitor.status in (200, 302), path
        assert _dangerous(visitor.source) <= scripts, path


def _dangerous(source: str) -> int:
    root = html.document_fromstring(source.encode("utf-8", "replace"))
    handlers = root.xpath("//@*[starts-with(name(), 'on')] | //@href[contains(., 'javascript:')]")
    return len(root.xpath("//script")) + len(handlers) + len(root.xpath("//img[@src='x']"))


EXACT = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'; DROP TABLE x; --",
    "{{ 7 * 7 }}{% raw %}",
    "0",
    "é漢😀",
]


@pytest.mark.parametrize("text", EXACT)
def test_a_comment_says_exactly_what_was_typed(world: World, text: str) -> None:
    world.clear()
    visitor = Visitor(world)
    visitor.open(visitor.path_of("f.name = 'books'"))
    visitor.submit(visitor.one("form.reply"), **{visitor.one(".reply textarea").get("name"): text})
    assert visitor.db.value("SELECT body FROM comment ORDER BY id DESC") == text
    assert visitor.text(".comment__body") == text


@pytest.mark.parametrize("query", ["", "%", "_", "'", "a" * 60_000, "\\", "<script>", "x " * 5_000, "\ufffd", "\x00"])
def test_any_search_has_an_answer(world: World, query: str) -> None:
    visitor = Visitor(world)
    for kind in ("submissions", "comments", "<>"):
        visitor.open(f"/search?q={quote(query)}&type={quote(kind)}&page=-1")
        assert visitor.status == 200 and "<script>" not in visitor.source


@pytest.mark.parametrize("field", ["choice", "next", "id"])
def test_buttons_with_forged_values_do_no_harm(world: World, field: str) -> None:
    world.clear()
    for text in HOSTILE:
        visitor = Visitor(world)
        for path in ("/sv/10001", "/cv/50001", "/notifications/clear", "/f/books/subscribe", "/sv/0", "/cv/x"):
            visitor.send(path, {field: text})
            assert visitor.status in (200, 404)
            assert "//" not in visitor.url.partition("?")[0]
