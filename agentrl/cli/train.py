"""`agentrl train ALGO`, `agentrl train --recipe NAME`, `agentrl train --resume RUN`: train a policy."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from agentrl.algorithms import ALGORITHMS, train_function
from agentrl.cli.examples import TRAIN
from agentrl.cli.output import interval, log, number, print_json, print_table
from agentrl.cli.processes import is_main, launch, stop_when_abandoned
from agentrl.cli.signals import STATUS, Noticed, noticing
from agentrl.cli.train_options import TrainWords, read_words, show_help
from agentrl.cli.training_plan import Plan, PlannedRun, check_environments, make_plan, stages_of
from agentrl.core.errors import ConfigError
from agentrl.core.lock import FolderLock
from agentrl.recipes import load_recipe

USAGE = """usage: agentrl train ALGO [options]
       agentrl train --recipe NAME|FILE [options]
       agentrl train --resume RUN

Train a policy; everything goes into one run folder.

algorithms (agentrl train ALGO -h lists all options):
{algorithms}

options:
  --recipe NAME|FILE  take values from a recipe; options that are typed override it (agentrl recipe lists them)
  --output RUN        the run folder
  --resume [RUN]      resume a run, with its own options
  --processes N       train in N processes of this machine, one for each GPU (several machines: torchrun)
  --json              print one JSON object on stdout at the end; progress goes to stderr
  --STAGE.OPTION      an option of one stage of a recipe; without a stage it holds for all that have it

