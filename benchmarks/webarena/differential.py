"""Random walks on both back ends at once: how much of what an agent sees in Chromium is the same without a browser.

python -m benchmarks.webarena.differential [--walks N] [--steps N]
"""

from __future__ import annotations

import argparse
import random
import sys
from dataclasses import dataclass, field
from typing import Any

from agentrl.envs.webarena.acting.actions import Action
from agentrl.envs.webarena.acting.grammars import write
from agentrl.envs.webarena.backend import View
from agentrl.envs.webarena.browsing.forms import can_type
from agentrl.envs.webarena.env import WebArenaLiteEnv
from agentrl.envs.webarena.layout.document import option_text, options_of

EDGE = 24  # pixels: what lies closer to the edge of the viewport may be in sight in one back end alone
WORDS = ("tea", "lamp", "a & b <c>", "2", "Émile")
_SHOWN = 5  # differences


@dataclass
class Report:
    """What came of the walks. A page is what both back ends show after the same action."""

    pages: int = 0
    exact: int = 0  # the observations are equal to the letter
    equal: int = 0  # the same elements, texts and results, apart from those at the edge
    differences: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        share = max(self.pages, 1) / 100
        lines = [
            f"{self.pages} pages: {self.exact} equal exactly ({self.exact / share:.1f} %), {self.equal} equal apart "
            f"from elements within {EDGE} px of the edge ({self.equal / share:.1f} %)"
        ]
        return "\n".join([*lines, *self.differences[:_SHOWN]])


def compare(walks: int, steps: int = 5, seed: int = 0, mode: str = "simplified") -> Report:
    """Walk at random from the start pages of tasks of all sites."""
    envs = [
        WebArenaLiteEnv(backend=backend, observation_mode=mode, action_format="browsergym")
        for backend in ("dom", "browser")
    ]
    report = Report()
    try:
        tasks = envs[0].tasks()
        for number in range(walks):
            task = tasks[(number * len(tasks)) // walks]
            _walk(envs, task, steps, random.Random(seed * 1_000_003 + number), report)
    finally:
        for env in envs:
            env.close()
    return report


def _walk(envs: list[WebArenaLiteEnv], task: str, steps: int, generator: random.Random, report: Report) -> None:
    results = [env.reset(options={"task": task}) for env in envs]
    done = [f"reset {task}"]
    _judge(envs, [str(observation["text"]) for observation, _ in results], [(), ()], done, report)
    for _ in range(steps):
        action = choose(envs[0].backend.view(), envs[1].backend.view(), generator)
        done.append(write(action, envs[0].action_format))
        stepped = [env.step(done[-1]) for env in envs]
        outcomes = [(info["valid"], info["effective"], info["feedback"], info["url"]) for *_, info in stepped]
        _judge(envs, [str(one[0]["text"]) for one in stepped], outcomes, done, report)


def choose(one: View, other: View, generator: random.Random) -> Action:
    """Something that can be done in both views; elements are named by their order."""
    count = min(len(one.labels), len(other.labels))
    kind = generator.random()
    if kind < 0.12 or not count:
        return Action(generator.choice(["scroll_down", "scroll_down", "scroll_up", "back"]))
    if kind < 0.2:
        return Action("keyboard_type", text=generator.choice(WORDS))
    if kind < 0.32:
        return Action("click", point=(generator.randrange(one.viewport[0]), generator.randrange(one.viewport[1])))
    element = generator.randrange(count)
    label = one.labels[element]
    if can_type(label):
        text = generator.choice(WORDS)
        return Action(generator.choice(["type", "search"]), element=element, text=text)
    if label.tag == "select":
        return Action("select", element=element, text=option_text(generator.choice(options_of(label))))
    return Action("click", element=element)


def _judge(envs: list[WebArenaLiteEnv], texts: list[str], outcomes: list[Any], done: list[str], report: Report) -> None:
    report.pages += 1
    report.exact += texts[0] == texts[1]
    views = [env.backend.view() for env in envs]
    seen = [
        (outcome, inner(view), env.world.changes()) for env, view, outcome in zip(envs, views, outcomes, strict=True)
    ]
    if seen[0] == seen[1]:
        report.equal += 1
    else:
        report.differences.append(f"{' / '.join(done)}\n    {_first_difference(seen)}")


def inner(view: View) -> list[tuple[Any, ...]]:
    """The elements of a view that are not at its edge: tag, own texts, contents, can it be acted on?"""
    labels = set(view.labels)
    return [
        (element.tag, _own_text(element), view.values.get(element), element in labels)
        for element in view.root.iter("*")
        if _is_inner(view, element)
    ]


def _is_inner(view: View, element: Any) -> bool:
    box = view.boxes.get(element)
    if box is None or not box.width or not box.height:
        return False
    x, y = box.left + box.width / 2, box.top + box.height / 2
    return EDGE <= x < view.viewport[0] - EDGE and EDGE <= y < view.viewport[1] - EDGE


def _own_text(element: Any) -> str:
    texts = [element.text or "", *(child.tail or "" for child in element)]
    return " ".join(" ".join(texts).split())


def _first_difference(seen: list[tuple[Any, ...]]) -> str:
    for name, one, other in zip(("result", "elements", "data"), *seen, strict=True):
        if one != other and name == "elements":
            place = next((n for n, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
            place = min(len(one), len(other)) if place is None else place
            return f"element {place}: dom {one[place : place + 2]} browser {other[place : place + 2]}"
        if one != other:
            return f"{name}: dom {one!r:.300} browser {other!r:.300}"
    return ""


def main() -> int:
    """Print the report; 1 if a page differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--walks", type=int, default=200)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    report = compare(arguments.walks, arguments.steps, arguments.seed)
    print(report)
    return int(report.equal < report.pages)


if __name__ == "__main__":
    sys.exit(main())
