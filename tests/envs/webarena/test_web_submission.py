"""Forms: what controls hold, what is sent in which order, and what pages do not accept."""

from __future__ import annotations

from typing import Any

import pytest
from fake_web import HOME, asked, browse

from agentrl.envs.webarena.backend import ActionFailed
from agentrl.envs.webarena.browsing.dom import DomBackend
from agentrl.envs.webarena.browsing.forms import encode


def number(backend: DomBackend, name: str) -> int:
    """The id of the element with this `id` or name."""
    labels = backend.view().labels
    return next(place for place, label in enumerate(labels) if name in (label.get("id"), label.get("name")))


def held(backend: DomBackend, name: str) -> str:
    """What a control holds."""
    view = backend.view()
    return view.values[view.labels[number(backend, name)]]


EVERYTHING = """<form id=f action="/s?lost=1" method={method}>
<input name=first value=1><input type=hidden name=token value="a b"><input name=off disabled value=2>
<fieldset disabled><input name=off2></fieldset><input value=nameless><input type=checkbox name=box value=x checked>
<input type=checkbox name=box2><input type=radio name=r value=1><input type=radio name=r value=2 checked>
<select name=one><option value=a>A<option>B b</select>
<select name=many multiple><option selected>1<option>2<option selected>3</select>
<textarea name=text>
l1
l2</textarea><input type=file name=file><input type=image name=pic>
<button name=go value=save>Save</button><button name=go value=drop>Drop</button><input type=submit name=send value=S>
</form><input name=outside form=f value=late><button form=f formaction="/other" formmethod=get name=far>Far</button>"""
FIELDS = (
    ("first", "1"), ("token", "a b"), ("box", "x"), ("r", "2"), ("one", "a"), ("many", "1"), ("many", "3"),
    ("text", "l1\r\nl2"), ("file", ""),
)  # fmt: skip


def test_a_form_sends_its_successful_controls_in_the_order_of_the_page() -> None:
    backend = browse(EVERYTHING.format(method="post"))
    buttons = [place for place, label in enumerate(backend.view().labels) if label.get("name") == "go"]
    backend.click(buttons[1])
    assert (asked(backend).method, asked(backend).url) == ("POST", HOME + "s?lost=1")
    assert asked(backend).form == (*FIELDS, ("go", "drop"), ("outside", "late"))


def test_a_get_form_puts_its_fields_into_the_address() -> None:
    backend = browse(EVERYTHING.format(method="get"))
    backend.click(number(backend, "send"))
    assert asked(backend).method == "GET"
    assert asked(backend).url == f"{HOME}s?{encode((*FIELDS, ('send', 'S'), ('outside', 'late')))}"
    assert asked(backend).query == (*FIELDS, ("send", "S"), ("outside", "late"))


def test_a_button_may_send_its_form_elsewhere() -> None:
    backend = browse(EVERYTHING.format(method="post"))
    backend.click(number(backend, "far"))
    assert asked(backend).url.startswith(HOME + "other?first=1&token=a+b&") and asked(backend).url.endswith("&far=")


def test_a_form_without_an_action_goes_to_its_page() -> None:
    backend = browse("<form><input name=q></form>", page="<form><input name=q></form>")
    backend.open(HOME + "page?q=old&x=1#part")
    backend.type(0, "new & ~*'", enter=True)
    assert asked(backend).url == HOME + "page?q=new+%26+%7E*%27"


def test_enter_presses_the_first_button_that_sends() -> None:
    backend = browse(
        "<form action=/s><input name=q><button type=button name=no>x</button><button name=b value=1>Go</button>"
    )
    backend.type(0, "tea", enter=True)
    assert asked(backend).url == HOME + "s?q=tea&b=1"


@pytest.mark.parametrize(("fields", "sent"), [(1, True), (2, False)])
def test_enter_without_a_button_sends_a_form_with_one_field(fields: int, sent: bool) -> None:
    backend = browse("<form action=/s>" + "<input name=q>" * fields)
    backend.type(0, "tea", enter=True)
    assert (backend.view().url != HOME) == sent


def test_enter_does_nothing_where_the_button_is_disabled_or_there_is_no_form() -> None:
    backend = browse("<form action=/s><input name=q><button disabled>Go</button></form><input>")
    backend.type(0, "tea", enter=True)
    backend.type(2, "tea", enter=True)
    assert backend.view().url == HOME and held(backend, "q") == "tea"


def test_enter_in_a_text_area_begins_a_line() -> None:
    backend = browse("<form action=/s><textarea name=t></textarea><button>Go</button></form>")
    backend.type(0, "one", enter=True)
    assert backend.view().url == HOME and held(backend, "t") == "one\n"


