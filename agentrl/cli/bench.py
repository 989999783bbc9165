"""`agentrl bench NAME`: speed, ours and the peers', in one run."""

from __future__ import annotations

import inspect
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass, fields
from typing import Annotated, Any

import tyro

from agentrl.cli.arguments import Common
from agentrl.cli.output import log, print_json, print_table, verdict, waiting
from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.core.family import load
from agentrl.core.measure import CHECKOUT, IN_CHECKOUT, merged
from agentrl.registry import Bench, Part, parts

# The function of a speed benchmark takes `quick` and perhaps further options of the command line, and returns the
# JSON of `agentrl bench`. Those of a family are named by its row of the registry. agentrl's own live in `benchmarks`,
# which is only in a checkout; an installed package has the benchmarks of other packages' families, if any.
GENERAL: dict[str, Part] = {
    "async": Part("benchmarks.asynchronous:run", "asynchronous rollouts and training beside the bound of full overlap"),
    "gateway": Part("benchmarks.gateway:run", "milliseconds and processor time that the gateway adds to a call"),
    "hosts": Part("benchmarks.hosts:run", "robots that many environments in a few processes step; Gymnasium's vectors"),
    "judge": Part("benchmarks.judge:run", "descriptions and predictions judged per second by the rule judge"),
    "learning": Part("benchmarks.learning.command:run_learning", "whether training learns, and what learns better"),
    "serve": Part("benchmarks.serve:run", "what a step over WebSocket costs the server; OpenEnv"),
    "similarity": Part("benchmarks.similarity:run", "pairs of pictures compared per second by each similarity scorer"),
    "train": Part("benchmarks.train:run", "tokens generated and trained per second, padding, time split, memory"),
    "vla": Part(
        "benchmarks.vla:run", "control steps per second of a VLA policy's loop, its split; a plain PyTorch loop"
    ),
    "vllm": Part("benchmarks.vllm:run", "vLLM beside our decoder: tokens per second, weight updates, training, memory"),
}
EXPERIMENTS = "benchmarks.learning.command:listing"
SEPARATION_ROWS = "benchmarks.learning.separation_table:separation_rows"
SEPARATION_HEAD = "benchmarks.learning.separation_table:SEPARATION_HEAD"
BENCHES: dict[str, Part] = {
    name: part
    for name, part in sorted({**GENERAL, **parts("benches")}.items())
    if IN_CHECKOUT or not part.path.startswith("benchmarks.")
}
GROUPS: dict[str, list[str]] = {}  # name -> the benchmarks that it runs
for _name, _bench in BENCHES.items():
    if isinstance(_bench, Bench) and _bench.group:
        GROUPS.setdefault(_bench.group, []).append(_name)


@dataclass(kw_only=True)
class Arguments(Common):
    """Measure speed beside other libraries; fails when a required ratio is not reached.

    Without a name: the list of benchmarks. An option that the benchmark does not take is refused.
    """

    name: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="NAME")] = ""
    """Which benchmark."""
    experiment: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="EXPERIMENT")] = ""
    """Of learning: which experiments, by name or pattern such as 'steppo*'; none: the list of them."""
    quick: bool = False
    """Of speed: shorter and less exact."""
    cells: str = "*"
    """Of learning: only cells whose label/seedN fits this pattern or contains it."""
    jobs: int = 1
    """Of learning: runs at the same time, one processor core each."""
    minutes: float = 0.0
    """Of learning: stop cleanly after N minutes, to resume later with the same command; 0: when all is done."""
    output: str = "runs/learning"
    """Of learning: the folder of the runs."""
    results: str = ""
    """Of learning: where compact results go; default: OUTPUT/results. Pages and figures go to OUTPUT/pages."""
    summarise_only: bool = False
    """Of learning: train nothing, summarise the runs that are there."""
    force: bool = False
    """Of learning: also run comparisons whose conditions compute nearly the same advantages, and so cannot tell."""
    full: bool = False
    """Of speed, where a benchmark has a large case: run that as well; takes minutes and gigabytes of disk."""
    model: str = ""
    """Of speed with a model: a folder or a built-in name; tiny-text on a processor and smollm2 on a GPU by default."""
    simulator: str = "mujoco"
    """Of vla: mujoco in processes, or warp on a GPU (LIBERO)."""


