"""Two generated tasks as one: first a change on one site, then anything on another one.

The parts are on sites with different data, so that neither can disturb the other, and the first is evaluated by what
pages show once it is done. So both evaluators together are an exact evaluator of the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agentrl.envs.webarena.sites.places import PLACES
from agentrl.envs.webarena.tasks.generated import Instance, find_generated
from agentrl.envs.webarena.tasks.template import Parameters, Template

MARK = "+"
WORDS = "Do two things. First: {} Second: {}"


@dataclass(frozen=True)
class Joined:
    """Two instances, done one after the other; see `Instance`."""

    first: Instance
    second: Instance

    @property
    def id(self) -> str:
        """The ids of both."""
        return f"{self.first.id}{MARK}{self.second.id}"

    @property
    def parts(self) -> tuple[Instance, Instance]:
        """What is to be done one after the other."""
        return self.first, self.second

    @property
    def steps(self) -> int:
        """How many actions the solutions take, without scrolling; going to the other site replaces the first end."""
        return self.first.steps + self.second.steps

    @property
    def start_url(self) -> str:
        """The tabs of both."""
        return " |AND| ".join(part.start_url for part in self.parts)

    @cached_property
    def template(self) -> Template:
        """Both templates as one, for names: instances of it are not listed, and the parts have the solutions."""
        one, two = self.first.template, self.second.template
        sites = tuple(dict.fromkeys((*one.sites, *two.sites)))
        name, skill = f"{one.name}{MARK}{two.name}", f"{one.skill}{MARK}{two.skill}"
        return Template(name, sites, skill, (), lambda world: (), lambda given: self._evaluation(), _no_solution)

    def official(self) -> dict[str, Any]:
        """The task as an object of the benchmark's schema."""
        one, two = (part.official() for part in self.parts)
        return {
            **two,
            "task_id": self.id,
            "sites": list(self.template.sites),
            "start_url": self.start_url,
            "intent_template": WORDS,
            "intent_template_id": self.template.name,
            "instantiation_dict": {},
            "intent": WORDS.format(one["intent"], two["intent"]),
            "eval": self._evaluation(),
        }

    def _evaluation(self) -> dict[str, Any]:
        one, two = (part.template.evaluation(part.parameters) for part in self.parts)
        kinds = list(dict.fromkeys((*two["eval_types"], "program_html")))
        targets = [*one["program_html"], *(two.get("program_html") or ())]
        return {**two, "eval_types": kinds, "program_html": targets}


def find_task_or_joined(task_id: str) -> Instance | Joined | None:
    """The generated task with this id, of whatever split."""
    first, mark, second = task_id.partition(MARK)
    if not mark:
        return find_generated(task_id)
    one, two = find_generated(first), find_generated(second)
    return joined(one, two) if one is not None and two is not None else None


def joined(first: Instance, second: Instance) -> Joined | None:
    """Both as one; None where their evaluators cannot be put together."""
    sites = (*first.template.sites, *second.template.sites)  # of two-site tasks the solutions count tabs
    if len(sites) != 2 or PLACES[sites[0]].data == PLACES[sites[1]].data or not _is_lasting(first):
        return None
    return Joined(first, second)


def _is_lasting(instance: Instance) -> bool:
    """Can it be seen on pages later that this was done, wherever the agent is then?"""
    evaluation = instance.template.evaluation(instance.parameters)
    addresses = [target["url"] for target in evaluation.get("program_html") or ()]
    return list(evaluation["eval_types"]) == ["program_html"] and not any("last" in url for url in addresses)


def _no_solution(given: Parameters) -> Sequence[Any]:
    return ()
