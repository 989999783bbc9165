"""`Template`: a kind of task with thousands of instances, each with an exact evaluator and a solution.

A solution is a list of `On`: what to do on which page. From any page, the last `On` that fits the page decides, and of
its actions the first that is not done yet. So it needs no memory and works from wherever an agent went.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentrl.envs.webarena.sites.world import World

Parameters = Mapping[str, Any]


@dataclass(frozen=True)
class Click:
    """Click what matches: a CSS selector, a text (of the element, compared without surrounding space), or both."""

    selector: str = "*"
    text: str | None = None


@dataclass(frozen=True)
class Fill:
    """Type into a field; done when it holds the text. With `enter`, Enter is pressed in the same action."""

    selector: str
    text: str
    enter: bool = False


@dataclass(frozen=True)
class Choose:
    """Choose an option of a <select> by its text; done when it is chosen."""

    selector: str
    option: str


@dataclass(frozen=True)
class Check:
    """Tick a check box or radio button (or clear it); done when it is."""

    selector: str
    on: bool = True


@dataclass(frozen=True)
class Reveal:
    """Let the page show what it does not show by itself; done when `shows` is displayed. `by` is "click", "hover" or
    "right_click", on what matches `selector` and `text`, or "wait", "scroll_down"."""

    shows: str
    by: str = "wait"
    selector: str = "*"
    text: str | None = None


@dataclass(frozen=True)
class Goto:
    """Open an address (with a placeholder such as `__SHOPPING__`); for what no link leads to."""

    url: str


@dataclass(frozen=True)
class Switch:
    """Go to another of the open tabs; a task on two sites starts with one tab for each."""

    tab: int


@dataclass(frozen=True)
class Answer:
    """End the episode with this answer ("" where nothing was asked)."""

    text: str = ""


Act = Click | Fill | Choose | Check | Reveal | Goto | Switch | Answer


@dataclass(frozen=True)
class On:
    """What to do on pages whose address matches `url` (a regular expression, searched in the whole address, with
    placeholders such as `__SHOPPING__` for the sites) and whose text contains `contains`; `when` may look at the data
    of the episode."""

    url: str
    acts: Sequence[Act]
    contains: str = ""
    when: Callable[[World], bool] | None = None


@dataclass(frozen=True)
class Template:
    """A kind of task.

    `parameters` lists all instances as JSON-able dictionaries, from the base data, in a fixed order. The first entry of
    each is what the task is about (a product, a project): instances about one thing never come into two splits.
    `intents` are `str.format` strings over the entries. `check` gives the benchmark's `eval` object and may use the
    placeholders.
    """

    name: str  # "shop-cheapest-in-category": site first
    sites: tuple[str, ...]  # names of the benchmark: shopping, shopping_admin, reddit, gitlab, map
    skill: str  # what must be mastered; templates that need the same share it
    intents: tuple[str, ...]
    parameters: Callable[[World], Iterable[dict[str, Any]]]
    check: Callable[[Parameters], dict[str, Any]]
    solution: Callable[[Parameters], Sequence[On]]
    start: str = ""  # address with placeholders; empty: the home pages of the sites
    held_out: bool = False  # all instances belong to the test split; others are split by their data

    def evaluation(self, row: Parameters) -> dict[str, Any]:
        """The `eval` object of an instance. Tasks of the code host write out the fields that they do not use, as the
        benchmark's files do, and those of the forum the address."""
        wanted = self.check(row)
        if self.sites == ("gitlab",):
            return {"reference_url": "", "program_html": [], **wanted}
        return {"reference_url": "", **wanted} if "reddit" in self.sites and "program_html" in wanted else wanted


def template(
    name: str,
    sites: tuple[str, ...],
    skill: str,
    intents: tuple[str, ...],
    check: Callable[[Parameters], dict[str, Any]],
    solution: Callable[[Parameters], Sequence[On]],
    held_out: bool = False,
) -> Callable[[Callable[[World], Iterable[dict[str, Any]]]], Template]:
    """Makes a template of the function that lists its instances."""
    return lambda parameters: Template(name, sites, skill, intents, parameters, check, solution, held_out=held_out)
