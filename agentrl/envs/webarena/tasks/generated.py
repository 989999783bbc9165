"""The generated tasks: every instance of every template, divided into splits.

Instances of a template are divided by what they are about (their first parameter): a thing of the test split is never
asked about in training, by any template. Held-out templates are in the test split altogether.
"""

from __future__ import annotations

import hashlib
import logging
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from agentrl.core.cache import builder_lock, cache_dir, write_atomically
from agentrl.core.files import read_regular
from agentrl.core.slow import notify_if_slow
from agentrl.envs.webarena.sites.places import PLACES, base_file
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Parameters, Template

log = logging.getLogger(__name__)
MODULES = ("shop", "admin", "forum", "code", "map", "across")
SHARES = (("train", 0.7), ("dev", 0.8), ("test", 1.0))  # cumulated
MAX_COUNT = {"train": 120, "dev": 20, "test": 40}  # instances of a template, so that none crowds out the others
COMMONEST = 0.2  # share of a template's tasks that may have the same answer; an even share of fewer than five answers
NOVELTIES = ("data", "template", "skill")
MARK = "+"  # between the ids of two tasks in one
WORDS = "Do two things. First: {} Second: {}"


@cache
def templates() -> dict[str, Template]:
    """All templates by name."""
    found: dict[str, Template] = {}
    for module in MODULES:
        for template in import_module(f"agentrl.envs.webarena.tasks.templates.{module}").TEMPLATES:
            if template.name in found:
                raise ValueError(f"two templates are called {template.name}")
            found[template.name] = template
    return found


def novelty(template: Template) -> str:
    """What is new about a template's test tasks: only the data, the template as well, or even the skill."""
    if not template.held_out:
        return "data"
    trained = {other.skill for other in templates().values() if not other.held_out}
    return "template" if template.skill in trained else "skill"


@dataclass(frozen=True)
class Instance:
    """One generated task."""

    id: str  # template and number: "shop-price-of-product.17"; "~2" behind it for another wording
    template: Template
    parameters: Parameters = field(repr=False)
    wording: int = 0  # which of the template's intents

    @property
    def parts(self) -> tuple[Instance, ...]:
        """What is to be done one after the other: this alone."""
        return (self,)

    @property
    def steps(self) -> int:
        """How many actions the solution takes, without scrolling."""
        return sum(len(step.acts) for step in self.template.solution(self.parameters))

    @property
    def start_url(self) -> str:
        """Addresses with placeholders, one for each tab."""
        return self.template.start or " |AND| ".join(PLACES[name].placeholder for name in self.template.sites)

    def official(self) -> dict[str, Any]:
        """The task as an object of the benchmark's schema."""
        intent, values = self.template.intents[self.wording], dict(self.parameters)
        return {
            "task_id": self.id,
            "sites": list(self.template.sites),
            "require_login": True,
            "storage_state": None,
            "start_url": self.start_url,
            "geolocation": None,
            "intent_template": intent,
            "intent_template_id": self.template.name,
            "instantiation_dict": values,
            "intent": intent.format(**values),
            "require_reset": False,
            "eval": self.template.evaluation(self.parameters),
        }


def own_wording(task_id: str, template: Template) -> int:
    """The intent that an instance has by default."""
    return _number(task_id, 2**32) % len(template.intents)


@cache
def generated_ids(split: str, sites: tuple[str, ...] = (), only: tuple[str, ...] = ()) -> Sequence[str]:
    """The ids of a split; with `sites`, of tasks that need no other site; with `only`, of these templates."""
    found: list[str] = []
    for name, numbers in instances_of(split).items():
        if (not sites or set(templates()[name].sites) <= set(sites)) and (not only or name in only):
            found += [f"{name}.{number}" for number in _drawn(name, numbers, MAX_COUNT[split])]
    return tuple(found)


def _drawn(name: str, numbers: Sequence[int], count: int) -> list[int]:
    """So many instances of a template at most, with their answers in turn, so that no guess is right often."""
    ranks: dict[int, tuple[int, int]] = {}  # how many of those before it have the same answer, and the lot it draws
    seen: Counter[str] = Counter()
    for lot, number in sorted((_number(f"{name}|{number}", 2**32), number) for number in numbers):
        asked = str(templates()[name].check(_all_parameters()[name][number]).get("reference_answers", number))
        ranks[number] = seen[asked], lot
        seen[asked] += 1
    drawn = sorted(ranks, key=ranks.__getitem__)[:count]
    sizes = Counter(ranks[number][0] for number in drawn)  # rank -> how many answers there are so often
    share = max(COMMONEST, 1 / sizes[0])
    most = len(sizes)  # times that an answer may be right
    while most > max(1, math.ceil(share * sum(sizes[rank] for rank in range(most)))):
        most -= 1
    return sorted(number for number in drawn if ranks[number][0] < most)


def find_generated(task_id: str) -> Instance | None:
    """The task with this id, of whatever split."""
    plain, mark, wording = task_id.partition("~")
    name, _, number = plain.rpartition(".")
    rows = _all_parameters().get(name, ())
    if not _is_number(number, len(rows)):
        return None
    template = templates()[name]
    own = own_wording(plain, template)
    if not mark:
        return Instance(task_id, template, rows[int(number)], own)
    if not _is_number(wording, len(template.intents)) or int(wording) == own:  # its own wording has a shorter id
        return None
    return Instance(task_id, template, rows[int(number)], int(wording))


