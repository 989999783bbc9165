"""Checkpoints: everything a run needs to resume as if it had never stopped.

`checkpoints/step_N/` holds `policy/` (an ordinary Hugging Face folder), `training.pt` (float32 weights, critic,
optimiser), `state.json` (counters), a copy of the run's `config.json`, and `manifest.json` (the hashes of all of them
and N). A checkpoint appears whole or not at all: it is written beside its place and renamed. One that is not as it was
written is passed over for an older one. Several processes gather their pieces and the main process writes what a single
process would have written, so that any number of processes can resume from it.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
import torch
from safetensors import SafetensorError
from torch import Tensor

from agentrl.core.errors import ConfigError
from agentrl.core.manifest import MANIFEST, Damaged, check_manifest, flush, read_object, write_manifest
from agentrl.models.loading import quiet
from agentrl.models.prompt_settings import write_settings
from agentrl.trainers.parallel.sharding import piece, state_in_pieces, whole, whole_state
from agentrl.trainers.run.prompting import run_settings
from agentrl.trainers.update.learner import Learner, TrainingFault

log = logging.getLogger(__name__)

POLICY, TRAINING, STATE, CONFIG = "policy", "training.pt", "state.json", "config.json"
DRAFT = ".step_"
TOKENIZER_FILES = ("tokenizer", "special_tokens", "chat_template", "preprocessor", "processor", "vocab", "merges")


def save_checkpoint(folder: Path, number: int, learner: Learner, state: dict[str, Any], keep: int) -> Path:
    """Write `folder/step_<number>` and keep the `keep` newest; `TrainingFault` where the disk refuses."""
    learner.publish()
    content = gathered(learner)
    learner.processes.on_main(lambda: str(_write(folder, number, learner, content, state, keep)))
    return folder / f"step_{number}"


def gathered(learner: Learner) -> dict[str, Any]:
    """Everything that is trained, in whole tensors; only the process that will write keeps them."""
    keep, alone = learner.processes.is_main, not learner.processes.distributed

    def wholes(tensors: Iterable[tuple[str, Tensor]]) -> dict[str, Any]:
        found = {}
        for name, tensor in tensors:  # on a GPU there may be room for one at a time only
            gathered = whole(tensor)
            found |= {name: gathered if alone else gathered.cpu()} if keep else {}
        return found

    with learner.processes.guard():
        critic = {} if learner.critic is None else learner.critic.state_dict()
        return {
            "policy": wholes((name, p.data) for name, p in learner.policy.named_parameters() if p.requires_grad),
            "critic": wholes(critic.items()),
            "optimiser": whole_state(learner.optimiser.state_dict(), wholes),
        }


def _write(
    folder: Path, number: int, learner: Learner, content: dict[str, Any], state: dict[str, Any], keep: int
) -> Path:
    target = folder / f"step_{number}"
    draft = folder / f"{DRAFT}{number}"
    for left_over in folder.glob(f"{DRAFT}*"):  # by a process that was killed while it wrote
        shutil.rmtree(left_over, ignore_errors=True)
    try:
        draft.mkdir(parents=True)
        _fill(draft, learner, content, {**state, "step": number})
        if target.exists():  # a run that was resumed comes by here again
            _remove(target)
        os.replace(draft, target)
        flush(folder)
    except (OSError, SafetensorError) as error:
        raise TrainingFault(
            f"the checkpoint {target} cannot be written: {error}; older checkpoints are intact, make room and resume"
        ) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    _forget(folder, number, keep)
    return target


def _forget(folder: Path, number: int, keep: int) -> None:
    """Checkpoints beyond `keep`, and later ones than this: those are damaged, and this run will write them again."""
    found = checkpoints(folder)
    later = [path for path in found if _number(path) > number]
    for path in [*later, *found[len(later) + keep :]]:
        _remove(path)


def _remove(path: Path) -> None:
    """Under another name first: a process that is killed meanwhile leaves no half of a checkpoint."""
    rest = path.with_name(f"{DRAFT}{_number(path)}.old")
    os.replace(path, rest)
    shutil.rmtree(rest, ignore_errors=True)


def _fill(draft: Path, learner: Learner, content: dict[str, Any], state: dict[str, Any]) -> None:
    export_policy(learner, draft / POLICY, content["policy"] if learner.processes.distributed else None)
    with open(draft / TRAINING, "wb") as file:
        try:
            torch.save(content, file)
        except RuntimeError as error:  # torch's own word for a disk that is full
            raise OSError(str(error)) from error
    state = {**state, "optimiser_steps": learner.steps}
    (draft / STATE).write_text(json.dumps(state, indent=1))
    config = draft.parent.parent / CONFIG
    if config.is_file():
        shutil.copyfile(config, draft / CONFIG)
    write_manifest(draft, state["step"])


def export_policy(learner: Learner, folder: Path, weights: dict[str, Any] | None = None) -> None:
    """The policy as a folder that transformers, `hf:FOLDER` and other trainers read; adapters are merged in.

    The engine has the newest weights already (`publish`). `weights` are the whole ones where the policy is in pieces.
    """
    model = learner.policy if not learner.options.lora_rank else learner.engine.model
    given = {} if weights is None or learner.options.lora_rank else {"state_dict": _all_names(model, weights)}
    try:
        with quiet():
            model.save_pretrained(folder, **given)
    except SafetensorError as error:  # its word for a disk that is full
        raise OSError(str(error)) from error
    for file in learner.engine.folder.iterdir():
        if file.is_file() and file.name.startswith(TOKENIZER_FILES):
            shutil.copyfile(file, folder / file.name)
    write_settings(folder, run_settings(learner.options))
    for write in learner.write_beside_policy:
        write(folder)


def _all_names(model: Any, weights: dict[str, Any]) -> dict[str, Any]:
    """Whole weights under every name that a state has for them: an output layer may be the embeddings again."""
    places = {id(parameter): weights[name] for name, parameter in model.named_parameters()}
    names = model.named_parameters(remove_duplicate=False)
    return {name: places[id(parameter)] for name, parameter in names}


# ---------------------------------------------------------------------- reading


def checkpoints(folder: Path) -> list[Path]:
    """All of a run, newest first, whole or not."""
    named = [path for path in folder.glob("step_*") if path.name[5:].isdecimal()]
    found = [path for path in named if (path / MANIFEST).exists() or (path / STATE).exists()]
    return sorted(found, key=_number, reverse=True)


def _number(path: Path) -> int:
    return int(path.name.removeprefix("step_"))


def newest_checkpoint(folder: Path, usable: Callable[[dict[str, Any]], Any] = dict) -> Path | None:
    """The newest checkpoint that is as it was written and whose state `usable` can read; None where there is none.

    `ConfigError` where there are some and all are damaged: to begin again in silence would throw the run away.
    """
    found = checkpoints(folder)
    for path in found:
        try:
            usable(_checked_state(path))
        except KeyError as error:
            log.warning("%s is damaged (%s has no %s); looking for an older one", path, STATE, error)
        except (OSError, ValueError, TypeError, msgspec.MsgspecError) as error:
            log.warning("%s is damaged (%s); looking for an older one", path, error)
        else:
            return path
    if found:
        raise ConfigError(f"every checkpoint in {folder} is damaged; remove that folder to begin again")
    return None


def _checked_state(path: Path) -> dict[str, Any]:
    """The state of a checkpoint that is as it was written."""
    check_manifest(path, _number(path))
    state = read_object(path / STATE)
    if state.get("step") != _number(path):
        raise Damaged(f"{STATE} is of step {state.get('step')!r}")
    int(state["optimiser_steps"])
    return state


def load_checkpoint(path: Path, learner: Learner) -> dict[str, Any]:
    """Put a checkpoint that was found whole into `learner` and return its state."""
    state = read_object(path / STATE)
    try:
        content = torch.load(path / TRAINING, map_location=learner.device, weights_only=True)
        _restore(learner, content, path)
    except ConfigError:
        raise
    except Exception as error:  # whatever a file that was made elsewhere holds in the place of tensors
        what = f"{type(error).__name__}: {error!s:.200}"
        raise ConfigError(f"{path / TRAINING} is no checkpoint of this run: {what}") from error
    learner.steps = int(state["optimiser_steps"])
    return state


@torch.no_grad()
def _restore(learner: Learner, content: dict[str, Any], path: Path) -> None:
    trained = {name: p for name, p in learner.policy.named_parameters() if p.requires_grad}
    given = content["policy"]
    if set(given) != set(trained) or any(given[name].shape != p.shape for name, p in trained.items()):
        raise ConfigError(f"{path} belongs to another model; give the model and adapters that the run began with")
    for name, parameter in trained.items():
        parameter.copy_(piece(given[name], parameter))
    critic = {} if learner.critic is None else learner.critic.state_dict()
    if set(critic) != set(content["critic"]):
        raise ConfigError(f"{path} belongs to a run with another critic; give the one that the run began with")
    for name, tensor in critic.items():
        tensor.copy_(piece(content["critic"][name], tensor))
    learner.optimiser.load_state_dict(state_in_pieces(content["optimiser"], learner.optimiser))
    learner.publish()
