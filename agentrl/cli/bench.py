"""`agentrl bench NAME`: speed, ours and the peers', in one run."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any

import tyro

from agentrl.cli.arguments import Common
from agentrl.cli.output import log, print_json, print_table, verdict, waiting
from agentrl.core.errors import ConfigError, did_you_mean

# Name -> (module with run(quick) -> the contract's JSON, what it measures).
BENCHES: dict[str, tuple[str, str]] = {
    "engine": ("agentrl.benchmarks.engine", "tokens per second of transformers and vLLM, seconds of a weight update"),
    "grid": ("agentrl.benchmarks.grid", "steps, level resets and pictures per second of the grid worlds"),
    "judge": ("agentrl.benchmarks.judge", "descriptions and predictions judged per second by the rule judge"),
    "learning": ("agentrl.benchmarks.learning.command", "whether training learns, and which way of training better"),
    "svg": ("agentrl.benchmarks.svg", "pictures drawn from SVG code and pairs of pictures compared, per second"),
    "train": ("agentrl.benchmarks.train", "tokens generated and trained per second, padding, time split, memory"),
    "webshop": ("agentrl.benchmarks.webshop", "steps, searches, opening and building of the shop; bm25s and tantivy"),
}
WITH_MODEL = ("engine", "train")  # those whose run takes one


@dataclass(kw_only=True)
class Arguments(Common):
    """Measure speed beside other libraries; fails when a required ratio is not reached.

    Without a name: what there is to measure.
    """

    name: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="NAME")] = ""
    """Which benchmark."""
    experiment: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="EXPERIMENT")] = ""
    """Of learning: which experiments, by name or pattern such as 'steppo*'; none: what there is."""
    quick: bool = False
    """Of speed: shorter and less exact."""
    cells: str = "*"
    """Of learning: only cells whose label/seedN fits this pattern or contains it."""
    jobs: int = 1
    """Of learning: runs at the same time, one processor core each."""
    minutes: float = 0.0
    """Of learning: stop cleanly after so many, to go on later with the same command; 0: when all is done."""
    out: str = "runs/learning"
    """Of learning: the folder of the runs."""
    results: str = ""
    """Of learning: where compact results, figures and the page go; OUT/results where it is not given."""
    summarise_only: bool = False
    """Of learning: train nothing, write up the runs that are there."""
    full: bool = False
    """Of webshop: also with 1,180,000 products; takes minutes and some gigabytes of disk."""
    model: str = ""
    """Of engine and train: a folder or a built-in name; tiny-text on a processor and smollm2 on a GPU unless told."""


def run(arguments: Arguments) -> int:
    """Run a benchmark and print its results and ratios."""
    if not arguments.name:
        known = [{"name": name, "summary": summary} for name, (_, summary) in BENCHES.items()]
        if arguments.json:
            print_json({"schema": 1, "benches": known})
        else:
            print_table(("name", "measures"), [(bench["name"], bench["summary"]) for bench in known])
        return 0
    module = find_bench(arguments.name)
    if arguments.model and arguments.name not in WITH_MODEL:
        raise ConfigError(f"model is an option of bench {' and '.join(WITH_MODEL)} only")
    if arguments.name == "learning":
        return run_learning(module, arguments)
    if arguments.experiment:
        raise ConfigError(f"only learning has experiments, {arguments.name} takes none: {arguments.experiment!a}")
    if arguments.full and arguments.name != "webshop":
        raise ConfigError("full is an option of bench webshop only")
    options: dict[str, Any] = {"model": arguments.model} if arguments.model else {}
    options |= {"full": True} if arguments.full else {}
    log(f"bench {arguments.name}: running; leave the machine alone for exact figures")
    with waiting(f"bench {arguments.name}"):
        result = module.run(arguments.quick, **options)
    print_json(result) if arguments.json else show(result)
    return 0 if result["pass"] else 1


def run_learning(module: Any, arguments: Arguments) -> int:
    """Train in pieces; the status says whether everything that was asked for is finished."""
    if not arguments.experiment:
        known = module.listing()
        if arguments.json:
            print_json({"schema": 1, "experiments": known})
        else:
            print_table(("name", "cells", "question"), [tuple(map(str, one.values())) for one in known])
        return 0
    options = {
        name: getattr(arguments, name) for name in ("cells", "jobs", "minutes", "out", "results", "summarise_only")
    }
    result = module.run_learning(arguments.experiment, say=log, **options)
    if arguments.json:
        print_json(result)
    else:
        rows = [(state, name) for state in ("finished", "unfinished") for name in result[state]]
        print_table(("state", "cell"), rows)
        print_table(("written",), [(path,) for path in result["written"]])
    return 0 if result["pass"] else 1


def find_bench(name: str) -> Any:
    """The module of a benchmark."""
    if name not in BENCHES:
        raise ConfigError(f"no benchmark is called {name!a}.{did_you_mean(name, BENCHES)} See: agentrl bench")
    return import_module(BENCHES[name][0])


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
