"""Expressions of task files that ask for ever more: each ends at once, with little memory and an error of its own."""

from __future__ import annotations

import json
import time
import tracemalloc
from functools import lru_cache

import gymnasium as gym
import pytest
from lxml import html

from agentrl.core.errors import ConfigError, EnvFault
from agentrl.envs.webarena.evaluators.locators import evaluate_locator

WEB = "agentrl/WebArenaLite-Text-v0"
ALL = "document.querySelectorAll('*')"
DOUBLED = "(a=>[...a,...a])"
TWICE = "(a=>[a,a])"
JOINED = "(a=>a+a)"


def nested(function: str, times: int, start: str) -> str:
    """A function applied to its own result."""
    return function + "(" + f"{function}(" * (times - 1) + start + ")" * times


def looped(depth: int, body: str = "1") -> str:
    """Loops over all elements, one in another."""
    return f"{ALL}.map(x => " * depth + body + ")" * depth


BOMBS = [
    # Lists and texts that double, written out and by functions of functions.
    *(nested(DOUBLED, times, "[1]") for times in (25, 30, 40)),
    *(nested(TWICE, times, "[1]") for times in (25, 40, 60)),
    *(nested(JOINED, times, "'aaaaaaaa'") for times in (25, 30, 40)),
    *(f"{nested(TWICE, times, '[1]')}.join('')" for times in (25, 40)),
    *(f"({nested(TWICE, times, '[1]')}) + ''" for times in (25, 40)),
    *(f"{nested(TWICE, times, '[1]')} == {nested(TWICE, times, '[1]')}" for times in (25, 40)),
    *(f"{nested(TWICE, 30, '[1]')}.includes({nested(TWICE, 30, '[1]')})" for _ in range(1)),
    *(f"(f=>f(f(f(f(f('{'a' * size}'))))))(a=>a.replaceAll('a','aaaaaaaaa').replaceAll('','bbbb'))" for size in (1, 9)),
    *("(t=>f=>f(f(f(f(f(f(t)))))))('a')(t=>[...t].map(x=>t).join(t))" for _ in range(1)),
    "(a=>a.split('').map(b=>a.split('').map(c=>a).join('')).join(''))('" + "a" * 300 + "')",
    "(a=>a.replaceAll('',a))((a=>a.replaceAll('',a))((a=>a.replaceAll('',a))('" + "a" * 300 + "')))",
    # Loops.
    *(looped(depth) for depth in (2, 3, 4, 6)),
    looped(2, "document.documentElement.outerText"),
    looped(2, "document.body.innerHTML"),
    looped(2, "document.getElementById('none')"),
    looped(2, "document.title"),
    looped(2, "x.textContent"),
    looped(2, "document.querySelectorAll('p')"),
    looped(1, "document.querySelectorAll('div > div p, table td')"),
    f"{ALL}.filter(x => {ALL}.find(y => {ALL}.includes(3)))",
    "(f=>f(f))(f=>f(f))",
    "(f=>[f(f),f(f)])(f=>[f(f),f(f)])",
    "(f=>(a,b)=>f(f))(f=>f(f))(1,2)",
    # Selectors.
    *(f"document.querySelectorAll('{selector}')" for selector in (
        "* " * 240, "*>" * 240 + "*", "*~" * 240 + "*", ":not(" * 90 + "a" + ")" * 90, "* " * 5000,
        ":nth-child(2n+1)" * 28, "*:nth-last-of-type(2n+1) ~ " * 15 + "*", "[a]" * 160,
    )),
    "document.querySelectorAll((a=>a+a)((a=>a+a)('" + "* " * 4000 + "')))",
    # Long ones.
    "document." + "a." * 9000 + "b",
    "[" * 9000 + "]" * 9000,
    "!" * 19000 + "1",
    "(" * 9000 + "1" + ")" * 9000,
    "1" * 19000,
    "[" + "1," * 9000 + "]",
    "((" + ",".join(f"a{n}" for n in range(2500)) + f") => {looped(1)})(1)",
]  # fmt: skip


@lru_cache(1)
def page():
    """As many elements as a long page of the sites."""
    rows = "".join(f"<tr><td>cell {n}</td><td><a href='/{n}'>link</a></td></tr>" for n in range(500))
    return html.document_fromstring(f"<title>t</title><div><div><p>text</p></div></div><table>{rows}</table>")


def outcome(expression: str) -> str:
    """What became of it: a text, or the name of the error."""
    try:
        return f"text of {len(evaluate_locator(expression, page()))}"
    except EnvFault as fault:
        return type(fault).__name__


@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.long)])
def test_bombs_end_below_a_second_and_200_megabytes(record_property, every) -> None:
    longest = largest = 0.0
    page()
    for bomb in BOMBS[::every]:
        started = time.process_time()
        outcome(bomb)
        took = time.process_time() - started
        tracemalloc.start()  # makes it several times slower
        outcome(bomb)
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        assert took < 1 and peak < 200, (bomb[:200], took, peak)
        longest, largest = max(longest, took), max(largest, peak)
    record_property(
        "figures",
        f"threat 19: {len(BOMBS[::every])} bombs in expressions and locators, each below {longest:.2f} s of CPU and "
        f"{largest:.0f} MB",
    )
    assert len(BOMBS) >= 50


def test_honest_expressions_are_far_from_the_limit() -> None:
    expression = "[...document.querySelectorAll('tr')].map(e => e.outerText.trim() + e.children.length).join('|')"
    assert evaluate_locator(expression, page()).count("|") == 499
    expression = "[...document.querySelectorAll('td')].filter(e => e.outerText.includes('cell 49')).length"
    assert evaluate_locator(expression, page()) == "11"


TASK = {"intent": "Look.", "sites": ["reddit"], "start_url": "__REDDIT__"}


def target(**changes: object) -> dict[str, object]:
    """A task whose evaluator looks at a page."""
    place = {"url": "last", "locator": "", "required_contents": {"must_include": ["x"]}, **changes}
    return {**TASK, "eval": {"eval_types": ["program_html"], "program_html": [place]}}


@pytest.mark.parametrize(
    ("task", "why"),
    [
        ({**TASK, "start_url": "http://[::1"}, "cannot be opened"),
        ({**TASK, "start_url": "javascript:alert(1)"}, "cannot be opened"),
        ({**TASK, "start_url": "__REDDIT__ |AND| file:///etc/passwd"}, "cannot be opened"),
        ({**TASK, "start_url": "http://forum.localhost:99999999/"}, "cannot be opened"),
        (target(url="http://[::1"), "cannot be opened"),
        (target(url="func:exec('x')"), "must be one of"),
        (target(locator="func:reddit_get_post_url(1 + 1)"), "must be texts"),
        (target(locator="document.querySelector('a'"), "expected"),
        (target(locator="document.title", prep_actions=["while (true) {}"]), "unexpected"),
        (target(locator="lambda: (x"), "expected"),
    ],
)
def test_what_cannot_work_is_said_when_a_task_file_is_loaded(tmp_path, task, why) -> None:
    (tmp_path / "tasks.json").write_text(json.dumps([TASK, task]))
    with pytest.raises(ConfigError, match=f"task 1 of .*tasks.json: .*{why}"):
        gym.make(WEB, task_file=str(tmp_path / "tasks.json"))
