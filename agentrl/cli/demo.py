"""`agentrl demo`: train a tiny model in minutes; figures in the terminal, a report with curves, a GIF."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from agentrl.cli.arguments import Common
from agentrl.cli.output import interval, log, number, print_json, print_table, progress, verdict
from agentrl.cli.signals import STATUS, noticing
from agentrl.cli.train import resume_line, run_plan, train_one
from agentrl.cli.train_options import Option, TrainWords
from agentrl.cli.training_plan import Plan, PlannedRun, make_plan
from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError
from agentrl.core.measure import machine
from agentrl.core.seeding import episode_seed
from agentrl.rollout.evaluate import Evaluation, evaluate
from agentrl.rollout.trajectory import Trajectory
from agentrl.viewer.episode_gif import episodes_gif
from agentrl.viewer.eval_report import short_name
from agentrl.viewer.recipe_report import FILM, evaluation_of, write_baselines, write_recipe_report

BASELINES = ("random", "oracle")
LEAST_EPISODES = 500
ITERATION = re.compile(r"\[[1-9]\d*/\d+\]  ")  # a line of progress that ends an iteration


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
    seed: int = 0
    """Decides everything random."""
    runs: int = 1
    """Train it N times, with seeds counted from `seed`, and print how far the runs differ beside the limits."""
    check: bool = True
    """With --no-check the exit status is 0 whatever is reached. Otherwise it is 1 unless every promise is kept (with
    several runs: with a margin of twice their spread)."""


@dataclass(frozen=True)
class Outcome:
    """A finished run of the demo."""

    plan: Plan
    found: list[Moment]
    baselines: list[Evaluation]
    checks: list[Check]
    paths: dict[str, str]
    seconds: float


def run(arguments: Arguments) -> int:
    """Train, measure, compare, show; several times where several runs are asked for."""
    whole_number("runs", arguments.runs, at_least=1)
    outcomes = []
    for seed in range(arguments.seed, arguments.seed + arguments.runs):
        found = train_once(arguments, seed)
        if isinstance(found, str):
            return STATUS[found]
        outcomes.append(found)
        if not arguments.json:
            show(found.found, found.baselines, found.checks, found.paths, found.seconds)
    passed = all(check.passed for one in outcomes for check in one.checks)
    told = facts(outcomes[0]) if len(outcomes) == 1 else {"schema": 1, "runs": [facts(one) for one in outcomes]}
    if len(outcomes) > 1:
        table = repeated([one.checks for one in outcomes])
        passed = passed and all(row.passed for row in table)
        told |= {"promises": [vars(row) for row in table], "pass": passed}
        show_runs(arguments, outcomes, table, told)
    if arguments.json:
        print_json(told)
    return 0 if not arguments.check or passed else 1


def train_once(arguments: Arguments, seed: int) -> Outcome | str:
    """One run; the name of the signal where one stopped it."""
    started = time.perf_counter()
    plan = demo_plan(arguments, seed)
    with noticing() as noticed:
        stopped = run_plan(plan, noticed, lambda _: None, train_with_bar)
    if stopped:
        log(f"stopped by {stopped}; {resume_line(plan)}")
        return stopped
    found = moments(plan)
    baselines = [baseline(plan, name) for name in BASELINES]
    film = write_film(plan)
    seconds = time.perf_counter() - started
    write_baselines(plan.folder, baselines)
    title = f"A tiny model learns {short_name(baselines[0].id)}"
    stages = [(planned.name, planned.algorithm) for planned in plan.runs]
    page = write_recipe_report(plan.folder, plan.recipe, stages, title=title, intro=INTRO)
    files = {"report": page, "curves": plan.runs[-1].folder / "report.html", "film": film}
    paths = {name: str(path.resolve()) for name, path in files.items() if path is not None and path.exists()}
    return Outcome(plan, found, baselines, checked(found), paths, seconds)


def demo_plan(arguments: Arguments, seed: int) -> Plan:
    """Two stages in a folder of their own."""
    options = [Option(("--seed", str(seed)))]
    plan = make_plan(TrainWords(recipe=arguments.recipe, output=free_folder(arguments.output), options=options))
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
            elif line.startswith("warning") or " success of " in line:
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
    played = (evaluation_of(f"{name}, {mode}", found[mode == "greedy"]) for mode in ("sampled", "greedy"))
    return Moment(name, *played)


def baseline(plan: Plan, policy: str) -> Evaluation:
    """Random play and the oracle on the same levels: the floor and the ceiling."""
    arguments = plan.runs[-1].arguments
    spec = arguments.eval_specs()[0]
    options = {"split": arguments.eval_split, "env_kwargs": spec.kwargs, "wrappers": spec.wrappers}
    return evaluate(spec.id, policy, arguments.eval_episodes, 0, **options)


# ---------------------------------------------------------------------- showing it


def facts(run: Outcome) -> dict[str, Any]:
    """What `--json` prints of a run."""
    return {
        "schema": 1,
        "folder": str(run.plan.folder.resolve()),
        "seconds": run.seconds,
        "moments": [{"name": m.name, "sampled": m.sampled.to_json(), "greedy": m.greedy.to_json()} for m in run.found],
        "baselines": [result.to_json() for result in run.baselines],
        "checks": [vars(check) for check in run.checks],
        "pass": all(check.passed for check in run.checks),
        **run.paths,
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
    promised = [(verdict(check.passed), check.text, f"{check.value:.3f}") for check in checks]
    print_table(("", "what the demo promises", "found"), promised)
    for name, path in paths.items():
        print(f"{name + ':':<8} {path}")
    print(f"{seconds / 60:.1f} minutes")


def show_runs(arguments: Arguments, outcomes: list[Outcome], table: list[Repeated], told: dict[str, Any]) -> None:
    """All runs in one table, which is also written beside their folders."""
    seeds = [arguments.seed + number for number in range(len(outcomes))]
    page = Path(f"{outcomes[0].plan.folder}-runs.md")
    about = {"recipe": arguments.recipe, **machine()}
    page.write_text(markdown(table, seeds, [one.seconds / 60 for one in outcomes], about), encoding="utf-8")
    page.with_suffix(".json").write_text(json.dumps(told, indent=1), encoding="utf-8")
    if not arguments.json:
        print_table(["", *columns(seeds)], [[verdict(row.passed), *row.cells()] for row in table])
        print(f"{'runs:':<8} {page.resolve()}")


# ---------------------------------------------------------------------- what the demo promises

LEAST_ROOM = 2.0  # between the mean of the runs and a limit, in standard deviations of the runs


@dataclass(frozen=True)
class Moment:
    """The policy at one time: held-out success, sampled and greedy."""

    name: str
    sampled: Evaluation
    greedy: Evaluation

    def success(self, mode: str) -> float:
        """Of sampled or greedy play; 0 where it is not known."""
        return getattr(self, mode).success or 0.0


@dataclass(frozen=True)
class Promise:
    """A figure of a run and its limit; `figure` gets the moments before and after reinforcement learning."""

    text: str
    limit: float
    figure: Callable[[Moment, Moment], float]
    below: bool = False  # else at least

    def room(self, value: float) -> float:
        """How far a value is from the limit, on the right side of it."""
        return self.limit - value if self.below else value - self.limit

    def kept(self, value: float) -> bool:
        """Is a value on the right side?"""
        return self.room(value) > 0 or (self.room(value) == 0 and not self.below)


def _promises(mode: str, weak: float, gain: float, good: float) -> tuple[Promise, ...]:
    return (
        Promise(f"{mode} success after imitation: below {weak}", weak, lambda before, _: before.success(mode), True),
        Promise(
            f"{mode} success gained by reinforcement learning: {gain} or more",
            gain,
            lambda before, after: after.success(mode) - before.success(mode),
        ),
        Promise(f"{mode} success at the end: {good} or more", good, lambda _, after: after.success(mode)),
    )


PROMISES = (*_promises("sampled", weak=0.6, gain=0.1, good=0.6), *_promises("greedy", weak=0.5, gain=0.25, good=0.65))


@dataclass(frozen=True)
class Check:
    """One thing that the demo promises, in one run."""

    text: str
    value: float
    passed: bool


def checked(found: Sequence[Moment]) -> list[Check]:
    """The promises with the figures of a run."""
    values = [promise.figure(*found[-2:]) for promise in PROMISES]
    return [Check(promise.text, value, promise.kept(value)) for promise, value in zip(PROMISES, values, strict=True)]


# ---------------------------------------------------------------------- several runs


@dataclass(frozen=True)
class Repeated:
    """A promise over several runs. `room` counts the standard deviations of the runs between their mean and the limit;
    None where all runs are equal."""

    text: str
    values: list[float]
    mean: float
    spread: float
    room: float | None
    passed: bool

    def cells(self) -> list[str]:
        """A row of a table, without the verdict."""
        room = "-" if self.room is None else f"{self.room:.1f}"
        return [self.text, *(f"{value:.3f}" for value in self.values), f"{self.mean:.3f}", f"{self.spread:.3f}", room]


def repeated(runs: Sequence[Sequence[Check]]) -> list[Repeated]:
    """Each promise over all runs: kept in every one, with a margin of twice their spread."""
    found = []
    for place, promise in enumerate(PROMISES):
        values = [checks[place].value for checks in runs]
        middle, spread = mean(values), stdev(values)
        room = promise.room(middle) / spread if spread else None
        passed = promise.room(middle) >= LEAST_ROOM * spread and all(map(promise.kept, values))
        found.append(Repeated(promise.text, values, middle, spread, room, passed))
    return found


def columns(seeds: Sequence[int]) -> list[str]:
    """The head of the table."""
    return ["what the demo promises", *(f"seed {seed}" for seed in seeds), "mean", "spread", "margin / spread"]


def markdown(found: Sequence[Repeated], seeds: Sequence[int], minutes: Sequence[float], about: dict[str, Any]) -> str:
    """The runs as a page."""
    head = columns(seeds)
    lines = [head, ["---"] * len(head), *(row.cells() for row in found)]
    lines.append(["minutes", *(f"{value:.1f}" for value in minutes), f"{mean(minutes):.1f}", "", ""])
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    facts = ", ".join(f"{name} {value}" for name, value in about.items())
    return (
        "# The demo, several times\n\n"
        f"`agentrl demo --runs {len(seeds)} --seed {seeds[0]}` ({facts}). Success is that on unseen levels; spread is "
        "the standard deviation of the runs, and the last column says how many spreads lie between their mean and the "
        f"limit of the promise (at least {LEAST_ROOM:g} are wanted).\n\n{table}\n"
    )


# ---------------------------------------------------------------------- the film

LEVELS = 48  # looked at for one that was lost before and is won after
INTRO = (
    "A tiny language model imitates demonstrations that are partly wrong, then learns from its own play and the "
    "reward. Its critic, which only training needs, is told the truth about each state; the model is not. All figures "
    "are success on levels that were never trained on, with 95 % intervals. Random play is the floor; the "
    "oracle, which computes shortest solutions from the true state, is the ceiling."
)


def write_film(plan: Plan) -> Path | None:
    """Two games of one level side by side; None where pictures of it cannot be made."""
    before, after = (episodes(plan, str(planned.final_policy)) for planned in plan.runs)
    pairs = [pair for pair in zip(before, after, strict=True) if pair[0].fault is None and pair[1].fault is None]
    if not pairs:
        return None
    # The best to look at is a level that was lost and is won; where there is none, one that is won, or any.
    lost, won = max(pairs, key=lambda pair: (pair[1].success and not pair[0].success, pair[1].success))
    titled = {f"after {planned.name}": one for planned, one in zip(plan.runs, (lost, won), strict=True)}
    try:
        return episodes_gif(titled, plan.folder / FILM)
    except ConfigError:
        return None


def episodes(plan: Plan, model: str) -> list[Trajectory]:
    """The first test levels, played greedily by a policy."""
    from agentrl.policies.hf import HFPolicy
    from agentrl.rollout.collect import Collector, Start

    arguments = plan.runs[-1].arguments
    policy = HFPolicy(model, greedy=True, max_new_tokens=arguments.max_new_tokens, device=arguments.device)
    options: dict[str, Any] = {"prompt_style": arguments.prompt_style, "history": arguments.history}
    collector = Collector(arguments.eval_specs(), policy, split=arguments.eval_split, num_envs=LEVELS, **options)
    try:
        return collector.collect([Start(episode_seed(0, index)) for index in range(LEVELS)]).trajectories
    finally:
        collector.close()
