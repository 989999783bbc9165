"""The collection that an environment's arguments name: generated, or read from files of a public data set."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from typing import Any

from agentrl.core.arguments import one_of, optional_path, whole_number
from agentrl.core.cache import shared
from agentrl.core.env import SPLITS
from agentrl.core.errors import ConfigError
from agentrl.envs.common.search import kept_index
from agentrl.envs.common.search.build import progress_bar
from agentrl.envs.multihop.collection import Collection, Document, documents, kept_questions
from agentrl.envs.multihop.official import CUTS, Files, build_official
from agentrl.envs.multihop.world.asking import Asker
from agentrl.envs.multihop.world.graph import LARGEST, SMALLEST, VERSION, World
from agentrl.envs.multihop.world.pages import page_text
from agentrl.envs.multihop.world.relations import data_digest

KEPT = 4  # collections of a process
SHARES = {"train": 0.2, "dev": 0.025, "test": 0.025}  # questions for each page of the world
AMONG = 3  # first hits among which the clues of a question must bring up their page


def open_collection(pages: Any, seed: Any, questions: Any, corpus: Any, aliases: Any, cuts: Any) -> Collection:
    """The collection of an environment's arguments: one for each process, however many environments share it."""
    pages = whole_number("pages", pages, at_least=SMALLEST, at_most=LARGEST)
    seed = whole_number("world_seed", seed, at_least=0)
    one_of("cuts", cuts, CUTS)
    corpus, aliases = optional_path("corpus", corpus), optional_path("aliases", aliases)
    for name, value in (("corpus", corpus), ("aliases", aliases)):
        if value is not None and questions is None:
            raise ConfigError(f"{name} belongs to a file of questions; it needs questions")
    given = questions if isinstance(questions, Mapping) else {} if questions is None else {"": questions}
    for split, path in given.items():
        known = split in SPLITS or not isinstance(questions, Mapping)
        if not known or not isinstance(path, (str, os.PathLike)):
            raise ConfigError(
                f"questions must be a path, or a path for each of {', '.join(SPLITS)}; got {questions!r:.200}"
            )
    files = tuple(sorted((str(split), os.fspath(path)) for split, path in given.items()))
    return _opened(pages, seed, files, corpus, aliases, cuts)


@shared(KEPT)
def _opened(pages: int, seed: int, files: Files, corpus: str | None, aliases: str | None, cuts: str) -> Collection:
    made = build_official(files, corpus, aliases, cuts) if files else build_world(seed, pages)
    made.recipe = _opened, (pages, seed, files, corpus, aliases, cuts)
    return made


def build_world(seed: int, size: int) -> Collection:
    """The encyclopaedia of a seed and its questions."""
    fingerprint = f"world-{VERSION}-{data_digest()}-{seed}-{size}"
    folder = f"multihop/{fingerprint}"
    world = cache(lambda: World(seed, size))  # made at most once, and only if something of it is missing

    def write() -> list[Document]:
        return documents((entity.title, page_text(world(), entity)) for entity in world().entities)

    def finds(query: str, page: int) -> bool:
        return any(hit.number == page for hit in index.search(query, AMONG))

    def ask() -> dict[str, list]:
        asked = {}
        with progress_bar("asking questions, once") as progress:
            for done, split in enumerate(SPLITS):
                progress(f"split {split}", done, len(SPLITS))
                asked[split] = list(Asker(world(), split, finds).questions(round(SHARES[split] * size)))
        return asked

    index = kept_index(folder, write, f"writing an encyclopaedia of {size:,} pages, once", fingerprint=fingerprint)
    return Collection(folder, index, kept_questions(folder, ask))
