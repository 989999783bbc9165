"""Locators: JavaScript expressions over a page, without a browser."""

from __future__ import annotations

import re
from typing import Any

import pytest
from lxml import html

from agentrl.core.errors import EnvFault
from agentrl.envs.webarena.evaluators.inner_text import TagStyles
from agentrl.envs.webarena.evaluators.locators import check_locator, evaluate_locator
from agentrl.envs.webarena.evaluators.nodes import UnreadableLocator, close_brackets

PAGE = html.document_fromstring("""<!doctype html><html><head><title> The  title</title></head><body>
<div class="x"> Hello  <b>big</b> <i> world</i><p>paragraph</p>tail <span style="display:none">hidden</span></div>
<ul id="notes-list"><li>1<li class="last"><div class="body">second</div></ul>
<input type="checkbox" title="General Subscription" checked><input type="checkbox" id="off" value="7">
<select name="s"><option>a<option value="q" selected>b</select><textarea name="t">hey</textarea>
<input name="product[price]" value="9.50">
<table><tr><td>1<td>2<tr><td>3<td>4</table><p class="cover"><i>x</i> busy </p>
<div class="links"><a href="/u">u</a><img src="/v" alt="picture"></div><pre>a
  b</pre><div hidden class="secret">code</div></body></html>""")


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("document.querySelector('.x').outerText", "Hello big world\n\nparagraph\n\ntail"),
        ("document.querySelector('.x').innerText", "Hello big world\n\nparagraph\n\ntail"),
        ("document.querySelector('b').textContent", "big"),
        ("document.querySelector('[id=\"notes-list\"').lastElementChild.querySelector('.body').outerText", "second"),
        ("document.querySelector('ul').firstElementChild.outerText", "1"),
        ("document.querySelector('ul').children[1].className", "last"),
        ("document.querySelector('[title=\"General Subscription\"').checked.toString()", "true"),
        ("document.querySelector('#off').checked.toString()", "false"),
        ("document.querySelector('#off').checked", "False"),
        ("document.querySelector('#off').value", "7"),
        ("document.querySelector('select').selectedIndex", "1"),
        ("document.querySelector('select').value", "q"),
        ("document.querySelector('textarea').value", "hey"),
        ("document.querySelector('[name=\"product[price]\"').value", "9.50"),
        ("document.querySelector('table').outerText", "1\t2\n3\t4"),
        ("document.querySelector('.cover').lastChild.textContent", " busy "),
        ("document.querySelectorAll('td')[2].outerText", "3"),
        ("document.querySelectorAll('td').length", "4"),
        ("document.querySelector('pre').outerText", "a\n  b"),
        ("document.querySelector('.secret').outerText", "code"),
        ("document.querySelector('img').getAttribute('alt')", "picture"),
        ("document.querySelector('img').getAttribute('href')", "None"),
        ("document.querySelector('i').innerHTML", " world"),
        ("document.title", "The title"),
        ("document.querySelector('.x').querySelector('body i').tagName", "I"),
        ("document.querySelector('b').outerText + (document.querySelector('.no')?.outerText || '')", "big"),
        ("document.querySelector('b').outerText + document.querySelector('i').outerText", "bigworld"),
        (
            "[...document.querySelector('.links').querySelectorAll('[href],[src]')]"
            ".map(elem => elem.getAttribute('href') || elem.getAttribute('src')).join(' ')",
            "/u /v",
        ),
        ("() => document.querySelector('b').outerText", "big"),
        ("document.querySelectorAll('td').length > 3 ? 'many' : 'few'", "many"),
        ("document.querySelector('.no')?.querySelector('b').outerText ?? 'nothing'", "nothing"),
        ("document.querySelector('b').click()", "None"),
        ("[...document.querySelectorAll('li')].filter(e => e.outerText === 'second')[0].className", "last"),
    ],
)
def test_expressions_give_what_a_browser_gives(expression: str, text: str) -> None:
    assert evaluate_locator(expression, PAGE) == text