def test_clicks_toggle_boxes_and_choose_one_radio_button() -> None:
    backend = browse(
        "<form><label>C <input type=checkbox id=c></label><label id=l for=d>D</label><input type=checkbox id=d>"
        "<input type=radio name=r id=r1 checked><input type=radio name=r id=r2></form>"
        "<input type=radio name=r id=r3 checked>"
    )
    backend.click(number(backend, "c"))
    backend.click(number(backend, "l"))
    backend.click(number(backend, "r2"))
    assert [held(backend, name) for name in ("c", "d", "r1", "r2", "r3")] == ["on", "on", "", "on", "on"]
    backend.click(number(backend, "c"))
    assert held(backend, "c") == ""


def test_an_option_is_chosen_by_a_part_of_its_text() -> None:
    backend = browse(
        "<select name=s><option>Red<option value=dark disabled>Dark blue<option value=b>  Light\n BLUE</select>"
    )
    assert held(backend, "s") == "Red"
    backend.select(0, "blue")
    assert held(backend, "s") == "b"
    with pytest.raises(ActionFailed, match="No option contains 'green'"):
        backend.select(0, "green")


def test_a_label_stands_for_its_control() -> None:
    backend = browse(
        "<label id=l for=q>Query</label><input id=q><label id=m for=s>Sort</label><select id=s><option>a<option>b"
    )
    backend.type(number(backend, "l"), "tea")
    backend.select(number(backend, "m"), "b")
    assert (held(backend, "q"), held(backend, "s")) == ("tea", "b")


def test_reset_restores_what_the_page_says() -> None:
    backend = browse(
        "<form><input name=q value=old><input type=checkbox name=c checked><button type=reset id=r>x</button>"
    )
    backend.type(0, "new")
    backend.click(1)
    backend.click(2)
    assert list(backend.view().values.values()) == ["old", "on"]


@pytest.mark.parametrize(
    ("field", "text", "result"),
    [
        ("<input>", "a\nb\r", "ab"),
        ("<textarea></textarea>", "a\r\nb\rc", "a\nb\nc"),
        ("<input maxlength=3>", "abcdef", "abc"),
        ("<input type=email>", " a@b ", "a@b"),
        ("<input type=number>", "12.5", "12.5"),
        ("<input type=date>", "6/30/2025", "2025-06-30"),
        ("<input type=date>", "2025-06-30", "2025-06-30"),
        ("<input>", "x" * 1_000_000, "x" * 1_000_000),
        ("<input>", "\0\ud800<b>'; DROP TABLE x;--{{7*7}}", "\0\ufffd<b>'; DROP TABLE x;--{{7*7}}"),
    ],
    ids=lambda value: value[:20],
)
def test_fields_hold_what_a_browser_would_keep(field: str, text: str, result: str) -> None:
    backend = browse(field)
    backend.type(0, text)
    assert list(backend.view().values.values()) == [result]


@pytest.mark.parametrize(
    ("element", "reason"),
    [
        ("<button>x</button>", "not a text field"),
        ("<input type=checkbox>", "not a text field"),
        ("<select><option>x</select>", "not a text field"),
        ("<input disabled>", "disabled"),
        ("<fieldset disabled><input></fieldset>", "disabled"),
        ("<input readonly value=x>", "cannot be changed"),
        ("<input type=number>", "takes a number"),
        ("<input type=date>", "takes a date"),
    ],
)
def test_what_cannot_be_typed_into_says_why(element: str, reason: str) -> None:
    backend = browse(element)
    view = backend.view()
    with pytest.raises(ActionFailed, match=reason):
        backend.type(0, "text")
    assert backend.view() is view


@pytest.mark.parametrize(
    ("field", "text", "reason"),
    [
        ("<label>Your name <input required></label>", "", "'Your name' must be filled in"),
        ("<textarea required aria-label=Body></textarea>", "", "'Body' must be filled in"),
        ("<input type=email placeholder=Mail>", "nobody", "'Mail' must be an e-mail address"),
        ("<input type=number name=n min=2>", "1", "'n' must be at least 2"),
        ("<input name=p pattern='[0-9]+'>", "x", "form that the page asks for"),
    ],
)
def test_a_form_that_is_not_accepted_is_not_sent(field: str, text: str, reason: str) -> None:
    backend = browse(f"<form action=/s>{field}<button id=go>Go</button></form>")
    backend.type(next(place for place, label in enumerate(backend.view().labels) if label.tag != "label"), text)
    with pytest.raises(ActionFailed, match=reason):
        backend.click(number(backend, "go"))
    assert backend.view().url == HOME


def test_text_typed_with_enter_stays_where_the_form_is_not_accepted() -> None:
    backend = browse("<form action=/s><input name=q><input name=r required aria-label=R><button>Go</button></form>")
    backend.type(0, "tea", enter=True)
    view: Any = backend.view()
    assert view.url == HOME and held(backend, "q") == "tea"
    assert view.focused.get("name") == "r"


def test_going_back_shows_the_form_as_it_was_left() -> None:
    backend = browse("<form action=/s><input name=q value=old><button>Go</button></form>", s="<p>found")
    backend.type(0, "new")
    backend.click(1)
    backend.back()
    assert held(backend, "q") == "new"
    backend.press("F5")
    assert held(backend, "q") == "old"
