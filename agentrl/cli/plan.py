"""`agentrl plan`: what an asynchronous run would reach with other options, or on 8 to 256 GPUs."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from agentrl.cli.arguments import Common
from agentrl.cli.output import number, print_json, print_table
from agentrl.core.errors import ConfigError
from agentrl.rollout.paper_throughputs import SCALING, TABLE_4, errors_of
from agentrl.rollout.planning import Outcome, Pipeline, measured_loop, placed, propose, simulate


@dataclass(kw_only=True)
class Arguments(Common):
    """Simulate an asynchronous run by discrete events, from measured latencies.

    With RUN, the folder of a short asynchronous run: propose options for this machine, and say what would be the
    bottleneck. Without it: many GPUs, from the seconds that are given. Chance, communication between machines and work
    that slows other work on the same GPU down are left out.
    """

    run: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="RUN")] = ""
    """The folder of an asynchronous run with three updates or more."""
    step_seconds: float = 22.0
    """Of one step of all environments of a GPU (22 s: RL-VLA3's ManiSkill, 640 of them)."""
    generate_seconds: float = 9.0
    """Of answering all of them once."""
    update_seconds: float = 15.0
    """Of learning from one step of each, on one GPU."""
    envs: int = 640
    """Environments of a GPU that has simulators."""
    batches: int = 4
    """Batches that these are split into."""
    steps: int = 20
    """Steps of each environment in an update."""
    gpus: tuple[int, ...] = (8, 16, 32, 64, 128, 256)
    """Numbers of GPUs."""
    placement: Literal["colocated", "hybrid", "disaggregated"] = "colocated"
    """Simulators, generators and trainer on every GPU; one of the first two and the trainer; or training apart."""
    share: float = 0.75
    """Of the GPUs: those with simulators (hybrid), or that do not train (disaggregated)."""
    max_staleness: int = 2
    """Bound on staleness."""
    paper: bool = False
    """Fit to columns of RL-VLA3's tables 4 and 1, and show how far the others are predicted wrongly."""


def run(arguments: Arguments) -> int:
    """Print the plan."""
    if arguments.paper:
        return show_paper(arguments)
    return show_run(arguments) if arguments.run else show_gpus(arguments)


def facts(outcome: Outcome) -> dict[str, Any]:
    """As JSON."""
    return {
        "throughput": outcome.throughput,
        "utilisation": dict(outcome.utilisation),
        "bottleneck": outcome.bottleneck,
    }


def row(outcome: Outcome) -> list[str]:
    """Cells of a table."""
    shares = [f"{100 * share:.0f} %" for share in outcome.utilisation.values()]
    return [number(outcome.throughput), *shares, outcome.bottleneck]


COLUMNS = ("transitions/s", "simulators", "generators", "trainer", "bottleneck")


def show_gpus(arguments: Arguments) -> int:
    """Synchronous and asynchronous loops on every number of GPUs."""
    if not 0 < arguments.share < 1 or arguments.envs < arguments.batches or min(arguments.gpus, default=0) < 1:
        raise ConfigError("share must be between 0 and 1, envs at least batches, and gpus numbers of at least 1")
    envs = arguments.envs // arguments.batches
    one = Pipeline(
        batches=arguments.batches,
        envs=envs,
        step_seconds=arguments.step_seconds / arguments.batches,
        generate_base=0.0,
        generate_each=arguments.generate_seconds / arguments.envs,
        update_seconds=arguments.update_seconds * arguments.steps,
        steps=arguments.steps,
        simulators=1,
        max_staleness=arguments.max_staleness,
    )
    ways = {"sync": (False, False), "rollout": (True, False), "train": (False, True), "both": (True, True)}
    found = []
    for gpus in arguments.gpus:
        many = placed(one, gpus, arguments.placement, arguments.share)
        for name, (rollout, train) in ways.items():
            found.append((gpus, name, simulate(replace(many, rollout_async=rollout, train_async=train), 6)))
    if arguments.json:
        print_json({"schema": 1, "plans": [{"gpus": gpus, "way": way, **facts(one)} for gpus, way, one in found]})
    else:
        rows = [[str(gpus), way, *row(one)] for gpus, way, one in found]
        print_table(("GPUs", "asynchronous", *COLUMNS), rows, title=f"{arguments.placement}, simulated")
    return 0


def show_run(arguments: Arguments) -> int:
    """What a run has measured, what the simulation says of it, and better options."""
    from agentrl.viewer.run_data import read_config
    from agentrl.viewer.timeline import TIMELINE, read_timeline

    folder = Path(arguments.run)
    timeline, options = read_timeline(folder / TIMELINE), read_config(folder / "config.json").get("arguments", {})
    if timeline is None or not options.get("asynchronous"):
        raise ConfigError(f"{folder} holds no asynchronous run with a timeline")
    # The timeline is that of one process, which plays a share of the episodes.
    num_envs, generators = -(-int(options["num_envs"]) // timeline.processes), int(options["generators"])
    simulators, staleness = timeline.workers["simulators"], int(options["max_staleness"])
    shard = int(options["simulator_batch"]) or max(1, -(-num_envs // (2 * simulators)))
    batch = int(options["max_batch"]) or -(-num_envs // (2 * generators))
    given = {"num_envs": num_envs, "simulator_batch": shard, "max_batch": batch, "max_staleness": staleness}
    wait = float(options.get("max_wait_ms", 5.0))
    loop, measured, rate = measured_loop(timeline, **given, max_wait=math.inf if wait == -1 else wait / 1000)
    now = simulate(loop)
    crew = {"simulators": simulators, "generators": generators, "num_envs": num_envs, "max_staleness": staleness}
    better, outcome = propose(measured, **crew)[0]
    better = {**better, "num_envs": timeline.processes * better["num_envs"]}
    if arguments.json:
        print_json(
            {
                "schema": 1,
                "measured": {"throughput": rate, **asdict(measured)},
                "simulated": facts(now),
                "proposed": {**better, **facts(outcome)},
            }
        )
        return 0
    each = f" in each of {timeline.processes} processes" if timeline.processes > 1 else ""
    rows = [["measured", number(rate), "", "", "", ""], ["simulated", *row(now)], ["proposed", *row(outcome)]]
    print_table(("", *COLUMNS), rows, title=f"{folder}: {num_envs} slots{each}")
    words = " ".join(f"--{name.replace('_', '-')} {value:g}" for name, value in better.items())
    print(f"proposed: {words}")
    return 0


def show_paper(arguments: Arguments) -> int:
    """The paper's tables, fitted to some columns."""
    rows = [*errors_of(TABLE_4), *(one for table in SCALING for one in errors_of(table))]
    if arguments.json:
        print_json({"schema": 1, "columns": [one._asdict() for one in rows]})
    else:
        cells = [
            [one.table, one.column, number(one.measured), number(one.predicted), f"{100 * one.error:+.1f} %", one.role]
            for one in rows
        ]
        print_table(("table", "column", "measured", "simulated", "error", ""), cells)
    return 0