@pytest.mark.parametrize(
    "expression",
    [
        "document.querySelector('.no').outerText",
        "document.querySelectorAll('td')[9].outerText",
        "document.querySelector('').outerText",
        "document.querySelector('a[').nothing()",
        "document.querySelector('b').getAttribute('title').trim()",
        "document.querySelector('b').outerText.length()",
    ],
)
def test_what_fails_in_a_browser_gives_no_text(expression: str) -> None:
    assert evaluate_locator(expression, PAGE) == ""


@pytest.mark.parametrize(
    "expression",
    [
        "document.nothing()",
        "window.open('http://example.com')",
        "alert(1)",
        "document.querySelector('b').offsetWidth",
        "document.querySelector('b').outerText.normalize()",
        "document.querySelector('b').__class__.__mro__",
        "(" * 5000,
        "document." + "a" * 50_000,
        "document.querySelector(",
        "'unclosed",
        "while (true) {}",
        "",
    ],
)
def test_what_is_not_known_here_is_a_fault_and_no_empty_text(expression: str) -> None:
    with pytest.raises(EnvFault):
        evaluate_locator(expression, PAGE)


def test_live_contents_of_fields_come_before_those_of_the_page() -> None:
    field, box, choice = (PAGE.xpath(path)[0] for path in ("//textarea", "//input[@id='off']", "//select"))
    values = {field: "typed", box: "on", choice: "a"}
    assert evaluate_locator("document.querySelector('textarea').value", PAGE, values) == "typed"
    assert evaluate_locator("document.querySelector('#off').checked.toString()", PAGE, values) == "true"
    assert evaluate_locator("document.querySelector('#off').value", PAGE, values) == "7"
    assert evaluate_locator("document.querySelector('select').selectedIndex", PAGE, values) == "0"


class OtherStyles(TagStyles):
    """Bold text is hidden, everything else is inline."""

    def display(self, element: Any) -> str:
        return "none" if element.tag == "b" else "inline"


def test_style_sheets_decide_what_is_displayed() -> None:
    shown = evaluate_locator("document.querySelector('.x').outerText", PAGE, {}, OtherStyles())
    assert shown == "Hello world\n\nparagraph\n\ntail hidden"


@pytest.mark.parametrize(
    ("selector", "closed"),
    [
        ('[name="product[price]"', '[name="product[price]"]'),
        ("[name='x", "[name='x']"),
        ('input[name="a"]', 'input[name="a"]'),
        (".a[b", ".a[b]"),
    ],
)
def test_open_brackets_are_closed(selector: str, closed: str) -> None:
    assert close_brackets(selector) == closed


def test_what_cannot_be_read_is_said() -> None:
    with pytest.raises(UnreadableLocator, match="expected"):
        check_locator("document.querySelector('a'")


def test_what_is_chosen_now_is_checked() -> None:
    root = html.document_fromstring(
        "<select id=s><option>a<option selected>b</select><select id=t><option>c<option>d</select>"
        "<input type=checkbox name=x checked><input type=radio name=y value=1>"
    )
    first, second = root.iter("select")
    box, radio = root.iter("input")
    chosen = "[...document.querySelectorAll('{} option:checked')].map(e => e.value).join()"
    assert evaluate_locator(chosen.format("#s"), root) + evaluate_locator(chosen.format("#t"), root) == "bc"
    live = {first: "a", second: "d", box: "", radio: "on"}
    assert evaluate_locator(chosen.format("select"), root, live) == "a,d"
    assert evaluate_locator("document.querySelector('input:checked').name", root, live) == "y"


@pytest.mark.parametrize(
    ("locator", "why"),
    [
        ("document.querySelector('a').offsetHeight", "the property 'offsetHeight'"),
        ("document.querySelector('a:nonsense').value", "the CSS selector 'a:nonsense'"),
        ("[...document.querySelectorAll('a')].map(e => e.closest('b::before').value)", "the CSS selector 'b::before'"),
        ("window.location.href", "the name 'window'"),
        ("document.querySelector('a').outerText.match('x')", "the property 'match'"),
    ],
)
def test_what_cannot_be_run_is_refused_beforehand(locator: str, why: str) -> None:
    with pytest.raises(UnreadableLocator, match=re.escape(why)):
        check_locator(locator)
    check_locator("[...document.querySelectorAll('#a option:checked')].map(e => e.outerText.trim()).join(' ')")
