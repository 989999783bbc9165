"""`agentrl demo`: train a tiny model in minutes; figures in the terminal, a report with curves, a GIF."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentrl.cli.arguments import Common
from agentrl.cli.demo_page import write_film, write_page
from agentrl.cli.output import interval, log, number, print_json, print_table, progress, verdict
from agentrl.cli.plan import Plan, PlannedRun, make_plan
from agentrl.cli.signals import STATUS, noticing
from agentrl.cli.train import resume_line, run_plan, train_one
from agentrl.cli.train_options import TrainWords
from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError
from agentrl.rollout.evaluate import Evaluation, evaluate

BASELINES = ("random", "oracle")
LEAST_EPISODES = 500
WEAK, GAIN, GOOD = 0.6, 0.25, 0.8
ITERATION = re.compile(r"\[[1-9]\d*/\d+\](?! held-out)")  # a line of progress that ends an iteration


@dataclass(kw_only=True)
class Arguments(Common):
    """Train a tiny language model from nothing, on this machine, in minutes: a demonstration of the whole library.

    First it imitates demonstrations that are partly wrong, then it learns from its own play and the reward (StepPO).
    Its success on unseen levels is measured before, between and after, beside random play and the oracle. Nothing is
    downloaded; it needs the extra `train`. Writes report.html (figures, links to the curves of both stages) and
    before_after.gif (one level, lost and won) into the output folder, and can be stopped and resumed.
    """

    output: str = "runs/demo"
    """Output folder; a number is appended where it already exists."""
    recipe: str = "frozenlake-demo"
    """What is trained: a recipe of two stages with evaluations; `agentrl recipe show NAME` prints it."""
    check: bool = True
    """With --no-check the exit status is 0 whatever is reached. Otherwise it is 1 unless imitation stays below 0.6 and
    reinforcement learning adds 0.25 and reaches 0.8."""


@dataclass(frozen=True)
class Moment:
    """The policy at one time: held-out success, sampled and greedy."""

    name: str
    sampled: Evaluation
    greedy: Evaluation


@dataclass(frozen=True)
class Check:
    """One thing that the demo promises."""

    text: str
    passed: bool


def run(arguments: Arguments) -> int:
    """Train, measure, compare, show."""
    started = time.perf_counter()
    plan = demo_plan(arguments)
    with noticing() as noticed:
        stopped = run_plan(plan, noticed, lambda _: None, train_with_bar)
    if stopped:
        log(f"stopped by {stopped}; {resume_line(plan)}")
        return STATUS[stopped]
    found = moments(plan)
    checks = checked(found)
    baselines = [baseline(plan, name) for name in BASELINES]
    film = write_film(plan)
    seconds = time.perf_counter() - started
    page = write_page(plan, [e for m in found for e in (m.sampled, m.greedy)], baselines, film, seconds)
    files = {"report": page, "curves": plan.runs[-1].folder / "report.html", "film": film}
    paths = {name: str(path.resolve()) for name, path in files.items() if path is not None and path.exists()}
    if arguments.json:
        print_json(facts(plan, found, baselines, checks, seconds) | paths)
    else:
        show(found, baselines, checks, paths, seconds)
    return 0 if not arguments.check or all(check.passed for check in checks) else 1


def demo_plan(arguments: Arguments) -> Plan:
    """Two stages in a folder of their own."""
    plan = make_plan(TrainWords(recipe=arguments.recipe, output=free_folder(arguments.output)))
    if len(plan.runs) != 2 or not all(planned.arguments.eval_every for planned in plan.runs):
        raise ConfigError(f"recipe must have two stages with eval_every; got {arguments.recipe}")
    if arguments.check:
        for planned in plan.runs:
            whole_number("eval_episodes", planned.arguments.eval_episodes, at_least=LEAST_EPISODES)
    return plan


def free_folder(wanted: str) -> str:
    """The folder, or the first of folder-2, folder-3 ... that does not exist: no run is overwritten."""
    names = (wanted if n == 1 else f"{wanted}-{n}" for n in range(1, 10_000))
    return next(name for name in names if not Path(name).expanduser().exists())


def train_with_bar(planned: PlannedRun, say: Callable[[str], Any]) -> None:
    """One stage with a bar and the time that is left; its lines would be too many."""
    log(f"{planned.name}: {planned.algorithm}, {planned.arguments.iterations} iterations")
    with progress(f"{planned.name} ({planned.algorithm})", planned.arguments.iterations) as advance:

        def heard(line: str) -> None:
            if ITERATION.match(line):
                advance()
            elif line.startswith("warning") or "held-out" in line:
                log(line)

        train_one(planned, heard)


# ---------------------------------------------------------------------- what was reached


def moments(plan: Plan) -> list[Moment]:
    """At the start, after imitation, after reinforcement learning."""
    first, last = plan.runs
    return [
        _moment("start", first, 0),
        _moment(f"after {first.name}", first, first.arguments.iterations),
        _moment(f"after {last.name}", last, last.arguments.iterations),
    ]


def _moment(name: str, planned: PlannedRun, iteration: int) -> Moment:
    from agentrl.viewer.run_data import read_run

    lines = [line for line in read_run(planned.folder).evals if line["iteration"] == iteration]
    found = {bool(line.get("greedy")): line for line in lines}
    if set(found) != {False, True}:
        raise ConfigError(f"{planned.folder} has no sampled and greedy evaluation after iteration {iteration}")
    return Moment(name, _evaluation(f"{name}, sampled", found[False]), _evaluation(f"{name}, greedy", found[True]))


def _evaluation(name: str, line: Mapping[str, Any]) -> Evaluation:
    """A line of metrics as the result it was made from."""
    held = {key: line[key] for key in Evaluation.__dataclass_fields__ if key in line}
    held |= {"id": line["env_id"], "policy": name, "seconds": line["seconds_total"], "spec": None}
    for key in ("success_ci", "reward_ci"):
        held[key] = None if held.get(key) is None else tuple(held[key])
    return Evaluation(**held)


def baseline(plan: Plan, policy: str) -> Evaluation:
    """Random play and the oracle on the same levels: the floor and the ceiling."""
    arguments = plan.runs[-1].arguments
    spec = arguments.specs()[0]
    options = {"split": arguments.eval_split, "env_kwargs": spec.kwargs, "wrappers": spec.wrappers}
    return evaluate(spec.id, policy, arguments.eval_episodes, 0, **options)


def checked(found: list[Moment]) -> list[Check]:
    """The promises, about play at the training temperature, in plain words with the figures."""
    before, after = found[-2].sampled, found[-1].sampled
    low, high = before.success or 0.0, after.success or 0.0
    apart = (
        before.success_ci is not None and after.success_ci is not None and before.success_ci[1] < after.success_ci[0]
    )
    return [
        Check(f"imitation alone leaves success below {WEAK}: {low:.3f}", low < WEAK),
        Check(f"reinforcement learning adds at least {GAIN}: {high - low:+.3f}", high - low >= GAIN),
        Check("the two 95 % intervals do not touch", apart),
        Check(f"success ends at {GOOD} or more: {high:.3f}", high >= GOOD),
    ]


# ---------------------------------------------------------------------- showing it


def facts(
    plan: Plan, found: list[Moment], baselines: list[Evaluation], checks: list[Check], seconds: float
) -> dict[str, Any]:
    """What `--json` prints, less the paths of files."""
    return {
        "schema": 1,
        "folder": str(plan.folder.resolve()),
        "seconds": seconds,
        "moments": [{"name": m.name, "sampled": m.sampled.to_json(), "greedy": m.greedy.to_json()} for m in found],
        "baselines": [result.to_json() for result in baselines],
        "checks": [vars(check) for check in checks],
        "pass": all(check.passed for check in checks),
    }


def rows(found: list[Moment], baselines: list[Evaluation]) -> Iterator[tuple[str, ...]]:
    """Success in the order in which it should rise."""
    floor, ceiling = baselines
    yield "random play", number(floor.success), interval(floor.success_ci), "", ""
    for moment in found:
        sampled, greedy = moment.sampled, moment.greedy
        figures = (sampled.success, sampled.success_ci), (greedy.success, greedy.success_ci)
        yield moment.name, *(cell for value, bounds in figures for cell in (number(value), interval(bounds)))
    yield "oracle", number(ceiling.success), interval(ceiling.success_ci), "", ""


def show(
    found: list[Moment], baselines: list[Evaluation], checks: list[Check], paths: dict[str, str], seconds: float
) -> None:
    """A table, the promises, the files."""
    result = found[-1].sampled
    columns = ("tiny model", "sampled", "95 % interval", "greedy", "95 % interval")
    title = f"{result.id}: success on {result.episodes} levels of the {result.split} split"
    print_table(columns, list(rows(found, baselines)), title=title)
    print_table(("", "what the demo promises"), [(verdict(check.passed), check.text) for check in checks])
    for name, path in paths.items():
        print(f"{name + ':':<8} {path}")
    print(f"{seconds / 60:.1f} minutes")
