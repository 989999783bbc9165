"""`agentrl completion SHELL`: what the Tab key offers after `agentrl`, as a script for a shell."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Annotated, Any, Literal, get_type_hints

import tyro

from agentrl.algorithms import ALGORITHMS
from agentrl.cli.arguments import Common, metavar
from agentrl.cli.main import SHORT_FORMS, VERBS
from agentrl.cli.option_types import GROUPS
from agentrl.cli.output import print_json
from agentrl.core.errors import MissingExtra
from agentrl.policies import KINDS
from agentrl.recipes import recipe_names
from agentrl.registry import known

BASH = """# agentrl: Tab offers verbs, ids and options.
_agentrl() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='{verbs}'
  else
    case "${{COMP_WORDS[1]}} $previous" in
{cases}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _agentrl agentrl
"""


@dataclass(kw_only=True)
class Arguments(Common):
    """Print the completion of this command for a shell: verbs, ids, options and their values.

    bash: agentrl completion bash > ~/.local/share/bash-completion/completions/agentrl
    zsh: agentrl completion zsh >> ~/.zshrc
    fish: agentrl completion fish > ~/.config/fish/completions/agentrl.fish
    """

    shell: Annotated[tyro.conf.Positional[Literal["bash", "zsh", "fish"]], tyro.conf.arg(metavar="bash|zsh|fish")]
    """Which shell."""


Offer = dict[str, tuple[str, ...]]  # what may follow: options with the values that are known; "" stands for words


def run(arguments: Arguments) -> int:
    """Print the script."""
    offers = {verb: offer(verb) for verb in VERBS}
    script = fish(offers) if arguments.shell == "fish" else bash(offers)
    if arguments.shell == "zsh":
        script = f"autoload -U +X compinit bashcompinit && compinit && bashcompinit\n{script}"
    print_json({"schema": 1, "shell": arguments.shell, "script": script}) if arguments.json else print(script, end="")
    return 0


def offer(verb: str) -> Offer:
    """What a verb takes, as its options say; nothing where its extra is not installed."""
    if verb == "train":  # the options that all algorithms share, without importing one
        names = ("recipe", "resume", "processes", "json", *(name for group in GROUPS.values() for name in group))
        return {"": tuple(ALGORITHMS)} | {f"--{name.replace('_', '-')}": values_of(name, "") for name in names}
    try:
        module = import_module(f"agentrl.cli.{'site' if verb in SHORT_FORMS else verb.replace('-', '_')}")
    except MissingExtra:
        return {"": ()}
    chosen: Any = module.short_arguments(SHORT_FORMS[verb]) if verb in SHORT_FORMS else module.Arguments
    hints, found = get_type_hints(chosen, include_extras=True), {"": tuple[str, ...]()}
    for name in (field.name for field in fields(chosen)):
        values = values_of(name, metavar(hints[name], needed=True) or "")
        if tyro.conf.Positional in getattr(hints[name], "__metadata__", ()):
            found[""] += values
        else:
            found[f"--{name.replace('_', '-')}"] = values
    return found


def values_of(name: str, shown: str) -> tuple[str, ...]:
    """The words that an option or a place takes, by its name and by what the help shows for it."""
    if name == "policy":
        return tuple(kind if one.argument is None else f"{kind}:" for kind, one in KINDS.items())
    if name == "recipe":
        return tuple(recipe_names())
    listed = shown.removesuffix(" ...").split("|")
    if name == "env" or "ID" in listed:
        return tuple(entry.id for entry in known())
    return tuple(listed) if len(listed) > 1 and all(word.islower() for word in listed) else ()


# ---------------------------------------------------------------------- scripts


def bash(offers: dict[str, Offer]) -> str:
    """For bash, and for zsh, which understands it."""
    cases = []
    for verb, one in offers.items():
        cases += [
            f"      '{verb} {option}') words='{' '.join(one[option])}' ;;" for option in one if option and one[option]
        ]
        cases.append(f"      {verb}\\ *) words='{' '.join((*one[''], *filter(None, one), '--help'))}' ;;")
    return BASH.format(verbs=" ".join(offers), cases="\n".join(cases))


def fish(offers: dict[str, Offer]) -> str:
    """For fish, with what each verb does."""
    lines = ["complete -c agentrl -n __fish_use_subcommand -f"]
    for verb, one in offers.items():
        lines.append(f"complete -c agentrl -n __fish_use_subcommand -a {verb} -d {shlex.quote(VERBS[verb])}")
        for option, values in one.items():
            named = f" -l {option.removeprefix('--')}" if option else ""
            offered = f" -{'x' if option else ''}a '{' '.join(values)}'" if values else ""
            lines.append(f"complete -c agentrl -n '__fish_seen_subcommand_from {verb}'{named}{offered}")
    return "\n".join(lines) + "\n"
