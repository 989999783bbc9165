"""The home page: it leads to every site, calculates, and keeps notes."""

from __future__ import annotations

import pytest

from agentrl.envs.webarena.browsing.dom import DomBackend
from agentrl.envs.webarena.sites.home.site import LONGEST, calculated
from agentrl.envs.webarena.sites.places import PLACES
from agentrl.envs.webarena.sites.world import World

HOME = PLACES["homepage"].url


@pytest.mark.parametrize(
    ("expression", "result"),
    [("1 + 2 * 3", "7"), ("(12.5+3)*4", "62"), ("2^10", "1024"), ("0.1+0.2", "0.3"), ("-7 % 3", "-1"),
     ("1000000*1000000", "1000000000000"), ("10/4", "2.5")],
)  # fmt: skip
def test_the_calculator_calculates(expression: str, result: str) -> None:
    assert calculated(expression) == result


@pytest.mark.parametrize(
    "text",
    ["", "two", "1/0", "9**9**9", "1e400", "(" * 150, "__import__('os')", "True", "'a'*9", "1,000", "1;2", "\0",
     "(-8)**.5", "1+" * LONGEST + "1", "[1][0]", "\ud800"],
)  # fmt: skip
def test_what_is_no_arithmetic_is_told_from_it(text: str) -> None:
    assert calculated(text) == "This cannot be calculated"


def test_the_home_page_leads_to_every_other_site() -> None:
    backend = DomBackend(World())
    backend.start([HOME], {})
    links = {link.get("href") for link in backend.view().root.iter("a")}
    assert {place.url for place in PLACES.values()} - links == {HOME}


def test_notes_are_kept_while_other_sites_are_visited_and_gone_after_a_reset() -> None:
    world = World()
    backend = DomBackend(world)
    backend.start([f"{HOME}/scratchpad.html"], {})
    for note in ("Order 17: 20.50", "<b>later</b>", " "):
        view = backend.view()
        field = next(number for element, number in view.ids.items() if element.tag == "textarea")
        backend.type(field, note)
        backend.click(field + 1)
    backend.open(PLACES["map"].url)
    backend.open(f"{HOME}/scratchpad.html")
    assert [note.text for note in backend.view().root.iter("pre")] == ["<b>later</b>", "Order 17: 20.50"]
    world.clear()
    backend.open(f"{HOME}/scratchpad.html")
    assert not [*backend.view().root.iter("pre")]
