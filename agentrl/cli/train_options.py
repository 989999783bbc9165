"""The words of `agentrl train`, read twice: first which run is meant, then its algorithm's options."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, make_dataclass
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import tyro

from agentrl.algorithms import ALGORITHMS, arguments_class, check_algorithm
from agentrl.cli.arguments import one_default
from agentrl.cli.option_types import (
    as_typed,
    checked_values,
    described,
    from_typed,
    grouped_fields,
    takes_json,
    typed_default,
)
from agentrl.core.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from agentrl.trainers.arguments.run import RunArguments

START = re.compile(r"--?[A-Za-z]")  # of an option; -0.1 is a value


@dataclass(frozen=True)
class Option:
    """An option as it was typed, with its values."""

    words: tuple[str, ...]

    @property
    def name(self) -> str:
        """Without dashes before it, with underscores inside."""
        return self.words[0].lstrip("-").partition("=")[0].replace("-", "_")

    @property
    def values(self) -> tuple[str, ...]:
        """What stands after it."""
        joined = self.words[0].partition("=")[2]
        return ((joined,) if "=" in self.words[0] else ()) + self.words[1:]

    def without_stage(self) -> Option:
        """`--rl.lr 1` as `--lr 1`."""
        return Option(("--" + self.words[0].lstrip("-").partition(".")[2], *self.words[1:]))


@dataclass
class TrainWords:
    """What `agentrl train ...` asks for; the options of the algorithm are still as typed."""

    algorithm: str = ""
    recipe: str = ""
    output: str = ""
    resume: bool = False
    json: bool = False
    help: bool = False
    processes: int = 1
    words: list[str] = field(default_factory=list)  # as typed, less how many processes
    options: list[Option] = field(default_factory=list)


def read_words(words: Sequence[str]) -> TrainWords:
    """Tell the run from its options."""
    rest = ["--asynchronous" if word == "--async" else word for word in words]
    found = TrainWords(words=list(rest))
    if rest and not START.match(rest[0]):
        found.algorithm = check_algorithm(rest.pop(0))
    if rest and not START.match(rest[0]):
        raise ConfigError(f"options must begin with --; got {rest[0]!a}")
    for option in split_options(rest):
        if option.name in ("json", "help", "h"):
            setattr(found, "json" if option.name == "json" else "help", True)
            _no_more(option, 0)
        elif option.name in ("recipe", "output"):
            setattr(found, option.name, _one_value(option))
        elif option.name == "processes":
            found.processes = _count(option)
            found.words = _without(found.words, option)
        elif option.name == "resume":
            found.resume = True
            if option.values:
                found.output = _one_value(option)
        else:
            found.options.append(option)
    return found


def split_options(words: Sequence[str]) -> list[Option]:
    """Each option with the values after it."""
    found: list[list[str]] = []
    for word in words:
        found.append([word]) if START.match(word) else found[-1].append(word)
    return [Option(tuple(group)) for group in found]


def _no_more(option: Option, count: int) -> None:
    if len(option.values) > count:
        raise ConfigError(f"unexpected {option.values[count]!a} after {option.words[0]}")


def _count(option: Option) -> int:
    text = _one_value(option)
    if not text.isdecimal() or not int(text):
        raise ConfigError(f"{option.words[0].partition('=')[0]} must be a whole number of at least 1; got {text!a}")
    return int(text)


def _without(words: list[str], option: Option) -> list[str]:
    place = words.index(option.words[0])
    return words[:place] + words[place + len(option.words) :]


def _one_value(option: Option) -> str:
    _no_more(option, 1)
    if not option.values or not option.values[0]:
        raise ConfigError(f"{option.words[0]} needs a value")
    return option.values[0]


# ---------------------------------------------------------------------- options of an algorithm


def accepts(cls: type[RunArguments], option: Option) -> bool:
    """Whether an algorithm has this option."""
    names = {one.name for one in fields(cls)}
    return option.name in names or option.name.removeprefix("no_") in names


def options_for(stage: str, number: int, cls: type[RunArguments], options: Sequence[Option]) -> list[Option]:
    """Those that concern one stage of several: all it has, except those addressed to another.

    A model is where the first stage starts; the others start from the stage before them.
    """
    chosen = []
    for option in options:
        addressee, dot, _ = option.words[0].lstrip("-").partition("=")[0].partition(".")
        if dot and addressee == stage:
            chosen.append(option.without_stage())
        elif not dot and accepts(cls, option) and not (option.name == "model" and number):
            chosen.append(option)
    return chosen


def check_options(stages: Sequence[tuple[str, type[RunArguments]]], options: Sequence[Option]) -> None:
    """Complain about an option that no stage has."""
    for option in options:
        addressee, dot, _ = option.words[0].lstrip("-").partition("=")[0].partition(".")
        if dot:
            if addressee not in {name for name, _ in stages}:
                names = ", ".join(name for name, _ in stages)
                raise ConfigError(f"{option.words[0]}: unknown stage {addressee!a}. There are: {names}")
        elif not any(accepts(cls, option) for _, cls in stages):
            known = sorted({f"--{one.name.replace('_', '-')}" for _, cls in stages for one in fields(cls)})
            raise ConfigError(f"unknown option {option.words[0]} of all stages.{did_you_mean(option.words[0], known)}")


def stage_arguments(algorithm: str, values: Mapping[str, Any], options: Sequence[Option], source: str) -> RunArguments:
    """The arguments of a run: `values` where nothing was typed, the algorithm's defaults elsewhere."""
    cls = arguments_class(algorithm)
    defaults = checked_values(cls, values, source)
    if not options:
        return cls(**defaults)
    words = [word for option in options for word in option.words]
    return cls(**_typed(algorithm, cls, defaults, words))


