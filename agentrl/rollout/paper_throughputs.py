"""Throughputs that RL-VLA3's paper reports, and how well the simulation of `planning` predicts some from the others.

The paper gives no seconds of its stages. Three columns fix the three of a loop (a step, an answer, an update); the
others are then predictions. Nothing in columns of one number of GPUs tells what communication costs with more, so more
GPUs are predicted without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from agentrl.rollout.planning import Pipeline, Placement, fit, placed, simulate, with_seconds

STEPS = 20  # of an update; only the product with the seconds of an update counts


@dataclass(frozen=True)
class Column:
    """A column of a table: how many batches of environments a GPU with simulators has, what is asynchronous."""

    name: str
    throughput: float
    batches: int
    rollout_async: bool = False
    train_async: bool = False
    gpus: int = 8
    fitted: bool = False


@dataclass(frozen=True)
class Table:
    """Columns of one model and simulator; `envs` of a GPU that has simulators."""

    name: str
    placement: Placement
    envs: int
    columns: Sequence[Column]


class Compared(NamedTuple):
    """One column, measured and simulated."""

    table: str
    column: str
    measured: float
    predicted: float
    error: float
    role: str


def _columns(gpus: int, throughputs: Sequence[float]) -> list[Column]:
    ways = (("baseline", False, False), ("rollout async", True, False), ("both", True, True))
    return [
        Column(f"{gpus} GPUs, {name}", value, 2, rollout, train, gpus, fitted=gpus == 8)
        for (name, rollout, train), value in zip(ways, throughputs, strict=True)
    ]


TABLE_4 = Table(
    "4: GR00T N1.5, colocated",
    "colocated",
    32,
    (
        Column("1 batch, baseline", 217.27, 1, fitted=True),
        Column("2 batches, baseline", 242.30, 2),
        Column("2 batches, rollout async", 297.38, 2, True),
        Column("2 batches, both", 349.01, 2, True, True),
        Column("4 batches, baseline", 240.13, 4),
        Column("4 batches, rollout async", 344.47, 4, True, fitted=True),
        Column("4 batches, both", 423.39, 4, True, True, fitted=True),
    ),
)
SCALING = (
    Table(
        "1a: pi 0.5, hybrid",
        "hybrid",
        32,
        [
            *_columns(8, (162.75, 229.68, 383.40)),
            *_columns(16, (307.84, 441.49, 713.38)),
            *_columns(32, (457.23, 737.46, 1120.91)),
        ],
    ),
    Table(
        "1b: OpenVLA-OFT, hybrid",
        "hybrid",
        32,
        [
            *_columns(8, (144.35, 242.29, 376.31)),
            *_columns(16, (249.66, 397.19, 569.88)),
            *_columns(32, (472.33, 748.98, 989.22)),
        ],
    ),
)


def errors_of(table: Table) -> list[Compared]:
    """Every column, with the seconds that the fitted ones give."""
    shapes = [shape(table, column) for column in table.columns]
    pairs = list(zip(table.columns, shapes, strict=True))
    total = table.envs / (table.columns[0].throughput / 8)  # seconds of a round, to begin with
    seconds = fit(
        [one for column, one in pairs if column.fitted],
        [column.throughput for column in table.columns if column.fitted],
        (0.4 * total, 0.4 * total / table.envs, 0.2 * total * STEPS),
    )
    found = []
    for column, one in pairs:
        predicted = simulate(with_seconds(one, seconds)).throughput
        role = "fitted" if column.fitted else "predicted"
        error = predicted / column.throughput - 1
        found.append(Compared(table.name, column.name, column.throughput, predicted, error, role))
    return found


def shape(table: Table, column: Column) -> Pipeline:
    """The loop of a column, without its seconds."""
    one = Pipeline(
        batches=column.batches,
        envs=table.envs // column.batches,
        step_seconds=1.0,
        generate_base=0.0,
        generate_each=1.0,
        update_seconds=1.0,
        steps=STEPS,
        rollout_async=column.rollout_async,
        train_async=column.train_async,
    )
    return placed(one, column.gpus, table.placement)