def run(arguments: Arguments) -> int:
    """Run a benchmark and print its results and ratios."""
    if not arguments.name:
        known = [{"name": name, "summary": part.summary} for name, part in BENCHES.items()]
        known += [{"name": group, "summary": f"all of these: {', '.join(names)}"} for group, names in GROUPS.items()]
        if arguments.json:
            print_json({"schema": 1, "benches": known})
        else:
            print_table(("name", "measures"), [(bench["name"], bench["summary"]) for bench in known])
        return 0
    bench = load_bench(arguments.name)
    options = chosen_options(bench, arguments)
    if arguments.name == "learning":
        return run_learning(bench, arguments, options)
    log(f"bench {arguments.name}: running; leave the machine alone for exact figures")
    with waiting(f"bench {arguments.name}"), redirect_stdout(sys.stderr):  # what training runs report is no result
        result = bench(arguments.quick, **options)
    print_json(result) if arguments.json else show(result)
    return 0 if result["pass"] else 1


def load_bench(name: str) -> Any:
    """The function of a benchmark."""
    if name in GROUPS:
        return lambda quick: merged(name, [load_bench(one)(quick) for one in GROUPS[name]])
    if name not in BENCHES:
        raise ConfigError(f"unknown benchmark {name!a}.{did_you_mean(name, [*BENCHES, *GROUPS])} See: agentrl bench")
    if IN_CHECKOUT and str(CHECKOUT) not in sys.path:
        sys.path.insert(0, str(CHECKOUT))
    return BENCHES[name].load()


def chosen_options(bench: Any, arguments: Arguments) -> dict[str, Any]:
    """The options that were changed from their defaults; `ConfigError` where the benchmark does not take one."""
    own = {field.name for field in fields(Common)} | {"name", "quick"}
    known = inspect.signature(bench).parameters
    options = {}
    for field in fields(arguments):
        if field.name not in own and (value := getattr(arguments, field.name)) != field.default:
            if field.name not in known:
                raise ConfigError(f"bench {arguments.name} has no option {field.name!r}; got {value!r}")
            options[field.name] = value
    return options


def run_learning(bench: Any, arguments: Arguments, options: dict[str, Any]) -> int:
    """Train in pieces; the status says whether everything that was asked for is finished."""
    if not arguments.experiment:
        known = load(EXPERIMENTS)()
        if arguments.json:
            print_json({"schema": 1, "experiments": known})
        else:
            print_table(("name", "cells", "question"), [tuple(map(str, one.values())) for one in known])
        return 0
    result = bench(say=log, **options)
    if arguments.json:
        print_json(result)
    else:
        for name, found in result["separation"].items():
            print_table(load(SEPARATION_HEAD), load(SEPARATION_ROWS)(found), title=f"{name}: can it tell?")
        rows = [(state, name) for state in ("finished", "unfinished", "withheld") for name in result[state]]
        print_table(("state", "cell"), rows)
        print_table(("written",), [(path,) for path in result["written"]])
    return 0 if result["pass"] else 1


def show(result: dict[str, Any]) -> None:
    """Results, ratios, and the peers that were not there."""
    machine = result["machine"]
    title = f"{result['name']}: {machine['cpu']}, {machine['cores']} cores, Python {machine['python']}"
    columns = ("case", "impl", "version", "num_envs", "obs", "px", "value", "unit")
    rows = [[quantity(row.get(column)) for column in columns] for row in result["results"]]
    print_table(columns, rows, title=f"{title}, {result['threads']} thread(s)")
    ratios = [
        (
            r["case"],
            *map(quantity, (r["ours"], r["peer"])),
            *map(times, (r["ratio"], r["required"])),
            verdict(r["pass"]),
        )
        for r in result["ratios"]
    ]
    if ratios:
        print_table(("case", "ours", "peer", "ratio", "required", ""), ratios, title="Ratios")
    missing = [(name, peer["reason"]) for name, peer in result["peers"].items() if not peer["installed"]]
    if missing:
        print_table(("peer", "why it is missing"), missing)


def quantity(value: Any) -> str:
    """Large numbers with commas, small ones with the digits that mean something, missing ones as a dash."""
    if value is None:
        return "-"
    if not isinstance(value, float):
        return str(value)
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def times(value: Any) -> str:
    """A ratio."""
    return "-" if value is None else f"{quantity(value)}x" if not isinstance(value, float) else f"{value:,.1f}x"
