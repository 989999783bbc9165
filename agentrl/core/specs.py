"""Judges and scorers given as JSON: `"rule"`, `{"kind": "llm", "model": ...}`, or a ready object.

Environments and wrappers must not import judges; they hold a spec and call `resolve` when they first need the object. A
kind is a name from the table below (or added by `register_spec`), or "module:Class" for a class of one's own.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

from agentrl.core.errors import AgentRLError, ConfigError, MissingExtra, did_you_mean
from agentrl.core.judging import Judge, Scorer
from agentrl.core.redact import redact
from agentrl.core.secrecy import protect_secrets_in

ROLES: dict[str, type] = {"judge": Judge, "scorer": Scorer}
PLACE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


class SpecEntry(NamedTuple):
    """Where the class of a kind lives, and which optional dependency group it needs."""

    target: str
    extra: str | None = None


# The built-in kinds of each role: strings only, so that reading the table imports nothing.
_TABLE: dict[str, dict[str, SpecEntry]] = {
    "judge": {
        "rule": SpecEntry("agentrl.judges.rule:RuleJudge"),
        "structured": SpecEntry("agentrl.judges.structured:StructuredJudge"),
        "llm": SpecEntry("agentrl.judges.llm:LLMJudge", "judge"),
        "outcome": SpecEntry("agentrl.judges.outcome:OutcomeJudge", "judge"),
        "orm": SpecEntry("agentrl.judges.orm:ORMJudge", "train"),
        "audited": SpecEntry("agentrl.judges.ensemble:AuditedJudge"),
    },
    "scorer": {
        "default": SpecEntry("agentrl.judges.similarity.default:DefaultSimilarity"),
        "msssim": SpecEntry("agentrl.judges.similarity.classical:MultiScaleSimilarity"),
        "edges": SpecEntry("agentrl.judges.similarity.classical:EdgeSimilarity"),
        "colours": SpecEntry("agentrl.judges.similarity.classical:ColourSimilarity"),
        "classical": SpecEntry("agentrl.judges.similarity.classical:ClassicalSimilarity"),
        "stlpips": SpecEntry("agentrl.judges.similarity.stlpips:ShiftTolerantLPIPS", "similarity"),
        "dino": SpecEntry("agentrl.judges.similarity.dino:DinoSimilarity", "similarity"),
        "dreamsim": SpecEntry("agentrl.judges.similarity.dreamsim:DreamSimSimilarity", "similarity"),
    },
}


def register_spec(role: str, kind: str, target: str, extra: str | None = None) -> None:
    """Make `kind` known for a role: `target` is "module:Class", imported when it is first needed."""
    known = _kinds_of(role)
    if not isinstance(kind, str) or not kind or ":" in kind:
        raise ConfigError(f"a kind must be a name without a colon; got {kind!r}")
    if not isinstance(target, str) or not PLACE.fullmatch(target):
        raise ConfigError(f'a target must be "module:Class"; got {target!r}')
    entry = SpecEntry(target, extra)
    if known.setdefault(kind, entry) != entry:
        raise ConfigError(f"{role} {kind!r} is {known[kind].target} already")


def known_kinds(role: str) -> tuple[str, ...]:
    """The kinds that `resolve` knows by name."""
    return tuple(sorted(_kinds_of(role)))


def resolve(role: str, spec: Any) -> Any:
    """The judge or scorer that `spec` describes; a ready object is returned as it is."""
    _kinds_of(role)
    protect_secrets_in(spec)  # before anybody can quote it
    if isinstance(spec, (str, Mapping)):
        kind, arguments = _take_apart(role, spec)
        entry = _find(role, kind)
        return _make(role, kind, _load(role, kind, entry), arguments, entry)
    if isinstance(spec, type):
        raise ConfigError(f"{role} is the class {spec.__name__}; pass an object of it, or a JSON spec")
    if not isinstance(spec, ROLES[role]):
        raise ConfigError(
            f"{role} must be a kind, a dict with a kind, or an object with {_methods(role)}; got {type(spec).__name__}"
        )
    return spec


def class_of(role: str, spec: Any) -> type | None:
    """The class of a judge or scorer, without making one; None if it cannot be found (`resolve` says why)."""
    if not isinstance(spec, (str, Mapping)):
        return type(spec)
    try:
        kind, _ = _take_apart(role, spec)
        return _load(role, kind, _find(role, kind))
    except AgentRLError:
        return None


def to_json(spec: Any) -> Any:
    """The JSON form of a spec (a copy); `ConfigError` for a live object, which has none."""
    if isinstance(spec, str):
        return spec
    if not isinstance(spec, Mapping):
        raise ConfigError(
            f"a live {type(spec).__name__} object cannot be written as JSON; give a spec instead, "
            'for example "module:Class" or {"kind": "module:Class", ...}'
        )
    return _plain(spec, "spec")


# ---------------------------------------------------------------------- the steps of resolving


def _kinds_of(role: str) -> dict[str, SpecEntry]:
    if role not in ROLES:
        raise ConfigError(f"role must be one of {', '.join(ROLES)}; got {role!r}")
    return _TABLE[role]


def _methods(role: str) -> str:
    names = [name for name in vars(ROLES[role]) if not name.startswith("_")]
    return " and ".join(f"{name}()" for name in names)


def _take_apart(role: str, spec: str | Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    if isinstance(spec, str):
        return spec, {}
    if not isinstance(spec.get("kind"), str):
        raise ConfigError(f'a {role} spec needs "kind", one of: {_list_kinds(role)}')
    arguments = {name: value for name, value in spec.items() if name != "kind"}
    for name in arguments:
        if not isinstance(name, str):
            raise ConfigError(f"the arguments of a {role} spec must have names; got {name!r}")
    return spec["kind"], arguments


def _list_kinds(role: str) -> str:
    return ", ".join([*known_kinds(role), '"module:Class"'])


def _find(role: str, kind: str) -> SpecEntry:
    known = _kinds_of(role)
    if kind in known:
        return known[kind]
    if PLACE.fullmatch(kind):
        return SpecEntry(kind)
    raise ConfigError(f"unknown {role} {kind!r}.{did_you_mean(kind, known)} Known: {_list_kinds(role)}.")


def _load(role: str, kind: str, entry: SpecEntry) -> type:
    """The class of a kind. Only one that has the role's methods: a spec must not be able to call just anything."""
    module, _, path = entry.target.partition(":")
    try:
        found: Any = import_module(module)
    except ImportError as error:
        raise _missing(role, kind, entry, error) from error
    for name in path.split("."):
        if not hasattr(found, name):
            raise ConfigError(f"{role} {kind!r}: {module} has no {path}")
        found = getattr(found, name)
    if not isinstance(found, type) or not issubclass(found, ROLES[role]):
        raise ConfigError(f"{role} {kind!r}: {entry.target} must be a class with {_methods(role)}")
    return found


