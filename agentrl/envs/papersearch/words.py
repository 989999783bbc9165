"""The words of the generated papers (`words.toml`), and how titles, abstracts and questions are put together."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from importlib.resources import files
from typing import NamedTuple

FACETS = ("object", "task", "method", "setting")
WORDINGS = 3  # of every concept
TRAITS = 24  # random bytes that decide how a paper is written
PER_FIELD, PER_FAMILY = 8, 4  # objects of a field; tasks, methods and settings of a family

Facets = Sequence[int]  # the number of an object, a task, a method and a setting


class Words(NamedTuple):
    """`words.toml`, read."""

    concepts: tuple[tuple[tuple[str, ...], ...], ...]  # of each facet, of each concept: its wordings
    fields: tuple[str, ...]
    venues: tuple[str, ...]
    tasks_of: tuple[tuple[int, ...], ...]  # of each field
    sentences: dict[str, list[str]]
    given: tuple[str, ...]
    family: tuple[str, ...]
    syllables: tuple[str, ...]
    digest: str


@lru_cache(1)
def words() -> Words:
    """The file of this package."""
    content = files("agentrl.envs.papersearch").joinpath("words.toml").read_bytes()
    data = tomllib.loads(content.decode())
    fields, names = list(data["fields"].values()), data["names"]
    tasks = {name: number for number, name in enumerate(data["tasks"])}
    concepts = (
        [wordings for field in fields for wordings in field["objects"]],
        list(data["tasks"].values()),
        *([each for family in data[kind] for each in family["wordings"]] for kind in ("methods", "settings")),
    )
    return Words(
        concepts=tuple(tuple(map(tuple, facet)) for facet in concepts),
        fields=tuple(field["name"] for field in fields),
        venues=tuple(field["venue"] for field in fields),
        tasks_of=tuple(tuple(tasks[name] for name in field["tasks"]) for field in fields),
        sentences=data["sentences"],
        **{kind: tuple(names[kind].split()) for kind in ("given", "family", "syllables")},
        digest=blake2b(content, digest_size=8).hexdigest(),
    )


def phrases(facets: Facets, wording: Sequence[int]) -> dict[str, str]:
    """What the slots of a sentence stand for: `o`, `m` and `a` (object, method, setting) and `p` (task on object)."""
    thing, task, method, setting = (
        words().concepts[facet][number][wording[facet] % WORDINGS] for facet, number in enumerate(facets)
    )
    return {"o": thing, "m": method, "a": setting, "p": task.format(o=thing)}


def coined_name(number: int) -> str:
    """The name of the system that paper `number` proposes."""
    syllables, rest = words().syllables, number * 1_000_003 + 77_777
    name = ""
    for _ in range(4):
        rest, place = divmod(rest, len(syllables))
        name += syllables[place]
    return name.capitalize()


def title(number: int, facets: Facets, traits: Sequence[int]) -> str:
    """The title of paper `number`."""
    return _filled(_pick("title", traits[4]), {**phrases(facets, traits), "n": coined_name(number)})


def abstract(number: int, facets: Facets, traits: Sequence[int]) -> str:
    """The abstract: problem, gap, idea, detail, often other names of the same things, result."""
    slots = {**phrases(facets, traits), "n": coined_name(number), "f": words().fields[facets[0] // PER_FIELD]}
    few, many = 2 + traits[13] % 17, 3 + traits[14] % 9
    slots |= {"k": str(few), "q": str(many), "w": str(few + many), "r": f"{traits[15] % 23 / 2 + 0.5:g}"}
    slots["x"] = f"{coined_name(traits[20] * 7)[:6]}-{traits[21]}"  # a collection of data
    kinds = ["opening", "gap", "idea", "detail", "result", "closing"]
    if traits[12] % 2:
        other = phrases(facets, [traits[facet] + 1 + traits[16 + facet] % 2 for facet in range(4)])
        slots |= {"m2": other["m"], "p2": other["p"]}
        kinds.insert(4 if traits[12] % 4 == 1 else 5, "again")
    if traits[11] % 3 == 0:
        kinds.remove("closing")
    adjectives, things = words().sentences["adjective"], words().sentences["thing"]
    sentences = []
    for place, kind in enumerate(kinds):
        slots["j"] = adjectives[(traits[22] + 7 * place) % len(adjectives)]
        slots["u"] = things[(traits[23] + 5 * place) % len(things)]
        sentences.append(_filled(_pick(kind, traits[5 + place]), slots))
    return " ".join(sentences)


def question(facets: Sequence[int | None], choice: int) -> str:
    """A question that asks for three of the four facets; `choice` decides how it is worded."""
    known = [0 if number is None else number for number in facets]
    kind = "question_object" if facets[1] is None else "question_setting" if facets[2] is None else "question"
    choice, template = divmod(choice, 64)
    return _filled(_pick(kind, template), phrases(known, [choice // WORDINGS**facet for facet in range(4)]))


def _pick(kind: str, number: int) -> str:
    of_kind = words().sentences[kind]
    return of_kind[number % len(of_kind)]


def _filled(template: str, slots: dict[str, str]) -> str:
    text = template.format_map(slots)
    return text[0].upper() + text[1:]
