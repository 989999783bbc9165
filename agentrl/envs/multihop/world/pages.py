"""The pages of a world: what is true of each thing, in varied sentences, among others that no question asks about."""

from __future__ import annotations

from random import Random
from typing import Any

from agentrl.envs.multihop.world.graph import Entity, World
from agentrl.envs.multihop.world.relations import choose, relations_of, sentences, work_words

FILLS = (2, 3, 3, 4)  # sentences on a page that state no fact of the graph


def page_text(world: World, entity: Entity) -> str:
    """The text of a page, the same at every call."""
    rng = Random(f"page {world.seed} {entity.number}")
    fields, said = fields_of(entity), []
    for relation in relations_of(entity.kind):
        if relation.name in entity.facts:
            stated = world.entities[entity.facts[relation.name]].title
            line = choose(relation.says[int(rng.random() * len(relation.says))], rng.random)
            said.append(_filled(line, {**fields, "y": stated, "Y": stated}, world, rng))
    opens, fills = sentences(entity.kind)
    for line in rng.sample(fills, min(len(fills), rng.choice(FILLS))):
        said.append(_filled(choose(line, rng.random), fields, world, rng))
    rng.shuffle(said)
    opening = choose(rng.choice(opens), rng.random)
    return " ".join([_filled(opening, fields, world, rng), *said])


def fields_of(entity: Entity) -> dict[str, Any]:
    """What the sentences about a thing may mention of it."""
    he, his, him = ("he", "his", "him") if entity.kind == "person" else ("it", "its", "it")
    if entity.woman:
        he, his, him = "she", "her", "her"
    short = entity.short
    fields: dict[str, Any] = {"x": entity.title, "s": short, "S": short[0].upper() + short[1:], "noun": entity.noun}
    fields |= {"p": he, "P": he.capitalize(), "q": his, "Q": his.capitalize(), "o": him}
    fields["noun_a"] = f"{'an' if entity.noun[0] in 'aeio' else 'a'} {entity.noun}"
    fields |= {name: shown_number(name, value) for name, value in entity.values.items()}
    return fields | work_words().get(entity.noun, {})


def shown_number(name: str, value: int) -> str:
    """A number as pages write it."""
    return str(value) if name in ("year", "end") else f"{value:,}"


def _filled(line: str, fields: dict[str, Any], world: World, rng: Random) -> str:
    if "{m}" in line or "{n}" in line:
        other = world.entities[int(rng.random() * len(world.entities))]
        fields = {**fields, "m": other.title, "n": 3 + int(rng.random() * 400)}
    return line.format_map(fields)
