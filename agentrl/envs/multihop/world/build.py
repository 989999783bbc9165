"""The embedded collection: pages and questions of a world, made once and kept in the cache."""

from __future__ import annotations

from functools import cache

from agentrl.core.cache import cache_dir
from agentrl.core.env import SPLITS
from agentrl.envs.common.search import RepairingIndex
from agentrl.envs.common.search.build import progress_bar
from agentrl.envs.multihop.collection import Collection, kept_questions
from agentrl.envs.multihop.world.asking import Asker
from agentrl.envs.multihop.world.graph import VERSION
from agentrl.envs.multihop.world.pages import Pages
from agentrl.envs.multihop.world.relations import data_digest

SHARES = {"train": 0.2, "dev": 0.025, "test": 0.025}  # questions for each page of the world
AMONG = 3  # first hits among which the clues of a question must bring up their page


def build_world(seed: int, size: int) -> Collection:
    """The encyclopaedia of a seed and its questions."""
    fingerprint = f"world-{VERSION}-{data_digest()}-{seed}-{size}"
    folder = f"multihop/{fingerprint}"
    pages = cache(lambda: Pages(seed, size))  # made at most once, and only if something of it is missing
    with progress_bar(f"writing an encyclopaedia of {size:,} pages, once") as progress:
        index = RepairingIndex(cache_dir() / folder, pages, fingerprint=fingerprint, processes=1, progress=progress)

        def ask() -> dict[str, list]:
            def finds(query: str, page: int) -> bool:
                return any(hit.number == page for hit in index.search(query, AMONG))

            asked = {}
            for done, split in enumerate(SPLITS):
                progress(f"asking questions of split {split}", done, len(SPLITS))
                asked[split] = list(Asker(pages().world, split, finds).questions(round(SHARES[split] * size)))
            return asked

        questions = kept_questions(folder, ask)
    return Collection(folder, index, questions)
