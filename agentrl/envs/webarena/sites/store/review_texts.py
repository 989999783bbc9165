"""What customers write about. Every aspect of a product has sentences of praise and of complaint, so that a review says
something definite that can be asked for: who complains about the battery?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from agentrl.envs.webarena.sites.store.words import words

EVERYWHERE = "general"  # aspects of every category


@dataclass(frozen=True)
class Aspect:
    """One thing that people judge. `name` completes "reviewers who mention ..."; {noun} is the product's kind."""

    name: str
    praise: tuple[str, ...]
    complaint: tuple[str, ...]


@cache
def aspects(category: str, section: str) -> tuple[Aspect, ...]:
    """What is said about products of a category of the catalogue ("beauty") and a section of it ("Hair Care")."""
    listed = words("reviews.toml")["aspects"]
    fitting = [entry for entry in listed[category] if section in entry.get("where", (section,))]
    return tuple(
        Aspect(entry["name"], tuple(entry["praise"]), tuple(entry["complaint"]))
        for entry in (*fitting, *listed[EVERYWHERE])
    )


def complaints(category: str, section: str, kind: str, detail: str) -> list[str]:
    """The names of the aspects that a review of a product of this kind complains about."""
    return [
        aspect.name
        for aspect in aspects(category, section)
        if any(sentence.format(noun=kind) in detail for sentence in aspect.complaint)
    ]
