"""The folder of a run: where it is, what `state.json` of a checkpoint holds, and whether a run with these arguments and
this model may resume in it."""

from __future__ import annotations

import hashlib
import os
import platform
import time
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import torch

import agentrl
from agentrl.core.errors import ConfigError
from agentrl.core.files import open_regular, read_regular, sha256_of
from agentrl.core.manifest import Damaged, read_object
from agentrl.rollout.episode import own_arguments
from agentrl.trainers.arguments.run import RunArguments
from agentrl.trainers.run.monitor import Monitor

Count = Annotated[int, msgspec.Meta(ge=0)]
METRICS, CONFIG, CHECKPOINTS = "metrics.jsonl", "config.json", "checkpoints"
DEMONSTRATIONS = "demonstrations.jsonl"  # what an imitation learned from, where it keeps them
READ_FROM_A_MODEL = (".json", ".safetensors", ".jinja", ".txt", ".model")  # weights, configuration, tokenizer
# Everything else decides what is learned.
FREE_TO_CHANGE = {
    "output", "resume", "iterations", "save_every", "save_total_limit", "trackers", "report", "eval_every",
    "eval_at_start", "eval_episodes", "save_trajectories", "engine_options", "token_budget", "threads", "ddp_timeout",
    "generators", "max_batch", "max_wait_ms", "queue_key", "routing", "simulators", "simulator_batch",
    "cluster", "placement", "snapshot_every", "generator_timeout",
}  # fmt: skip


def run_folder(arguments: RunArguments, algorithm: str) -> Path:
    """The folder of a run, made if it is not there."""
    if not arguments.output and arguments.resume:
        raise ConfigError("resume needs output, the folder of the run")
    name = arguments.output or f"runs/{algorithm}-{time.strftime('%Y%m%d-%H%M%S')}"
    folder = Path(name).expanduser()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"the run folder {folder} cannot be made: {error}; choose another output") from error
    return folder


def check_same_run(config: dict[str, Any], arguments: RunArguments, algorithm: str) -> None:
    """A run is resumed as what it was; `ConfigError` names the first option that differs."""
    if config.get("algorithm") != algorithm:
        raise ConfigError(f"this is a run of {config.get('algorithm')}, not of {algorithm}")
    for name, value in arguments.to_json().items():
        old = config["arguments"].get(name)
        if name not in FREE_TO_CHANGE and old != value:
            raise ConfigError(f"the run was started with {name}={old!r}; it cannot be resumed with {value!r}")


def read_config(folder: Path, checkpoint: Path | None) -> dict[str, Any] | None:
    """What the run wrote down when it began; None where it did not come to that.

    `ConfigError` where it is missing or not what the checkpoint has a copy of: its options decide what is learned.
    """
    path = folder / CONFIG
    copy = None if checkpoint is None or not (checkpoint / CONFIG).is_file() else checkpoint / CONFIG
    hint = "" if copy is None else f"; {copy} is a copy of what it was"
    if checkpoint is not None and not path.exists():
        raise ConfigError(f"{path} is missing{hint}")
    if not path.exists():
        return None
    try:
        if copy is not None and read_regular(copy) != read_regular(path):
            raise Damaged("it is not what this run wrote")
        return read_object(path)
    except (OSError, Damaged) as error:
        raise ConfigError(f"{path} is damaged: {error}{hint}") from error


def input_hashes(arguments: RunArguments, model: Path) -> dict[str, Any]:
    """The files outside of the run folder that decide what is learned: those of the model, and of the data if any."""
    files = sorted(path for path in model.iterdir() if path.suffix in READ_FROM_A_MODEL and path.is_file())
    try:
        found = {f"model/{path.name}": sha256_of(path) for path in files}
        return found | {name: sha256_of(Path(path).expanduser()) for name, path in data_files(arguments).items()}
    except OSError as error:
        raise ConfigError(f"the model or the data cannot be read: {error}") from error


def data_files(arguments: RunArguments) -> dict[str, str]:
    """The files that a run learns from, by the names under which it keeps their hashes."""
    data: str | tuple[str, ...] = getattr(arguments, "data", "")
    if getattr(arguments, "replay_demonstrations", False):
        return {"demonstrations": str(start_demonstrations(arguments))}
    if isinstance(data, str) and Path(data).expanduser().is_dir() and data:  # a data set is a folder
        root = Path(data).expanduser()
        return {f"data/{path.relative_to(root)}": str(path) for path in sorted(root.rglob("*")) if path.is_file()}
    if isinstance(data, str):
        return {"data": data} if data else {}
    return {f"data/{number}": path for number, path in enumerate(data)}


