"""The next right action of a generated task, read off its solution wherever the agent is; and what an analysis groups
tasks by: the site, how much an instruction asks for, how many actions that takes."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

from lxml.cssselect import CSSSelector

from agentrl.core.cache import on_forget
from agentrl.envs.webarena.acting.actions import Action, perform
from agentrl.envs.webarena.backend import ActionFailed, Backend, View
from agentrl.envs.webarena.browsing.dom import DomBackend
from agentrl.envs.webarena.evaluators.evaluate import missing
from agentrl.envs.webarena.layout.document import option_value
from agentrl.envs.webarena.sites.places import cookies
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.addresses import default_addresses, fill_in, resolve
from agentrl.envs.webarena.tasks.generated import Instance, Joined
from agentrl.envs.webarena.tasks.schema import task_from_json
from agentrl.envs.webarena.tasks.source import Found
from agentrl.envs.webarena.tasks.template import (
    Act,
    Answer,
    Check,
    Choose,
    Click,
    Fill,
    Goto,
    On,
    Parameters,
    Reveal,
    Switch,
)

CLICKABLE = "a, button, input, select, textarea, summary, label"
AROUND = ("a", "button", "select", "label", "summary")  # a click on these is one on what is inside
MAX_ACTIONS = 100  # a solution that takes more is none
WISH = "wish"  # the field of an instruction that lists what stands under "options"
_lengths: dict[str, int | None] = {}  # of the solutions of this process's tasks, by id
on_forget.append(_lengths.clear)


def right_action(instance: Instance | Joined, backend: Backend, world: World, dialect: str) -> Action | None:
    """The next action of the first part of a task that the pages do not show as done already, or of the last."""
    *earlier, last = instance.parts
    undone = (part for part in earlier if missing(resolve(task_from_json(part.official())), backend, dialect))
    part = next(undone, last)
    return next_action(part.template.solution(part.parameters), backend.view(), world, part.start_url)


def next_action(solution: Sequence[On], view: View, world: World, start_url: str) -> Action | None:
    """What the solution does on this page; on a page that it does not know, it goes back to the start. None where what
    should be there is not."""
    for step in reversed(solution):
        if (
            re.search(with_addresses(step.url, re.escape), view.url)
            and (not step.contains or step.contains in text_of(view.root))
            and (step.when is None or step.when(world))
        ):
            act = next((act for act in step.acts if not _is_done(act, view)), None)
            return None if act is None else _action(act, view)
    return Action("goto", text=with_addresses(start_url.split(" |AND| ")[0]))


def with_addresses(text: str, quoted: Callable[[str], str] = str) -> str:
    """The text with the addresses of the embedded sites in place of the benchmark's placeholders."""
    return fill_in(text, {name: quoted(url) for name, url in default_addresses().items()})


def _is_done(act: Act, view: View) -> bool:
    """Is a field filled in already, or a panel shown? A click or an answer never is: it leads elsewhere, and so does
    Enter."""
    if isinstance(act, Reveal):
        return any(element in view.boxes for element in _found(act.shows, view))
    if not isinstance(act, Fill | Choose | Check) or (isinstance(act, Fill) and act.enter):
        return False
    field = next(iter(_found(act.selector, view)), None)
    if field is None:
        return False
    value = view.values.get(field)
    if isinstance(act, Fill):
        return value == act.text
    if isinstance(act, Check):
        return bool(value) == act.on
    shown = (text_of(option) for option in field.iter("option") if option_value(option) == (value or ""))
    return next(shown, "") == act.option


def _action(act: Act, view: View) -> Action | None:
    if isinstance(act, Answer):
        return Action("exit", text=act.text)
    if isinstance(act, Goto):
        return Action("goto", text=with_addresses(act.url))
    if isinstance(act, Switch):
        return Action("tab_focus", number=act.tab)
    if isinstance(act, Reveal) and act.by in ("wait", "scroll_down"):
        return Action(act.by)
    fitting = _found(act.selector, view)
    if isinstance(act, Click | Reveal) and act.text is not None:
        wanted = " ".join(act.text.split())
        fitting = [element for element in fitting if text_of(element) == wanted]
    for element in fitting:
        # The id of the element itself, of something inside it, or of what it is inside of.
        nodes = chain(element.iter(), element.iterancestors(*AROUND))
        label = next((view.ids[node] for node in nodes if node in view.ids), None)
        if label is not None:
            if isinstance(act, Fill):
                return Action("search" if act.enter else "type", element=label, text=act.text)
            if isinstance(act, Choose):
                return Action("select", element=label, text=act.option)
            return Action(act.by if isinstance(act, Reveal) else "click", element=label)
    for element in fitting:  # none can be acted on here: scroll to the first that scrolling leads to
        box = view.boxes.get(element)
        if box is not None:
            if box.top + box.height > view.viewport[1] and view.scroll + view.viewport[1] < view.height:
                return Action("scroll_down")
            if box.top < 0 and view.scroll:
                return Action("scroll_up")
    return None


def _found(selector: str, view: View) -> list[Any]:
    return _compiled(CLICKABLE if selector == "*" else selector)(view.root)


@lru_cache(2_048)
def _compiled(selector: str) -> CSSSelector:
    return CSSSelector(selector, translator="html")


def text_of(element: Any) -> str:
    """All that stands in an element, with single spaces."""
    return " ".join("".join(element.itertext()).split())


def about(found: Found) -> dict[str, Any]:
    """The entries of `AgentEnv.about_task`; what is not known of a task is left out."""
    told: dict[str, Any] = {"group": " + ".join(found.task.sites)}
    if found.instance is None:
        stated = found.task.instantiation_dict
        return told if stated is None else {**told, "complexity": max(1, sum(map(_says_something, stated.values())))}
    parts = found.instance.parts
    told["complexity"] = sum(requirements(part.template.intents, part.parameters) for part in parts)
    steps = [solution_length(part) for part in parts]  # going to the second site replaces the end of the first part
    known = [length for length in steps if length is not None]
    return told if len(known) < len(steps) else {**told, "steps": sum(known)}


def requirements(intents: Sequence[str], parameters: Parameters) -> int:
    """How many of a task's parameters its instruction states, at least 1. The shortest wording counts, because others
    may name the same thing twice: by its name and by its number."""
    counts = []
    for intent in intents:
        names = {name for _, name, _, _ in string.Formatter().parse(intent) if name}
        count = sum(_says_something(parameters.get(name)) for name in names)
        if WISH in names and "options" in parameters:
            count += len(parameters["options"]) - _says_something(parameters.get(WISH))
        counts.append(count)
    return max(1, min(counts))


def _says_something(value: Any) -> bool:
    return value is not None and str(value).strip() != ""


def solution_length(instance: Instance) -> int | None:
    """How many actions the solution takes from the start, the last one included. Played once, in a world of its own,
    which takes about as long as the pages on its way."""
    if instance.id in _lengths:
        return _lengths[instance.id]
    task, world = resolve(task_from_json(instance.official())), World()
    backend, length = DomBackend(world), None
    try:
        backend.start(task.start_url.split(" |AND| "), cookies(task.sites))
        solution = instance.template.solution(instance.parameters)
        for count in range(1, MAX_ACTIONS + 1):
            action = next_action(solution, backend.view(), world, instance.start_url)
            if action is None or action.ends:
                length = None if action is None else count
                break
            try:
                perform(action, backend)
            except ActionFailed:
                break
    finally:
        backend.close()
        world.close()
    _lengths[instance.id] = length
    return length