def _make(role: str, kind: str, cls: type, arguments: dict[str, Any], entry: SpecEntry) -> Any:
    _check_arguments(role, kind, cls, arguments)
    try:
        return cls(**arguments)
    except AgentRLError:
        raise
    except ImportError as error:  # a class may import its heavy parts only when it is made
        raise _missing(role, kind, entry, error) from error
    except (TypeError, ValueError) as error:
        given = ", ".join(arguments) or "no arguments"  # names alone: a value may be a secret
        raise ConfigError(f"{role} {kind!r} cannot be made with {given}: {redact(str(error))}") from error


def _check_arguments(role: str, kind: str, cls: type, arguments: dict[str, Any]) -> None:
    try:
        parameters = inspect.signature(cls).parameters.values()
    except (TypeError, ValueError):  # a class in C may have no signature; it will complain itself
        return
    named = {p.name: p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)
    for name in [] if takes_any else arguments.keys() - named.keys():
        takes = ", ".join(named) or "none"
        raise ConfigError(f"{role} {kind!r} has no argument {name!r}.{did_you_mean(name, named)} It takes: {takes}.")
    needed = [name for name, p in named.items() if p.default is p.empty and name not in arguments]
    if needed:
        raise ConfigError(f"{role} {kind!r} needs {', '.join(needed)}")


def _missing(role: str, kind: str, entry: SpecEntry, error: ImportError) -> AgentRLError:
    if isinstance(error, AgentRLError):
        return error
    package = (error.name or re.split("[.:]", entry.target)[0]).partition(".")[0]
    if entry.extra is not None and package != "agentrl":
        return MissingExtra(package, entry.extra)
    return ConfigError(f"{role} {kind!r} cannot be imported: {error}")


def _plain(value: Any, where: str) -> Any:
    """A copy of a JSON value; anything else is named by where it stands."""
    if value is None or isinstance(value, (str, bool, int)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{where}[{index}]") for index, item in enumerate(value)]
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise ConfigError(f"{where} has the key {key!r}; JSON keys must be text")
        return {key: _plain(item, f"{where}.{key}") for key, item in value.items()}
    raise ConfigError(f"{where} is a {type(value).__name__} ({value!r}), which cannot be written as JSON")
