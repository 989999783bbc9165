"""The generated papers as arrays: what each is about, when it appeared, who wrote it, what it cites.

Only whole numbers, divisions and square roots are used, which are the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from agentrl.envs.papersearch.words import PER_FIELD, TRAITS, words

FIRST_YEAR, YEARS = 1999, 27
ROUNDS = 4 * YEARS  # papers of one quarter do not cite each other
AUTHORS, MOST_REFERENCES = 5, 99
# Where references go: shares of (same problem and method, same problem, same object, same method in the field, same
# field, anywhere).
SHARES = (0.02, 0.16, 0.24, 0.22, 0.24, 0.12)

Arrays = dict[str, np.ndarray]


def draw_papers(seed: int, size: int, report: Callable[[str, int, int], None] = lambda *_: None) -> Arrays:
    """`size` papers in the order of their appearance."""
    rng = np.random.default_rng([seed, size])
    facets = _facets(rng, size)
    moments = np.sqrt((np.arange(size) + 0.5) / size)  # from 0 to 1: as many papers a year as years have passed
    field = facets[:, 0] // PER_FIELD
    people = rng.integers(0, 400, (size, AUTHORS)) * len(words().fields) + field[:, None]  # 400 in each field
    people[rng.random((size, AUTHORS)) > np.array([1, 0.9, 0.7, 0.5, 0.3])] = -1
    citing, cited = _citations(rng, facets, moments, report)
    return {
        "facets": facets.astype(np.uint8),
        "years": (FIRST_YEAR + np.floor(YEARS * moments)).astype(np.uint16),
        "traits": rng.integers(0, 256, (size, TRAITS), np.uint8),
        "people": people.astype(np.int16),
        **citation_arrays(citing, cited, np.arange(size)),
    }


def citation_arrays(citing: np.ndarray, cited: np.ndarray, moments: np.ndarray) -> Arrays:
    """Pairs, ordered by who cites, as lists: what each paper cites, and by which it is cited, the newest first."""
    newest_first = np.lexsort((-moments[citing], cited))
    return {
        "references": cited.astype(np.int32),
        "reference_ends": np.cumsum(np.bincount(citing, minlength=len(moments))),
        "citations": citing[newest_first].astype(np.int32),
        "citation_ends": np.cumsum(np.bincount(cited, minlength=len(moments))),
    }


def _facets(rng: np.random.Generator, size: int) -> np.ndarray:
    """Object, task, method and setting of each paper. Some objects are studied more than others, and each object has
    tasks, methods and settings that it is usually studied with."""
    objects, _, methods, settings = (len(concepts) for concepts in words().concepts)
    thing = _drawn(rng, 1 / (rng.permutation(objects)[None] + 8), np.zeros(size, int))
    tasks_of = np.array(words().tasks_of)
    columns = [thing]
    for count, flatness in ((tasks_of.shape[1], 2), (methods, 0), (settings, 0)):
        ranks = np.argsort(rng.random((objects, count)), axis=1) + 1.0
        columns.append(_drawn(rng, 1 / (flatness + ranks * np.sqrt(ranks)), thing))
    columns[1] = tasks_of[thing // PER_FIELD, columns[1]]
    return np.stack(columns, axis=1)


def _drawn(rng: np.random.Generator, weights: np.ndarray, row: np.ndarray) -> np.ndarray:
    """For each entry of `row` a column of that row of `weights`, by weight."""
    bounds = np.cumsum(weights, axis=1)
    places = rng.random(len(row)) * bounds[row, -1]
    return np.minimum((places[:, None] >= bounds[row]).sum(axis=1), weights.shape[1] - 1)


def _citations(
    rng: np.random.Generator, facets: np.ndarray, moments: np.ndarray, report: Callable[[str, int, int], None]
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (citing, cited), ordered. In each round papers cite earlier ones of a circle, with chances that grow with
    the citations these have already (preferential attachment)."""
    size = len(facets)
    thing, task, method, _ = facets.T.astype(np.int64)
    field, problem = thing // PER_FIELD, thing * 64 + task
    circles = [_Circle(key) for key in (problem * 64 + method, problem, thing, field * 64 + method, field, thing * 0)]
    wanted = 5 + np.floor(12 / (0.08 + rng.random(size)) - 10).astype(int)
    wanted = np.clip(wanted, 3, MOST_REFERENCES)
    merit = 1 + np.floor(1 / (0.02 + rng.random(size))).astype(np.int64)  # some papers are simply better
    weights, cited_so_far = np.zeros(size, np.int64), np.zeros(size, np.int64)
    pairs: list[np.ndarray] = []
    bounds = np.searchsorted(moments, np.arange(1, ROUNDS + 1) / ROUNDS)
    start = 0
    for number, stop in enumerate(bounds.tolist()):
        report("citing", number + 1, ROUNDS)
        citing = np.repeat(np.arange(start, stop), wanted[start:stop])
        circle = np.searchsorted(np.cumsum(SHARES[:-1]), rng.random(len(citing)), side="right")
        found = []
        for place, each in enumerate(circles):
            mine = citing[circle == place]
            cited, some = each.draw(rng, weights, mine)
            found.append(mine[some] * size + cited)
        pairs.append(np.unique(np.concatenate(found)))
        cited_so_far += np.bincount(pairs[-1] % size, minlength=size)
        weights[:stop] = 4 * merit[:stop] + cited_so_far[:stop]
        start = stop
    every = np.concatenate(pairs)
    return every // size, every % size


class _Circle:
    """Papers that share something, each group side by side."""

    def __init__(self, key: np.ndarray) -> None:
        self._order = np.argsort(key, kind="stable")
        in_order = key[self._order]
        self._first = np.searchsorted(in_order, key)
        self._last = np.searchsorted(in_order, key, side="right")

    def draw(self, rng: np.random.Generator, weights: np.ndarray, papers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A paper of the same group for each of these, by weight, and which of them have any."""
        sums = np.concatenate(([0], np.cumsum(weights[self._order])))
        low, high = sums[self._first[papers]], sums[self._last[papers]]
        some = high > low
        places = rng.integers(low[some], high[some])
        return self._order[np.searchsorted(sums, places, side="right") - 1], some
