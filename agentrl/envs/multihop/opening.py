"""The collection that an environment's arguments name: generated, or read from files of a public data set."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from agentrl.core.arguments import whole_number
from agentrl.core.cache import cache_dir
from agentrl.core.env import SPLITS
from agentrl.core.errors import ConfigError
from agentrl.envs.multihop.collection import Collection
from agentrl.envs.multihop.official import CUTS, build_official
from agentrl.envs.multihop.world.build import build_world
from agentrl.envs.multihop.world.graph import LARGEST, SMALLEST

KEPT = 4  # collections of a process


@dataclass(frozen=True)
class Source:
    """Where pages and questions come from."""

    pages: int
    seed: int
    questions: tuple[tuple[str, str], ...] = ()  # split, or "" for all splits, and file
    corpus: str | None = None
    aliases: str | None = None
    cuts: str = "hash"

    @classmethod
    def checked(cls, pages: Any, seed: Any, questions: Any, corpus: Any, aliases: Any, cuts: Any) -> Source:
        """The arguments of an environment, checked without looking at any file."""
        pages = whole_number("pages", pages, at_least=SMALLEST, at_most=LARGEST)
        seed = whole_number("world_seed", seed, at_least=0)
        if cuts not in CUTS:
            raise ConfigError(f"cuts must be one of {', '.join(CUTS)}; got {cuts!r}")
        for name, value in (("corpus", corpus), ("aliases", aliases)):
            if value is not None and not isinstance(value, (str, os.PathLike)):
                raise ConfigError(f"{name} must be a path or None; got {value!r}")
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
        corpus, aliases = (None if value is None else os.fspath(value) for value in (corpus, aliases))
        return cls(pages, seed, files, corpus, aliases, cuts)


_lock = threading.Lock()


def open_collection(source: Source) -> Collection:
    """One for each process, however many environments share it."""
    with _lock:
        return _open(source, str(cache_dir()))


@lru_cache(maxsize=KEPT)
def _open(source: Source, cache: str) -> Collection:
    if not source.questions:
        return build_world(source.seed, source.pages)
    return build_official(source.questions, source.corpus, source.aliases, source.cuts)