def show_help(algorithm: str, values: Mapping[str, Any]) -> None:
    """Print the options of an algorithm; leaves by `SystemExit`, as tyro does."""
    cls = arguments_class(algorithm)
    _typed(algorithm, cls, checked_values(cls, values, "recipe"), ["-h"])


def _typed(algorithm: str, cls: type[RunArguments], defaults: dict[str, Any], words: list[str]) -> dict[str, Any]:
    """tyro reads a copy of the dataclass that checks nothing: the checks speak for themselves, in one line."""
    form, hints = _form(algorithm, cls, defaults), get_type_hints(cls)
    found = tyro.cli(form, prog=f"agentrl train {algorithm}", description=ALGORITHMS[algorithm][1], args=words)
    return {
        name: from_typed(name, getattr(getattr(found, group), name), hints[name])
        for group, names in grouped_fields(cls, algorithm).items()
        for name in names
    }


def _form(algorithm: str, cls: type[RunArguments], defaults: dict[str, Any]) -> type:
    hints, texts = get_type_hints(cls), described(cls)
    usual = {one.name: typed_default(one, hints[one.name]) for one in fields(cls)}
    usual |= {name: as_typed(name, value, hints[name]) for name, value in defaults.items()}
    types = {name: str if takes_json(name, hint) else hint for name, hint in hints.items()} | {"env": tuple[str, ...]}
    groups = []
    for title, names in grouped_fields(cls, algorithm).items():
        members = []
        for n in names:
            json = {"object": "JSON", "list": "JSON", "either": "WORD|JSON"}.get(takes_json(n, hints[n]))
            text = texts.get(n, "")
            name = "ID|JSON" if n == "env" else json
            about = tyro.conf.arg(help=text, metavar=name, help_behavior_hint=one_default(text))
            members.append((n, Annotated[types[n], about], usual[n]))
        group = make_dataclass(title.title(), members, kw_only=True)
        group.__doc__ = ""  # or tyro shows the signature
        groups.append((title, Annotated[group, tyro.conf.OmitArgPrefixes], field(default_factory=group)))
    extra = [
        ("recipe", Annotated[str, tyro.conf.arg(help="Take the values that are not given from this recipe.")], ""),
        ("processes", Annotated[int, tyro.conf.arg(help="Train in N processes, one for each GPU.")], 1),
        ("json", Annotated[bool, tyro.conf.arg(help="Print one JSON object on stdout at the end.")], False),
    ]
    return make_dataclass("Options", [*extra, *groups], kw_only=True)
