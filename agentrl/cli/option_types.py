"""Options of the algorithms: their headings in the help, their descriptions, and their types, which recipes share."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.core.secrecy import protect_secrets_in, scrub

if TYPE_CHECKING:
    from agentrl.trainers.arguments.run import RunArguments

# Headings of the help. What is in none of them is the algorithm's own.
GROUPS: dict[str, tuple[str, ...]] = {
    "task": (
        *("env", "env_kwargs", "wrap", "prompt_style", "history"),
        *("strategy", "representation", "format_rule", "judge"),
    ),
    "run": (
        *("output", "resume", "seed", "iterations", "trackers", "report"),
        *("save_every", "save_total_limit", "save_trajectories"),
    ),
    "rollout": (
        *("num_envs", "env_timeout", "hosts"),
        *("temperature", "top_p", "max_new_tokens", "generation_batch_size"),
        *("engine", "engine_options"),
    ),
    "asynchronous": (
        *("asynchronous", "max_staleness", "refresh_every", "generators", "max_batch", "max_wait_ms"),
        *("queue_key", "routing", "simulators", "simulator_batch"),
    ),
    "compute": (
        *("model", "device", "dtype", "threads", "ddp_timeout"),
        *("lora_rank", "lora_alpha", "gradient_checkpointing", "token_budget"),
        *("master_weights", "packing", "compile", "float32_head"),
    ),
    "optimiser": (
        *("optimiser", "lr", "embedding_lr", "schedule", "warmup"),
        *("weight_decay", "max_grad_norm", "minibatches"),
    ),
    "evaluation": ("eval_every", "eval_at_start", "eval_episodes", "eval_split", "eval_env_kwargs", "eval_modes"),
}


def grouped_fields(cls: type[RunArguments], algorithm: str) -> dict[str, list[str]]:
    """Names of options under the headings of the help."""
    listed = {name for group in GROUPS.values() for name in group}
    names = [field.name for field in fields(cls)]
    own = [name for name in names if name not in listed]
    found = {title: [n for n in group if n in names] for title, group in GROUPS.items()}
    return {title: members for title, members in found.items() if members} | {algorithm: own}


def takes_json(name: str, hint: Any) -> str:
    """What JSON an option is typed as on the command line ("object", "list" or "either"); empty for other options."""
    if hint == dict[str, Any]:
        return "object"
    if hint == str | dict[str, Any]:
        return "either"  # a plain word, or an object
    return "list" if name.endswith("wrap") else ""


def typed_default(field: Field[Any], hint: Any) -> Any:
    """The default of an option as it would be typed."""
    value = field.default if field.default_factory is MISSING else field.default_factory()
    return as_typed(field.name, value, hint)


def as_typed(name: str, value: Any, hint: Any) -> Any:
    """A value as it would be typed on the command line."""
    if name == "env":
        given = [value] if isinstance(value, (str, Mapping)) else value
        return tuple(one if isinstance(one, str) else json.dumps(one) for one in given)
    return json.dumps(value) if takes_json(name, hint) and not isinstance(value, str) else value


def from_typed(name: str, value: Any, hint: Any) -> Any:
    """The value of an option that was typed; `ConfigError` where it is not the JSON it must be."""
    if name == "env":
        return tuple(parsed(name, one, "object") if one.lstrip().startswith("{") else one for one in value)
    kind = takes_json(name, hint)
    if kind == "either":
        return parsed(name, value, "object") if value.lstrip().startswith("{") else value
    return parsed(name, value, kind) if kind else value


def parsed(name: str, text: str, kind: str) -> Any:
    """An option that holds a JSON object or list."""
    protect_secrets_in(text)
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"{name} must be JSON: {error}") from error  # not shown: it may hold a key
    if not isinstance(value, dict if kind == "object" else list):
        raise ConfigError(f"{name} must be a JSON {kind}; got {scrub(text)!a}")
    return value


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


def checked_values(cls: type[RunArguments], values: Mapping[str, Any], source: str) -> dict[str, Any]:
    """Values from a file in the types of the options; `ConfigError` for an unknown name or a wrong type."""
    hints = get_type_hints(cls)
    known = [field.name for field in fields(cls)]
    for name in values:
        if name not in known:
            hint = did_you_mean(name, known)
            raise ConfigError(f"{source}: unknown option {name!a} of {cls.__name__}.{hint}")
    return {name: _fitting(f"{source}: {name}", value, hints[name]) for name, value in values.items()}


def _fitting(name: str, value: Any, hint: Any) -> Any:
    if get_origin(hint) is tuple:
        if not isinstance(value, (list, tuple)):
            raise ConfigError(f"{name} must be a list; got {value!r}")
        return tuple(_fitting(name, item, get_args(hint)[0]) for item in value)
    if get_origin(hint) is Literal:
        if value not in get_args(hint):
            raise ConfigError(f"{name} must be {' or '.join(map(str, get_args(hint)))}; got {value!r}")
        return value
    if name.endswith(": env") or takes_json(name, hint):
        return value  # the dataclass says what it takes
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not hint:
        raise ConfigError(f"{name} must be of type {hint.__name__}; got {value!r}")
    return value
