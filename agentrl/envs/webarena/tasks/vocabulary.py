"""The words that templates of all sites are written in: what must be so at the end, where on a page, and which rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from random import Random
from typing import Any, TypeVar

from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Answer, On

Row = dict[str, Any]
T = TypeVar("T")


# ---------------------------------------------------------------------- the benchmark's `eval` objects


def said(*parts: object, without: Sequence[str] = ()) -> dict[str, Any]:
    """A text must say all parts and nothing else. `without`: what the instruction names and is not meant."""
    wanted = {"must_include": list(map(str, parts)), "nothing_else": True}
    return {**wanted, "must_exclude": list(without)} if without else wanted


def answer(*parts: object, without: Sequence[str] = ()) -> dict[str, Any]:
    """The answer must be such a text."""
    return {"eval_types": ["string_match"], "reference_answers": said(*parts, without=without)}


def ends_at(*urls: str, exact: bool = False) -> dict[str, Any]:
    """The agent must end at one of these addresses, or (unless `exact`) at one that contains it."""
    note = "EXACT" if exact else "GOLD in PRED"
    return {"eval_types": ["url_match"], "reference_url": " |OR| ".join(urls), "url_note": note}


def shows(*targets: tuple[str, str, str | Sequence[str] | dict[str, Any]]) -> dict[str, Any]:
    """Pages must look so: (address, locator, the exact text, a list of its parts or all requirements) each."""
    checks = []
    for url, locator, text in targets:
        parts = {"exact_match": text} if isinstance(text, str) else {"must_include": list(text)}
        checks.append({"url": url, "locator": locator, "required_contents": text if isinstance(text, dict) else parts})
    return {"eval_types": ["program_html"], "program_html": checks}


def both(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Both evaluations must pass."""
    kinds = dict.fromkeys((*first["eval_types"], *second["eval_types"]))
    targets = [*first.get("program_html", ()), *second.get("program_html", ())]
    return {**first, **second, "eval_types": list(kinds), **({"program_html": targets} if targets else {})}


def text_of(selector: str) -> str:
    """The locator of an element's visible text."""
    return f"document.querySelector('{selector}').outerText"


def value_of(selector: str) -> str:
    """The locator of a field's contents."""
    return f"document.querySelector('{selector}').value"


# ---------------------------------------------------------------------- solutions and rows


def done(url: str, when: Callable[[World], bool] | None = None) -> On:
    """The end of a solution where nothing is asked."""
    return On(url, [Answer()], when=when)


def in_turn(*parts: Sequence[On]) -> list[On]:
    """Solutions one after the other: each but the last ends with an `On` whose `when` says that it is done."""
    found = list(parts[-1])
    for *way, end in reversed(parts[:-1]):
        found += [replace(step, when=_unless(end.when, step.when)) for step in way]
    return found


def _unless(reached: Callable[[World], bool] | None, when: Callable[[World], bool] | None) -> Callable[[World], bool]:
    assert reached is not None
    return lambda world: not reached(world) and (when is None or when(world))


def exists(data: str, sql: str, *values: Any) -> Callable[[World], bool]:
    """Do the data of a site have such a row?"""
    return lambda world: world.database(data).value(sql, *values) is not None


def query(world: World, data: str, sql: str, *values: Any) -> list[Row]:
    """Rows of a site's data as dictionaries."""
    return [dict(row) for row in world.database(data).rows(sql, *values)]


def some(items: Iterable[T], key: str, count: int = 10**6) -> list[T]:
    """So many of the items, in an order that depends on nothing but the key."""
    found = list(items)
    return Random(key).sample(found, min(count, len(found)))
