"""`agentrl info ID`: all about one environment."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
from rich.markdown import Markdown
from rich.rule import Rule

from agentrl.cli.arguments import Common, EnvId, JsonText, json_object
from agentrl.cli.list import describe
from agentrl.cli.output import console, print_json, print_table, waiting
from agentrl.core.env import AgentEnv, keyword_arguments
from agentrl.core.errors import ConfigError
from agentrl.core.family import load
from agentrl.registry import MULTIPLAYER, known
from agentrl.rollout.episode import make


@dataclass(kw_only=True)
class Arguments(Common):
    """All about one environment: spaces, arguments with their defaults, limits, prompt, documentation."""

    id: EnvId
    """Which environment; `agentrl list` shows them."""
    env_kwargs: JsonText = "{}"
    """Arguments of the environment, for example '{"size": 8}'."""


def run(arguments: Arguments) -> int:
    """Make the environment once and print what it says about itself."""
    kwargs = json_object("--env-kwargs", arguments.env_kwargs)
    several = next((entry for entry in MULTIPLAYER if entry.id == arguments.id), None)
    with waiting(f"making {arguments.id}"):
        try:
            env = load(several.entry_point)(**kwargs) if several else make(arguments.id, **kwargs)
        except TypeError as error:  # a name that no function takes, such as "self"
            raise ConfigError(f"{arguments.id} cannot be made: {error}") from error
    try:
        facts = collect(arguments.id, env)
    finally:
        env.close()
    print_json(facts) if arguments.json else show(facts)
    return 0


def collect(env_id: str, env: Any) -> dict[str, Any]:
    """Every fact, as JSON types; `env` is of Gymnasium or, with several players, of PettingZoo."""
    base = env.unwrapped
    row = next((describe(entry) for entry in (*known(), *MULTIPLAYER) if entry.id == env_id), {"id": env_id})
    return {
        "schema": 1,
        **row,
        "entry_point": f"{type(base).__module__}:{type(base).__name__}",
        "observation_space": space_of(env, "observation_space"),
        "action_space": space_of(env, "action_space"),
        "arguments": arguments_of(base),
        "limits": {name: getattr(base, name, None) for name in ("max_turns", "max_actions_per_turn")},
        "render_modes": list(base.metadata.get("render_modes", [])),
        "representations": sorted(getattr(base, "representations", ())),
        "system_prompt": prompt_of(env),
        "doc": inspect.getdoc(type(base)) or "",
    }


def space_of(env: Any, name: str) -> str:
    """A space in words; with several players, that of each."""
    if isinstance(env, gym.Env):
        return str(getattr(env, name))
    return ", ".join(f"{player}: {getattr(env, name)(player)}" for player in env.possible_agents)


def prompt_of(env: Any) -> str:
    """What an agent is told; with several players, each in turn; "" where there is nothing."""
    if isinstance(env, gym.Env):
        return env.get_wrapper_attr("system_prompt") if env.has_wrapper_attr("system_prompt") else ""
    return "\n\n".join(f"{player}: {env.system_prompt(player)}" for player in env.possible_agents)


def arguments_of(base: Any) -> dict[str, dict[str, Any]]:
    """Every argument with its default and its value here."""
    if not isinstance(base, AgentEnv):
        return {}
    defaults = {name: None if d is inspect.Parameter.empty else d for name, d in keyword_arguments(type(base)).items()}
    return {name: {"default": plain(defaults.get(name)), "value": plain(v)} for name, v in base.parameters.items()}


def plain(value: Any) -> Any:
    """JSON types; a live object is described instead."""
    return json.loads(json.dumps(value, default=repr))


def show(facts: dict[str, Any]) -> None:
    """The same for a person."""
    screen = console()
    screen.print(Rule(facts["id"], align="left"))
    screen.print(Markdown(facts["doc"]))
    rows = [(n, json.dumps(a["default"]), json.dumps(a["value"])) for n, a in facts["arguments"].items()]
    if rows:
        print_table(("argument", "default", "here"), rows, title="Arguments")
    details = ("observation_space", "action_space", "render_modes", "representations", "entry_point")
    limits = [(name.replace("_", " "), value) for name, value in facts["limits"].items() if value is not None]
    rows = [(name.replace("_", " "), as_text(facts[name])) for name in details]
    print_table(("property", "value"), [*limits, *rows], title="Properties")
    if facts["system_prompt"]:
        screen.print(Rule("system prompt", align="left"))
        screen.print(facts["system_prompt"], markup=False)


def as_text(value: Any) -> str:
    """Lists with commas, anything else as it is."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
