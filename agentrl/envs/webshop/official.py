"""The benchmark's own catalogue, from files that its users have: `items_shuffle*.json` and the two that go with it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial
from hashlib import blake2b
from pathlib import Path

import msgspec
import numpy as np

from agentrl.core.arguments import whole_number
from agentrl.core.cache import builder_lock, cache_dir
from agentrl.core.errors import ConfigError
from agentrl.envs.common.catalogue.product import Product, listing_note
from agentrl.envs.webshop.goals import Goal, Goals, Split, known_split
from agentrl.envs.webshop.official_store import SHUFFLE_SEED, Facts, GoalKind, Sources, Store, convert, is_whole

VERSION = 2  # raise it with every change of what a store holds
BENCHMARK_CUTS: dict[Split, slice] = {"test": slice(500), "dev": slice(500, 1500), "train": slice(1500, None)}
PREFIXES = {"products": "items_shuffle", "annotations": "items_ins_v2", "human": "items_human_ins"}


class OfficialCatalogue:
    """The products and goals in a folder of the benchmark's files, by the benchmark's rules.

    The files are read once, as a stream, and converted into a store in the cache. Skipped, and counted by reason in
    `facts.skipped`, is what the benchmark skips (repeated and unusable ids, instructions without attributes) and what
    would stop it: a row without a name, say. An empty name or category is neither. Two things differ from the
    benchmark, both on purpose: the price of a product with a price range, and the limits of goals, are decided by
    (seed, asin), where it draws them anew in every process; and no product stands in two splits. The test split of
    human goals is the benchmark's, goal by goal.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        goals: GoalKind = "human",
        limit: int | None = None,
        seed: int = 0,
        products: str | None = None,
    ) -> None:
        if goals not in ("human", "synthetic"):
            raise ConfigError(f'goals must be "human" or "synthetic"; got {goals!r}')
        if limit is not None:
            limit = whole_number("limit", limit, at_least=1)
        self._arguments = {"goals": goals, "limit": limit, "seed": seed, "products": products}
        self._folder = Path(folder)
        self.seed = whole_number("seed", seed, at_least=0)
        self._sources = _sources(self._folder, goals, limit, self.seed, products)
        # A store is named by where its sources are and when they were last written: hashing gigabytes takes minutes.
        named = (self._sources.products, self._sources.annotations, self._sources.human)
        files = [Path(name) for name in named if name]
        states = [(str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
        key = blake2b(msgspec.json.encode([VERSION, states, self._sources]), digest_size=12).hexdigest()
        path = cache_dir() / "webshop" / f"official-{key}.sqlite"
        if not is_whole(path):
            with builder_lock(path):
                if not is_whole(path):  # another process may have built it meanwhile
                    convert(self._sources, path)
        self._store = Store(path)

    def __reduce__(self) -> tuple:
        return partial(OfficialCatalogue, **self._arguments), (str(self._folder),)

    def __repr__(self) -> str:
        return f"OfficialCatalogue({str(self._folder)!r}, {len(self)} products)"

    @property
    def facts(self) -> Facts:
        """How much was read and what was skipped."""
        return self._store.facts

    def summary(self) -> str:
        """One line: how much was read from which file, and what was skipped for which reason."""
        facts, name = self.facts, Path(self._sources.products).name
        skipped = ", ".join(f"{count:,} x {reason}" for reason, count in facts.skipped.items()) or "nothing"
        return f"{name}: {facts.products:,} products and {facts.goals:,} goals; skipped: {skipped}"

    @property
    def fingerprint(self) -> str:
        """Changes with the products read; goals and prices are not part of what is indexed."""
        key = f"official|{VERSION}|{self.facts.digests['products']}|{self._arguments['limit']}|{len(self)}"
        return f"official-{len(self)}-{blake2b(key.encode(), digest_size=8).hexdigest()}"

    def __len__(self) -> int:
        return self.facts.products

    def product(self, index: int) -> Product:
        """Product number `index`."""
        return self._store.product(self._checked(index))

    def docid(self, index: int) -> str:
        """The id of product number `index`."""
        return self._store.docid(self._checked(index))

    def entry(self, index: int) -> tuple[str, str, str]:
        """Id, indexed text and listing of product number `index`, read only once."""
        product = self.product(index)
        return product.asin, product.document(), listing_note(product.title, product.price_tag)

    def find(self, asin: str) -> Product | None:
        """The product with this id, in either case of letters, or None."""
        number = self._store.number(asin)
        return None if number is None else self._store.product(number)

    def goals(self, split: str, cuts: str = "products", shuffle_seed: int | None = SHUFFLE_SEED) -> OfficialGoals:
        """The goals of one split, read one by one as they are asked for.

        By default no product has goals in two splits. `cuts="benchmark"` are the benchmark's own: of all goals,
        shuffled with `shuffle_seed` (None: in the order of the files), the first 500 are test, the next 1,000 dev and
        the rest train. `cuts="none"` puts all of them into every split.
        """
        chosen = known_split(split)
        if cuts == "products":
            return OfficialGoals(self._store, chosen, self._store.order(chosen))
        order = shuffled(self.facts.goals, shuffle_seed)
        return OfficialGoals(self._store, chosen, order[BENCHMARK_CUTS[chosen]] if cuts == "benchmark" else order)

    def _checked(self, index: int) -> int:
        if not 0 <= index < len(self):
            raise IndexError(f"product {index} of a catalogue of {len(self)}")
        return index


class OfficialGoals(Goals):
    """The goals of one split, in the benchmark's order."""

    def __init__(self, store: Store, split: Split, order: Sequence[int]) -> None:
        self._store, self.split, self._order = store, split, order

    def __len__(self) -> int:
        return len(self._order)

    def weights(self) -> np.ndarray:
        """How likely each goal is when goals are drawn by weight, relative to the others."""
        return self._store.weights()[np.array(self._order, dtype=np.int64)]

    def goal(self, place: int) -> Goal:
        """Read from the store."""
        number, weight, raw = self._store.goal(self._order[place])
        product = self._store.product(number)
        return Goal(
            id=f"{self.split}-{place}",
            asin=product.asin,
            instruction=raw.instruction,
            query=product.query,
            title=product.title,
            category=product.category,
            category_path=product.category_path,
            attributes=raw.attributes,
            options=raw.options,
            price_upper=raw.price_upper,
            weight=weight,
            family=product.asin,
            reference_query=product.title.lower(),
        )


def shuffled(count: int, seed: int | None) -> list[int]:
    """The numbers up to `count` as the benchmark shuffles its goals; in order without a seed."""
    order = list(range(count))
    if seed is not None:
        random.Random(seed).shuffle(order)
    return order


def _sources(folder: Path, goals: GoalKind, limit: int | None, seed: int, products: str | None) -> Sources:
    """The files to read; those that belong to a products file have the same ending ("_1000") or none."""
    if not folder.is_dir():
        raise ConfigError(f"folder must hold the benchmark's files; there is no folder {folder}")
    if products is not None:
        if not (items := folder / products).is_file() or Path(products).name != products:
            raise ConfigError(f"products must be the name of a file in {folder}; got {products!r}")
    else:
        prefix = PREFIXES["products"]
        found = sorted(folder.glob(f"{prefix}*.json"))
        whole = [path for path in found if path.stem == prefix]
        if len(whole or found) != 1:
            names = ", ".join(path.name for path in found) or "none"
            raise ConfigError(f"{folder} must hold one {prefix}*.json ({names} found); name it with products=")
        items = (whole or found)[0]
    ending = items.stem.removeprefix(PREFIXES["products"])
    annotations = _belonging(folder, PREFIXES["annotations"], ending)
    human = _belonging(folder, PREFIXES["human"], ending) if goals == "human" else None
    return Sources(str(items), str(annotations), None if human is None else str(human), seed, goals, limit)


def _belonging(folder: Path, prefix: str, ending: str) -> Path:
    for name in (f"{prefix}{ending}.json", f"{prefix}.json"):
        if (folder / name).is_file():
            return folder / name
    found = sorted(folder.glob(f"{prefix}*.json"))
    if len(found) != 1:
        raise ConfigError(f"{folder} must hold {prefix}{ending}.json as well")
    return found[0]