def start_demonstrations(arguments: RunArguments) -> Path:
    """The file of what the run's model, a checkpoint of an imitation, has learned from."""
    path = Path(arguments.model).expanduser().resolve().parent.parent.parent / DEMONSTRATIONS
    if not path.is_file():
        raise ConfigError(
            "replay_demonstrations: model must be a checkpoint of agentrl train sft --save-demonstrations; there is no "
            f"{path}"
        )
    return path


def check_inputs(config: dict[str, Any], arguments: RunArguments, model: Path) -> None:
    """`ConfigError` where the model or the data have changed since the run began."""
    before, now = config["inputs"], input_hashes(arguments, model)
    for name in sorted(before.keys() | now.keys()):
        if before.get(name) != now.get(name):
            place = data_files(arguments).get(name) or model / name.removeprefix("model/")
            raise ConfigError(f"{place} has changed since the run began; put the file back, or begin a new run")


def evaluations_before(arguments: RunArguments) -> list[dict[str, Any]]:
    """What another run measured of the checkpoint that this run's model is, as far as this run would measure the same:
    environment, split, tasks and how replies are chosen. Each line says `from` which run; [] where none is known."""
    from agentrl.viewer.run_data import read_run

    checkpoint = Path(arguments.model).expanduser().resolve().parent
    parent = checkpoint.parent.parent
    if checkpoint.parent.name != CHECKPOINTS or not (parent / METRICS).is_file():
        return []
    made_with = {spec.id: own_arguments({"id": spec.id, "kwargs": spec.kwargs}) for spec in arguments.eval_specs()}
    found = []
    for line in read_run(parent).evals:
        env_id, mode = line.get("env_id"), "greedy" if line.get("greedy") else "sampled"
        wanted = {"split": arguments.eval_split, "episodes": arguments.eval_episodes}
        wanted |= {"temperature": None if mode == "greedy" else arguments.temperature}
        wanted |= {"env_kwargs": made_with.get(str(env_id))}
        same = all(line.get(name, value) == value for name, value in wanted.items())  # older lines tell less
        at = line["iteration"]
        if f"step_{at}" == checkpoint.name and env_id in made_with and same and mode in arguments.eval_modes:
            own = {name: value for name, value in line.items() if name not in ("iteration", "kind", "seconds_total")}
            found.append(own | {"from": {"run": parent.name, "iteration": at}})
    return found


def versions() -> dict[str, str]:
    """Of everything that decides the numbers."""
    import transformers

    return {
        "agentrl": agentrl.__version__,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }


# ---------------------------------------------------------------------- the state of a checkpoint


class RunState(msgspec.Struct, kw_only=True):
    """After an iteration; of several processes it is the main one's, with the collectors of all."""

    algorithm: str
    step: Count
    episodes: Count
    calls: Count
    monitor: dict[str, Any]
    collector: dict[str, Any]
    collectors: list[dict[str, Any]]  # of the other processes
    memory: dict[str, Any]  # the algorithm's own
    metrics_bytes: Count
    metrics_sha256: str  # of that many bytes

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> RunState:
        """Read what `to_json` gave; `ValueError` or `msgspec.ValidationError` where a field is missing or wrong."""
        state = msgspec.convert(content, cls)
        Monitor.from_json(state.monitor)
        return state

    def to_json(self) -> dict[str, Any]:
        """As JSON types."""
        return msgspec.to_builtins(self)


def measured(path: Path) -> dict[str, Any]:
    """How much of a metrics file there is, and its hash, once it is on the disk."""
    if not path.exists():
        return {"metrics_bytes": 0, "metrics_sha256": _hash(b"")}
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        return {"metrics_bytes": os.fstat(file.fileno()).st_size, "metrics_sha256": _hash(file.read())}


def cut_metrics(path: Path, state: RunState) -> str | None:
    """Forget the lines after the checkpoint: they will be written again. What is wrong with those before, if anything.

    Metrics decide nothing, so damage to them does not cost the run an iteration.
    """
    if not path.exists():
        return f"{path.name} is missing; it begins anew" if state.metrics_bytes else None
    with open_regular(path) as file:
        known = file.read(state.metrics_bytes)
    whole = len(known) == state.metrics_bytes and state.metrics_sha256 == _hash(known)
    # Half a line would spoil the next one, too.
    os.truncate(path, len(known) if whole else known.rfind(b"\n") + 1)
    return None if whole else f"lines of {path.name} before iteration {state.step + 1} are damaged or missing"


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
