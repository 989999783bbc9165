"""A plan: one training run, or several in a row in one folder, each from where the one before it ended.

The folder of several holds `plan.json` and a run folder for each stage. What is finished is written down there, so that
the whole can be resumed where it stopped.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentrl.algorithms import Stage, arguments_class
from agentrl.cli.train_options import Option, TrainWords, check_options, options_for, stage_arguments
from agentrl.core.cache import write_atomically
from agentrl.core.errors import ConfigError
from agentrl.core.files import read_regular
from agentrl.core.manifest import Damaged, sealed, signed, unsealed
from agentrl.recipes import load_recipe

if TYPE_CHECKING:
    from agentrl.trainers.arguments.run import RunArguments

PLAN, CONFIG, METRICS = "plan.json", "config.json", "metrics.jsonl"
SCHEMA = 2  # of plans


@dataclass
class PlannedRun:
    """One stage, ready to run."""

    name: str
    algorithm: str
    arguments: RunArguments
    finished: bool = False
    follows: bool = False  # starts from the final policy of the stage before

    @property
    def folder(self) -> Path:
        """Its run folder."""
        return Path(self.arguments.output)

    @property
    def final_policy(self) -> Path:
        """Where the policy will be after the last iteration."""
        return self.folder.resolve() / "checkpoints" / f"step_{self.arguments.iterations}" / "policy"

    def to_json(self) -> dict[str, Any]:
        """For `plan.json`; where a stage starts that follows another is found anew each time."""
        arguments = self.arguments.to_json()
        for name in ("output", "resume", *(["model"] if self.follows else [])):
            del arguments[name]
        return {"name": self.name, "algorithm": self.algorithm, "finished": self.finished, "arguments": arguments}


@dataclass
class Plan:
    """Runs in one folder."""

    folder: Path
    runs: list[PlannedRun]
    recipe: str = ""
    several: bool = field(default=False)

    def write(self) -> None:
        """Note down what is to be done and what is done; a single run needs nothing beyond its own folder."""
        if not self.several:
            return
        stages = [run.to_json() for run in self.runs]
        content = json.dumps(sealed(signed({"schema": SCHEMA, "recipe": self.recipe, "stages": stages})), indent=1)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self.folder / PLAN, content.encode())
        except OSError as error:
            raise ConfigError(f"the run folder cannot be written: {error}; choose another output") from error


def make_plan(words: TrainWords) -> Plan:
    """What the words ask for, checked as far as it can be without a model."""
    if words.resume:
        if not words.output:
            raise ConfigError("--resume needs to know the run: agentrl train --resume RUN")
        if (known := _known(Path(words.output).expanduser(), words)) is not None:
            return known
        if not (words.algorithm or words.recipe):
            raise ConfigError(f"there is no run in {words.output}: it has neither {CONFIG} nor {PLAN}")
    if words.recipe:
        recipe = load_recipe(words.recipe)
        return new_plan(stages_of(recipe.stages, words.algorithm, recipe.name), words, recipe.name)
    if not words.algorithm:
        raise ConfigError("train needs an algorithm, --recipe or --resume; see: agentrl train -h")
    return new_plan((Stage(words.algorithm),), words, "")


def stages_of(stages: Sequence[Stage], algorithm: str, recipe: str) -> Sequence[Stage]:
    """All stages of a recipe, or the one of the algorithm that was asked for."""
    if not algorithm:
        return stages
    chosen = [stage for stage in stages if stage.algorithm == algorithm]
    if len(chosen) != 1:
        raise ConfigError(f"the recipe {recipe} has {len(chosen)} stages of {algorithm}; leave the algorithm out")
    return chosen


def new_plan(stages: Sequence[Stage], words: TrainWords, recipe: str) -> Plan:
    """A plan for a folder that holds nothing yet."""
    name = recipe or stages[0].algorithm
    if not words.output and "WORLD_SIZE" in os.environ:
        raise ConfigError("several processes need --output: each would make a name of its own for the run folder")
    folder = Path(words.output or f"runs/{name}-{time.strftime('%Y%m%d-%H%M%S')}").expanduser()
    # A plan alone is not a run: it failed before anything was measured, and may be tried again.
    taken = (folder / METRICS).exists() or ((folder / PLAN).exists() and any(folder.glob(f"*/{METRICS}")))
    if taken and not words.resume:
        raise ConfigError(f"{folder} holds a run already; choose another --output, or resume it: --resume {folder}")
    runs = plan_runs(stages, words.options, folder, f"recipe {recipe}" if recipe else "options")
    return _resumed(Plan(folder, runs, recipe, several=len(runs) > 1), words.resume)


def plan_runs(stages: Sequence[Stage], options: Sequence[Option], folder: Path, source: str) -> list[PlannedRun]:
    """Arguments for every stage; each starts from the final policy of the one before."""
    several = len(stages) > 1
    classes = [(stage.name, arguments_class(stage.algorithm)) for stage in stages]
    if several:
        check_options(classes, options)
    runs: list[PlannedRun] = []
    for number, (stage, (name, cls)) in enumerate(zip(stages, classes, strict=True)):
        # A single run gets every option, so that tyro can suggest what a misspelt one was meant to be.
        chosen = options_for(name, number, cls, options) if several else options
        values, follows = dict(stage.options), bool(runs) and "model" not in stage.options
        if follows:
            values["model"] = str(runs[-1].final_policy)
        carried = _carried(runs[-1] if follows else None, values, chosen)
        arguments = stage_arguments(stage.algorithm, carried | values, chosen, source)
        place = folder / name if several else folder
        runs.append(PlannedRun(name, stage.algorithm, replace(arguments, output=str(place)), follows=follows))
    return runs


def check_environments(plan: Plan) -> None:
    """Make every environment of every stage once: a wrong argument of the last stage must not be found hours later."""
    from agentrl.core.spaces import require_text_env
    from agentrl.models import resolve_model
    from agentrl.models.vla.spec import is_vla
    from agentrl.rollout.episode import make
    from agentrl.wrappers.build import wrap

    made, robot = set(), False
    for run in plan.runs:
        # A VLA policy moves arrays; what it is fitted to, its learner checks.
        robot = robot if run.follows else run.algorithm == "bc" or is_vla(resolve_model(run.arguments.model))
        if run.finished or run.arguments.hosts:  # it may not even work in this process
            continue
        played = [("train", spec) for spec in run.arguments.specs()]
        played += [(run.arguments.eval_split, spec) for spec in run.arguments.eval_specs()]
        for split, spec in played:
            content = json.dumps([spec.id, spec.kwargs, spec.wrappers], sort_keys=True)
            if content not in made:
                env = wrap(make(spec.id, split=split, **spec.kwargs), spec.wrappers)
                env.close()
                if not robot:
                    require_text_env(env, spec.id)
                made.add(content)


def _carried(before: PlannedRun | None, values: dict[str, Any], options: Sequence[Option]) -> dict[str, Any]:
    """How the model of a stage was prompted while it was trained: that goes for the stage unless it says otherwise."""
    from agentrl.trainers.run.prompting import further_options, run_settings, settings_of_model

    typed = {option.name: option.values for option in options}
    model = next(iter(typed.get("model", ())), values.get("model", ""))
    given = set(values) | set(typed)
    known = run_settings(before.arguments) if before and "model" not in typed else settings_of_model(model, given)
    return further_options(known, given)


# ---------------------------------------------------------------------- resuming


def _known(folder: Path, words: TrainWords) -> Plan | None:
    """The plan that a folder was begun with, with the options that were typed on top; None for a folder without one."""
    from agentrl.cli.origin import check_origin, checked_config

    if (folder / PLAN).exists():
        content = read_plan(folder / PLAN)
        stages, recipe = content.get("stages"), str(content.get("recipe", ""))
    elif (folder / CONFIG).exists():
        content, recipe = checked_config(folder), ""
        stages = [{"name": "", **content}]
    else:
        return None
    try:
        known = [Stage(s["algorithm"], dict(s["arguments"]), str(s["name"])) for s in stages or []]
        finished = [bool(s.get("finished")) for s in stages or []]
        if not known:
            raise ValueError("no stages")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ConfigError(
            f"the run in {folder} cannot be resumed: its {PLAN} or {CONFIG} is damaged ({error})"
        ) from error
    if words.algorithm and words.algorithm not in {stage.algorithm for stage in known}:
        raise ConfigError(f"{folder} is a run of {known[0].algorithm}, not of {words.algorithm}")
    check_origin(folder, content, known, words.options)
    runs = plan_runs(known, words.options, folder, f"the run in {folder}")
    for number, (run, stage, done) in enumerate(zip(runs, known, finished, strict=True)):
        planned = stage.options.get("iterations", run.arguments.iterations)
        check_length(run, planned, runs[number + 1 :])
        run.finished = done and run.arguments.iterations == planned
        if run.finished:  # nothing will run that could refuse an option which makes it another run
            from agentrl.trainers.run.folder import check_same_run

            before = {**run.arguments.to_json(), **stage.options}
            check_same_run({"algorithm": run.algorithm, "arguments": before}, run.arguments, run.algorithm)
    return _resumed(Plan(folder, runs, recipe, several=(folder / PLAN).exists()), True)


def check_length(run: PlannedRun, planned: int, later: Sequence[PlannedRun]) -> None:
    """`ConfigError` where a run is to end before what it has reached, or beyond where another stage began from it."""
    reached = [path.name[5:] for path in run.folder.glob("checkpoints/step_*")]
    newest, asked = max((int(number) for number in reached if number.isdecimal()), default=0), run.arguments.iterations
    if newest > asked:
        raise ConfigError(f"{run.folder} has {newest} iterations; iterations must be at least that; got {asked}")
    begun = [one.name for one in later[:1] if one.follows and (one.folder / METRICS).exists()]
    if begun and asked != planned:
        raise ConfigError(
            f"{begun[0]} began from the end of {run.name}, which cannot be trained for {asked} iterations any more; "
            f"give {begun[0]} more with --{begun[0]}.iterations, or begin anew in another folder"
        )


def _resumed(plan: Plan, resume: bool) -> Plan:
    for run in plan.runs:
        run.arguments = replace(run.arguments, resume=resume)
    return plan


def read_plan(path: Path) -> dict[str, Any]:
    """The content of `plan.json`, which holds its own hash."""
    content = read_object(path)
    try:
        return unsealed(content, PLAN)
    except Damaged as error:
        raise ConfigError(f"{path} is damaged: {error}; a new plan needs another folder") from error


def read_object(path: Path) -> dict[str, Any]:
    """A JSON object from a file of a run."""
    try:
        content = json.loads(read_regular(path))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{path} is damaged: it must hold a JSON object")
    return content