{examples}"""


@dataclass
class Arguments(TrainWords):
    """Train a policy; everything goes into one run folder."""


def parse(words: Sequence[str]) -> Arguments:
    """Read the words after the verb; help is printed here, as tyro does for other verbs."""
    found = read_words(words)
    if found.help:
        if found.algorithm:
            recipe = load_recipe(found.recipe) if found.recipe else None
            values = stages_of(recipe.stages, found.algorithm, recipe.name)[0].options if recipe else {}
            show_help(found.algorithm, values)
        table = "\n".join(f"  {name:<14}{summary}" for name, (_, summary) in ALGORITHMS.items())
        print(USAGE.format(algorithms=table, examples=TRAIN))
        raise SystemExit(0)
    return Arguments(**{one.name: getattr(found, one.name) for one in fields(found)})


def run(arguments: Arguments) -> int:
    """Train, then report the results."""
    plan = make_plan(arguments)
    check_free(plan)
    if arguments.processes > 1:
        # All of them must mean the same folder, whatever the second they read the clock in.
        place = [] if arguments.output else ["--output", str(plan.folder)]
        return launch([*arguments.words, *place], arguments.processes)
    stop_when_abandoned()
    check_environments(plan)
    started = time.perf_counter()
    with noticing() as noticed:
        outcome = run_plan(plan, noticed, log if is_main() else lambda text: None)
    leave_process_group()
    if is_main():
        facts = summary(plan) | {"seconds": time.perf_counter() - started, "stopped": outcome or None}
        if plan.several and facts["stages"] and any(planned.arguments.report for planned in plan.runs):
            from agentrl.viewer.recipe_report import write_recipe_report

            write_recipe_report(plan.folder, plan.recipe, [(run.name, run.algorithm) for run in plan.runs])
        if outcome:
            newest = [warning for stage in facts["stages"][-1:] for warning in stage["warnings"]]
            lost = any(warning.get("warning") == "not_resumable" for warning in newest)
            log(f"stopped by {outcome}; {'it cannot be resumed' if lost else resume_line(plan)}")
        print_json(facts) if arguments.json else show(facts)
    return STATUS.get(outcome, 0)


def leave_process_group() -> None:
    """The end of what several processes did together."""
    if "WORLD_SIZE" in os.environ:
        from agentrl.trainers.parallel.ranks import leave

        leave()


def run_plan(
    plan: Plan,
    noticed: Noticed,
    report: Callable[[str], Any],
    train: Callable[[PlannedRun, Callable[[str], Any]], Any] | None = None,
) -> str:
    """Train every stage that is left; the name of the signal that ended it early, or nothing."""
    if is_main():
        plan.write()
    for planned in plan.runs:
        if planned.finished:
            report(f"{planned.name}: finished before")
            continue
        report(f"{planned.name}: {in_short(planned)}" if plan.several else in_short(planned))
        try:
            (train or train_one)(planned, report)
        except KeyboardInterrupt:
            return noticed.name or "SIGINT"
        except BrokenPipeError:  # nobody reads the progress any more; the run folder has nothing to do with it
            raise
        except OSError as error:
            raise ConfigError(f"the run folder cannot be written: {error}; {resume_line(plan)}") from error
        planned.finished = planned.final_policy.is_dir()
        if is_main():
            plan.write()
        if not planned.finished:  # it stopped in its own time
            return noticed.name or "SIGTERM"
    return ""


def check_free(plan: Plan) -> None:
    """Refuse folders that another process trains in before a model is loaded; a run locks its own when it begins."""
    for planned in plan.runs:
        if is_main() and planned.folder.is_dir():
            FolderLock(planned.folder).release()


def in_short(planned: PlannedRun) -> str:
    """A stage in one line, said before anything is loaded."""
    arguments = planned.arguments
    places = ", ".join(dict.fromkeys(spec.id for spec in arguments.specs()))
    return f"{planned.algorithm} of {arguments.model} in {places}, into {planned.folder}"


def train_one(planned: PlannedRun, report: Callable[[str], Any]) -> None:
    """One run to its end, or to the signal that stops it."""
    train_function(planned.algorithm)(planned.arguments, report)


def resume_line(plan: Plan) -> str:
    """What to type to resume."""
    return f"resume with: agentrl train --resume {shlex.quote(str(plan.folder))}"


# ---------------------------------------------------------------------- results


@dataclass(frozen=True)
class StageFacts:
    """A run in a few figures."""

    name: str
    algorithm: str
    folder: str
    iterations: int = 0
    evaluations: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[dict[str, Any]] = field(default_factory=list)


def summary(plan: Plan) -> dict[str, Any]:
    """The object that `--json` prints, less its seconds: every stage, and the last one that was begun at the top."""
    stages = [stage_facts(planned) for planned in plan.runs if (planned.folder / "metrics.jsonl").exists()]
    last = stages[-1] if stages else StageFacts("", "", str(plan.folder))
    return {
        "schema": 1,
        "folder": str(plan.folder.resolve()),
        "iterations": last.iterations,
        "evaluations": last.evaluations,
        "warnings": [warning for stage in stages for warning in stage.warnings],
        "stages": [vars(stage) for stage in stages],
    }


def stage_facts(planned: PlannedRun) -> StageFacts:
    """From the run's metrics."""
    from agentrl.viewer.run_data import read_run

    data = read_run(planned.folder)
    done = max((int(line["iteration"]) for line in data.train), default=0)
    newest = max((line["iteration"] for line in data.evals), default=0)
    return StageFacts(
        name=planned.name or planned.algorithm,
        algorithm=planned.algorithm,
        folder=str(planned.folder.resolve()),
        iterations=done,
        evaluations=[dict(line) for line in data.evals if line["iteration"] == newest],
        warnings=[dict(line) for line in data.warnings],
    )


def show(facts: dict[str, Any]) -> None:
    """The final evaluations for a person, and where everything is."""
    rows = [
        (
            stage["name"],
            line.get("env_id", "-"),
            line.get("split", "-"),
            "greedy" if line.get("greedy") else "sampled",
            line["iteration"],
            number(line.get("success")),
            interval(line.get("success_ci")),
            line.get("episodes", "-"),
        )
        for stage in facts["stages"]
        for line in stage["evaluations"]
    ]
    if rows:
        columns = ("stage", "environment", "split", "played", "after iteration", "success", "95 % interval", "episodes")
        print_table(columns, rows, title="Success in the last evaluations")
    for warning in facts["warnings"]:
        print(f"warning: {warning.get('warning')}: {warning.get('detail', '')}")
    pages = [Path(folder) / "report.html" for folder in (*(s["folder"] for s in facts["stages"]), facts["folder"])]
    for page in dict.fromkeys(pages):
        if page.exists():
            print(f"report: {page}")
    print(f"run: {facts['folder']}")
