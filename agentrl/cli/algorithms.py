"""The algorithms that can be trained with, and their options as types that a recipe and a command line share."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from dataclasses import fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from agentrl.core.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from agentrl.trainers.arguments import RunArguments

# name -> (module:arguments, what it is). Strings, so that reading the table does not need torch; the module's
# `train(arguments, say)` is the algorithm.
ALGORITHMS: dict[str, tuple[str, str]] = {
    "sft": ("agentrl.trainers.sft:SFT", "imitation of demonstrations, partly wrong ones if you like"),
    "ppo": ("agentrl.trainers.ppo:PPO", "PPO with a critic: masked, vanilla, turn or bilevel credit"),
    "steppo": ("agentrl.trainers.steppo:StepPO", "StepPO: one advantage and one ratio per step"),
    "grpo": ("agentrl.trainers.grpo:GRPO", "GRPO, Dr. GRPO, DAPO: trajectories compared with their group, no critic"),
    "rloo": ("agentrl.trainers.rloo:RLOO", "RLOO: trajectories compared with the others of their group"),
    "reinforce_pp": ("agentrl.trainers.reinforce_pp:ReinforcePP", "REINFORCE++: returns whitened over the batch"),
    "gspo": ("agentrl.trainers.gspo:GSPO", "GSPO: GRPO with one probability ratio per sequence"),
    "gigpo": ("agentrl.trainers.gigpo:GiGPO", "GiGPO: trajectories compared, and steps from the same observation"),
}

# Headings of the help. What is in none of them is the algorithm's own.
GROUPS: dict[str, tuple[str, ...]] = {
    "task": ("env", "env_kwargs", "strategy", "representation", "judge", "wrap", "prompt_style", "history"),
    "run": ("output", "resume", "seed", "iterations", "save_every", "keep", "save_trajectories", "trackers", "report"),
    "playing": (
        *("num_envs", "env_timeout", "isolate"),
        *("temperature", "top_p", "max_new_tokens", "generation_batch"),
        *("engine", "engine_options"),
    ),
    "computing": (
        *("model", "device", "dtype", "threads", "peer_timeout"),
        *("lora_rank", "lora_alpha", "gradient_checkpointing", "token_budget"),
    ),
    "optimiser": ("lr", "schedule", "warmup", "weight_decay", "max_grad_norm", "minibatches"),
    "evaluation": ("eval_every", "eval_at_start", "eval_episodes", "eval_split", "eval_modes"),
}


def check_algorithm(name: str) -> str:
    """The name, or a `ConfigError` with the nearest one."""
    if name not in ALGORITHMS:
        known = ", ".join(ALGORITHMS)
        raise ConfigError(f"no algorithm is called {name!a}.{did_you_mean(name, ALGORITHMS)} There are: {known}.")
    return name


def arguments_class(algorithm: str) -> type[RunArguments]:
    """The dataclass of an algorithm's options."""
    module, _, name = ALGORITHMS[check_algorithm(algorithm)][0].partition(":")
    return getattr(import_module(module), name)


def train_function(algorithm: str) -> Any:
    """`train(arguments, say)` of an algorithm."""
    return import_module(ALGORITHMS[algorithm][0].partition(":")[0]).train


def grouped_fields(cls: type[RunArguments], algorithm: str) -> dict[str, list[str]]:
    """Names of options under the headings of the help."""
    listed = {name for group in GROUPS.values() for name in group}
    names = [field.name for field in fields(cls)]
    own = [name for name in names if name not in listed]
    return {**{title: [n for n in group if n in names] for title, group in GROUPS.items()}, algorithm: own}


def described(cls: type) -> dict[str, str]:
    """What each option does: the texts below the fields of a dataclass and its bases."""
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__[:-1]):
        body = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
        assert isinstance(body, ast.ClassDef)
        for node, following in zip(body.body, body.body[1:], strict=False):
            if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
                continue
            if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
                found[node.target.id] = inspect.cleandoc(str(following.value.value))
    return found


def checked_values(cls: type[RunArguments], values: dict[str, Any], source: str) -> dict[str, Any]:
    """Values from a file in the types of the options; `ConfigError` for a name or a type that does not fit."""
    hints = get_type_hints(cls)
    known = [field.name for field in fields(cls)]
    for name in values:
        if name not in known:
            hint = did_you_mean(name, known)
            raise ConfigError(f"{source}: {cls.__name__} has no option {name!a}.{hint}")
    return {name: _fitting(f"{source}: {name}", value, hints[name]) for name, value in values.items()}


def _fitting(name: str, value: Any, hint: Any) -> Any:
    if get_origin(hint) is tuple:
        if not isinstance(value, (list, tuple)):
            raise ConfigError(f"{name} must be a list, not {value!r}")
        return tuple(_fitting(name, item, get_args(hint)[0]) for item in value)
    if get_origin(hint) is Literal:
        if value not in get_args(hint):
            raise ConfigError(f"{name} must be {' or '.join(map(str, get_args(hint)))}, not {value!r}")
        return value
    if hint is str and isinstance(value, (dict, list)):  # options that take JSON
        return json.dumps(value)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not hint:
        raise ConfigError(f"{name} must be of type {hint.__name__}, not {value!r}")
    return value
