"""The next right action of a generated task, read off its solution wherever the agent is; and what an analysis groups
tasks by: the site, how much an instruction asks for, how many actions that takes."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from lxml.cssselect import CSSSelector

from agentrl.envs.webarena.acting.actions import Action, perform
from agentrl.envs.webarena.backend import ActionFailed, View
from agentrl.envs.webarena.browsing.dom import DomBackend
from agentrl.envs.webarena.sites.places import cookies
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.addresses import default_addresses, fill_in, resolve
from agentrl.envs.webarena.tasks.generated import Instance
from agentrl.envs.webarena.tasks.schema import task_from_json
from agentrl.envs.webarena.tasks.source import Found
from agentrl.envs.webarena.tasks.template import Act, Answer, Check, Choose, Click, Fill, Goto, On, Parameters, Switch

CLICKABLE = "a, button, input, select, textarea, summary, label"


def next_action(solution: Sequence[On], view: View, world: World, start_url: str) -> Action | None:
    """What the solution does on this page; on a page that it does not know, it goes back to the start. None where what
    should be there is not."""
    for step in reversed(solution):
        if _fits(step, view, world):
            pending = [act for act in step.acts if not _is_done(act, view)]
            return _action(pending[0], view) if pending else None
    return Action("goto", text=with_addresses(start_url.split(" |AND| ")[0]))


def _fits(step: On, view: View, world: World) -> bool:
    if not re.search(with_addresses(step.url, re.escape), view.url):
        return False
    if step.contains and step.contains not in _text(view.root):
        return False
    return step.when is None or step.when(world)


def with_addresses(text: str, quoted: Callable[[str], str] = str) -> str:
    """The text with the addresses of the embedded sites in place of the benchmark's placeholders."""
    return fill_in(text, {name: quoted(url) for name, url in default_addresses().items()})


def _is_done(act: Act, view: View) -> bool:
    """Is a field filled in already? A click or an answer never is: it leads elsewhere."""
    if isinstance(act, Fill):
        # Typing with Enter leads elsewhere as well.
        return not act.enter and any(view.values.get(field) == act.text for field in _found(act.selector, view)[:1])
    if isinstance(act, Choose):
        return any(_chosen_text(field, view) == act.option for field in _found(act.selector, view)[:1])
    if isinstance(act, Check):
        return any(bool(view.values.get(field)) == act.on for field in _found(act.selector, view)[:1])
    return False


def _action(act: Act, view: View) -> Action | None:
    if isinstance(act, Answer):
        return Action("exit", text=act.text)
    if isinstance(act, Goto):
        return Action("goto", text=with_addresses(act.url))
    if isinstance(act, Switch):
        return Action("tab_focus", number=act.tab)
    return _on_element(act, view)


def _on_element(act: Click | Fill | Choose | Check, view: View) -> Action | None:
    """The action on the first element that fits and can be acted on; scrolling there first."""
    fitting = [element for element in _found(act.selector, view) if _has_text(element, act)]
    for element in fitting:
        label = _label(element, view)
        if label is not None:
            return _with_label(act, label)
    return next((Action(_way_to(element, view)) for element in fitting if _way_to(element, view)), None)


def _with_label(act: Click | Fill | Choose | Check, label: int) -> Action:
    if isinstance(act, Fill):
        return Action("search" if act.enter else "type", element=label, text=act.text)
    if isinstance(act, Choose):
        return Action("select", element=label, text=act.option)
    return Action("click", element=label)


def _label(element: Any, view: View) -> int | None:
    """The id to click: the element's own, that of something inside it, or of what it is inside of."""
    if element in view.ids:
        return view.ids[element]
    inside = next((view.ids[child] for child in element.iter() if child in view.ids), None)
    if inside is not None:
        return inside
    return next((view.ids[parent] for parent in element.iterancestors() if parent in view.ids), None)


def _way_to(element: Any, view: View) -> str:
    """Which way to scroll to an element; empty where scrolling does not help."""
    box = view.boxes.get(element)
    if box is None:
        return ""
    if box.top + box.height > view.viewport[1] and view.scroll + view.viewport[1] < view.height:
        return "scroll_down"
    return "scroll_up" if box.top < 0 and view.scroll else ""


def _has_text(element: Any, act: Act) -> bool:
    wanted = act.text if isinstance(act, Click) else None
    return wanted is None or _text(element) == _squeezed(wanted)


def _chosen_text(field: Any, view: View) -> str:
    value = view.values.get(field, "")
    for option in field.iter("option"):
        if option.get("value", _text(option)) == value:
            return _text(option)
    return ""


def _found(selector: str, view: View) -> list[Any]:
    return _compiled(CLICKABLE if selector == "*" else selector)(view.root)


@lru_cache(maxsize=2_048)
def _compiled(selector: str) -> CSSSelector:
    return CSSSelector(selector, translator="html")


def _text(element: Any) -> str:
    return _squeezed("".join(element.itertext()))


def _squeezed(text: str) -> str:
    return " ".join(text.split())


MAX_ACTIONS = 100  # a solution that takes more is none
WISH = "wish"  # the field of an instruction that lists what stands under "options"
_lengths: dict[str, int | None] = {}  # of the solutions of this process's tasks, by id


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
    return max(1, min(sum(_weight(name, parameters) for name in _fields(intent)) for intent in intents))


def _fields(intent: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(intent) if name}


def _weight(name: str, parameters: Parameters) -> int:
    if name == WISH and "options" in parameters:
        return len(parameters["options"])
    return int(_says_something(parameters.get(name)))


def _says_something(value: Any) -> bool:
    return value is not None and str(value).strip() != ""


def solution_length(instance: Instance) -> int | None:
    """How many actions the solution takes from the start, the last one included. Played once, in a world of its own,
    which takes about as long as the pages on its way."""
    if instance.id not in _lengths:
        _lengths[instance.id] = _played(instance)
    return _lengths[instance.id]


def _played(instance: Instance) -> int | None:
    task, world = resolve(task_from_json(instance.official())), World()
    backend = DomBackend(world)
    try:
        backend.start(task.start_url.split(" |AND| "), cookies(task.sites))
        return _actions(instance, backend, world)
    finally:
        backend.close()
        world.close()


def _actions(instance: Instance, backend: DomBackend, world: World) -> int | None:
    solution = instance.template.solution(instance.parameters)
    for count in range(1, MAX_ACTIONS + 1):
        action = next_action(solution, backend.view(), world, instance.start_url)
        if action is None or action.ends:
            return None if action is None else count
        try:
            perform(action, backend)
        except ActionFailed:
            return None
    return None
