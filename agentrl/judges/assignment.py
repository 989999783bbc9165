"""One-to-one pairing of claims with truths that earns the most credit."""

from __future__ import annotations

import numpy as np


def best_total(credits: list[list[float]]) -> float:
    """The largest sum of entries with at most one from each row and each column of a matrix of numbers from 0 up.

    The Hungarian algorithm with potentials: rows are assigned one by one along shortest augmenting paths, in
    O(rows^2 columns) steps of which the inner ones are numpy's. The total does not depend on the order of the rows.
    """
    costs = -np.array(credits, np.float64)
    if costs.shape[0] > costs.shape[1]:
        costs = costs.T
    rows, columns = costs.shape
    row_potential, column_potential = np.zeros(rows), np.zeros(columns + 1)
    owner = np.full(columns + 1, -1)  # of each column; the last one is the start of every path
    for row in range(rows):
        owner[columns], column = row, columns
        distance, before = np.full(columns + 1, np.inf), np.full(columns + 1, columns)
        visited = np.zeros(columns + 1, bool)
        while owner[column] != -1:
            visited[column] = True
            current = owner[column]
            reduced = costs[current] - row_potential[current] - column_potential[:columns]
            closer = ~visited[:columns] & (reduced < distance[:columns])
            distance[:columns][closer], before[:columns][closer] = reduced[closer], column
            column = int(np.argmin(np.where(visited[:columns], np.inf, distance[:columns])))
            step = distance[column]
            row_potential[owner[visited]] += step
            column_potential[visited] -= step
            distance[~visited] -= step
        while column != columns:
            owner[column], column = owner[before[column]], before[column]
    assigned = np.flatnonzero(owner[:columns] >= 0)
    return float(-costs[owner[assigned], assigned].sum())