def _is_number(text: str, below: int) -> bool:
    """Is it a whole number from 0, as Python writes it?"""
    return text.isascii() and text.isdecimal() and str(int(text[:9])) == text and int(text) < below


@cache
def instances_of(split: str) -> Mapping[str, Sequence[int]]:
    """All instances of a split by template, also those that `generated_ids` leaves out to keep templates balanced."""
    found = {
        name: [number for number, row in enumerate(rows) if split_of(templates()[name], row) == split]
        for name, rows in _all_parameters().items()
    }
    return {name: numbers for name, numbers in found.items() if numbers}


def split_of(template: Template, parameters: Parameters) -> str:
    """Where an instance belongs."""
    if template.held_out:
        return "test"
    place = _number(str(next(iter(parameters.values()), "")), 2**32) / 2**32
    return next(split for split, end in SHARES if place < end)


def _number(text: str, below: int) -> int:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % below


# ---------------------------------------------------------------------- two tasks as one


@dataclass(frozen=True)
class Joined:
    """Two instances as one task: first a change on one site, then anything on another one.

    The sites have different data, so that neither part can disturb the other, and the first is evaluated by what pages
    show once it is done. So both evaluators together are an exact evaluator of the whole.
    """

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
        return Template(name, sites, skill, (), lambda world: (), lambda row: self._evaluation(), lambda row: ())

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
    if len(sites) != 2 or PLACES[sites[0]].data == PLACES[sites[1]].data:
        return None
    return Joined(first, second) if _is_lasting(first) else None


def _is_lasting(first: Instance) -> bool:
    """Can it be seen on pages later that it was done, wherever the agent is then?"""
    evaluation = first.template.evaluation(first.parameters)
    addresses = [target["url"] for target in evaluation.get("program_html") or ()]
    return list(evaluation["eval_types"]) == ["program_html"] and not any("last" in url for url in addresses)


@cache
def joined_ids(split: str, count: int, sites: tuple[str, ...] = (), only: tuple[str, ...] = ()) -> Sequence[str]:
    """So many tasks in two parts, fewer where there are no more: a fixed draw, evenly over the pairs of templates."""
    own: dict[str, list[str]] = {}
    for task in sorted(generated_ids(split, sites, only), key=lambda task: _number(task, 2**64)):
        own.setdefault(task.partition(".")[0], []).append(task)
    firsts = [[task for task in tasks if (one := find_generated(task)) and _is_lasting(one)] for tasks in own.values()]
    pairs = [(f"{one[0]}{MARK}{two[0]}", one, two) for one in firsts if one for two in own.values()]
    lots = sorted((_number(name, 2**64), one, two) for name, one, two in pairs if find_task_or_joined(name))
    drawn = (
        # All combinations, neighbours without a part in common; pairs of templates begin at places of their own.
        one[(lot + turn) % len(one)] + MARK + two[(lot + turn + turn // math.lcm(len(one), len(two))) % len(two)]
        for turn in range(max((len(one) * len(two) for _, one, two in lots), default=0))
        for lot, one, two in lots
        if turn < len(one) * len(two)
    )
    return tuple(islice(drawn, count))


# ---------------------------------------------------------------------- all instances, kept in the cache


@cache
def _all_parameters() -> Mapping[str, Sequence[Parameters]]:
    """Template -> instances. Listing them takes some seconds of queries, so they are kept on disk."""
    path = cache_dir() / "webarena" / f"tasks-{_fingerprint()}.json"
    if (found := _read(path)) is not None:
        return found
    with builder_lock(path):
        if (found := _read(path)) is not None:
            return found
        with notify_if_slow("agentrl: listing the tasks of the web sites; kept in the cache afterwards"):
            world = World()
            try:
                listed = {name: list(template.parameters(world)) for name, template in templates().items()}
            finally:
                world.close()
        body = msgspec.json.encode(listed)
        try:
            write_atomically(path, hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
        except OSError as error:  # read-only home, full disk: slower next time, not broken now
            log.warning("cannot cache %s: %s", path, error)
    return msgspec.json.decode(body, type=dict[str, list[dict[str, Any]]])


def _read(path: Path) -> dict[str, list[dict[str, Any]]] | None:
    try:
        digest, _, body = read_regular(path).partition(b"\n")
    except OSError:
        return None
    if hashlib.sha256(body).hexdigest().encode() != digest:
        log.warning("%s is damaged; listing the tasks again", path)
        return None
    return msgspec.json.decode(body, type=dict[str, list[dict[str, Any]]])


def _fingerprint() -> str:
    """Changes with the templates and with the data they ask about."""
    digest = hashlib.blake2b(digest_size=8)
    for source in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(source.read_bytes())
    for data in sorted({PLACES[site].data for template in templates().values() for site in template.sites}):
        digest.update(base_file(data).name.encode())
    return digest.hexdigest()
