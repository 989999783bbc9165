"""May the options in a folder be used? They must be whole, and this user's own, or name nothing harmful."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from agentrl.algorithms import Stage, arguments_class
from agentrl.cli.train_options import Option
from agentrl.core.errors import ConfigError
from agentrl.core.manifest import check_manifest, is_own
from agentrl.core.untrusted import check_environment
from agentrl.trainers.run.checkpoint import checkpoints
from agentrl.trainers.run.folder import CHECKPOINTS, CONFIG, read_config

# Words that mean nothing outside of agentrl, and the model, whose folder is only read.
WORDS = ("strategy", "representation", "model", "device", "eval_split", "output", "resume")
WRAPPERS = ("ActionChunks", "History", "Reasoning", "ReasoningReward", "RepetitionPenalty", "ToolCalls")
JUDGES = ("", "rule", "structured")


def checked_config(folder: Path) -> dict[str, Any]:
    """The options of a run, equal to the copy in its newest checkpoint that is as it was written."""
    found = checkpoints(folder / CHECKPOINTS)
    for path in found:
        try:
            check_manifest(path, under=CONFIG)
        except (OSError, ValueError):
            continue
        return read_config(folder, path) or {}
    if found:
        raise ConfigError(f"every checkpoint in {folder / CHECKPOINTS} is damaged; remove that folder to begin again")
    return read_config(folder, None) or {}


def check_origin(folder: Path, content: dict[str, Any], stages: Sequence[Stage], typed: Sequence[Option]) -> None:
    """`ConfigError` where a folder that somebody else wrote names what only the user may: modules, programs, files,
    addresses, keys. What is typed beside it is the user's own word."""
    if is_own(content):
        return
    said = {option.name.rpartition(".")[2] for option in typed}
    for stage in stages:
        for name, why in _foreign(stage, said):
            option = name.replace("_", "-")
            raise ConfigError(
                f"the run in {folder} was not begun by you on this machine, and its option {name} may not be taken "
                f"from it ({why}); if you trust it, give --{option} yourself"
            )


def _foreign(stage: Stage, said: set[str]) -> Iterator[tuple[str, str]]:
    """Options that are neither typed nor harmless, and why."""
    cls = arguments_class(stage.algorithm)
    hints, usual = get_type_hints(cls), {one.name: one for one in fields(cls)}
    envs = stage.options.get("env", ())
    for name, value in stage.options.items():
        if not value or name in said or name in WORDS or _is_harmless(hints.get(name)):
            continue
        try:
            if name == "env":
                for one in value if isinstance(value, list) else [value]:
                    each = one if isinstance(one, Mapping) else {"id": one}
                    check_environment(each.get("id"), each.get("kwargs", {}))
                    _check_wrappers(each.get("wrappers") or ())
            elif name in ("env_kwargs", "eval_env_kwargs"):
                for one in envs if isinstance(envs, list) else [envs]:
                    check_environment(one.get("id") if isinstance(one, Mapping) else one, value)
            elif name == "wrap":
                _check_wrappers(value)
            elif name == "judge":
                _check_judge(value)
            elif name not in usual or value != _default(usual[name]):
                yield name, "it may name a file, a program or an address"
        except ConfigError as error:
            yield name, str(error)


def _is_harmless(hint: Any) -> bool:
    """Numbers, switches, and words out of a list."""
    kind = get_args(hint)[0] if get_origin(hint) is tuple else hint
    return kind in (bool, int, float) or get_origin(kind) is Literal


def _default(one: Any) -> Any:
    found = one.default_factory() if one.default is MISSING else one.default
    return list(found) if isinstance(found, tuple) else found


def _check_wrappers(wrappers: Any) -> None:
    for layer in wrappers if isinstance(wrappers, list) else [wrappers] if wrappers else []:
        if not isinstance(layer, Mapping) or layer.get("wrapper") not in WRAPPERS:
            raise ConfigError(f"a wrapper must be one of {', '.join(WRAPPERS)}; got {layer!r:.80}")
        _check_judge(layer.get("judge", ""))


def _check_judge(judge: Any) -> None:
    if judge not in JUDGES:
        raise ConfigError(f"a judge must be {' or '.join(JUDGES[1:])}; got {judge!r:.80}")
