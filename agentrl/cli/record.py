"""`agentrl record ID`: episodes as GIF, MP4 or web page."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import tyro

from agentrl.cli.arguments import EnvId, json_object
from agentrl.cli.output import print_json, print_table, progress, waiting
from agentrl.cli.policy_options import POLICY_HELP, PolicyOptions, chosen_policy, model_options, prompt_layers
from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.core.seeding import episode_seed
from agentrl.policies import check_kind
from agentrl.rollout.episode import make, play_episode
from agentrl.rollout.evaluate import checked_kwargs
from agentrl.rollout.prompts import Prompting, prompt_style, prompting
from agentrl.rollout.trajectory import Trajectory
from agentrl.wrappers.build import wrap

FORMATS = ("gif", "mp4", "html")


@dataclass(kw_only=True)
class Arguments(PolicyOptions):
    """Let a policy play, and save what happened as files to look at: GIF, MP4, and a web page without outside parts.

    Every episode gets one file of each format in the output folder. GIF and MP4 show the pictures; the page also
    holds what the agent saw and wrote, the rewards and their terms. (`agentrl eval` measures a policy on many
    episodes; `agentrl report` shows episodes that were saved while training.)
    """

    id: EnvId
    """Environment id; `agentrl list` shows them."""
    policy: Annotated[str, tyro.conf.arg(help=POLICY_HELP, metavar="NAME")] = "oracle"
    episodes: int = 1
    """Number of episodes."""
    output: Path = Path("runs/recordings")
    """Output folder."""
    formats: Annotated[tuple[str, ...], tyro.conf.arg(metavar="gif|mp4|html ...")] = ()
    """File formats; default: all that can be written here (MP4 needs the extra `record`)."""


def run(arguments: Arguments) -> int:
    """Play, record and say where the files are."""
    episodes = whole_number("--episodes", arguments.episodes, at_least=1)
    seed = whole_number("--seed", arguments.seed, at_least=0)
    check_kind(arguments.policy, arguments.id)
    wrappers = prompt_layers(arguments, arguments.policy, arguments.id)
    policy = chosen_policy(arguments, arguments.policy, model_options(arguments, (arguments.policy,)))
    kwargs = checked_kwargs(json_object("--env-kwargs", arguments.env_kwargs))
    style = {"prompt_style": arguments.prompt_style, "history": arguments.history}
    how = prompting(policy, arguments.id, wrappers=wrappers, env_kwargs=kwargs, **style)
    env = recording_env(arguments, how)
    played = []
    try:
        with progress(f"record {arguments.id}", episodes) as advance:
            for index in range(episodes):
                style = prompt_style(how.prompt_style, how.history)
                played.append(play_episode(env, policy, episode_seed(seed, index), style))
                advance()
    finally:
        env.close()  # the last episode's files are complete only now
    files = [str(path) for path in env.get_wrapper_attr("files")]
    report(arguments, played, files)
    return 0 if files else 1


def recording_env(arguments: Arguments, how: Prompting) -> Any:
    """The environment inside the wrapper that writes the files."""
    from agentrl.wrappers.record_episode import RecordEpisode

    with waiting(f"making {arguments.id}"):
        env = make(arguments.id, **{"render_mode": "rgb_array", "split": arguments.split, **how.env_kwargs})
    return RecordEpisode(wrap(env, how.wrappers), arguments.output, formats=chosen_formats(arguments.formats))


def chosen_formats(names: tuple[str, ...]) -> tuple[str, ...]:
    """The formats asked for, or every one that needs nothing more installed."""
    for name in names:
        if name not in FORMATS:
            raise ConfigError(f"unknown format {name!a}.{did_you_mean(name, FORMATS)} Formats: {', '.join(FORMATS)}.")
    return names or tuple(name for name in FORMATS if name != "mp4" or find_spec("imageio_ffmpeg") is not None)


def report(arguments: Arguments, played: list[Trajectory], files: list[str]) -> None:
    """What was played and where it is."""
    rows = [
        {"seed": e.seed, "task": e.task, "turns": len(e.steps), "reward": e.reward, "success": e.success}
        for e in played
    ]
    if arguments.json:
        facts = {"schema": 1, "id": arguments.id, "policy": arguments.policy, "split": arguments.split}
        print_json({**facts, "seed": arguments.seed, "episodes": rows, "files": files})
        return
    print_table(("episode", *rows[0]), [(index, *row.values()) for index, row in enumerate(rows)])
    for path in files:
        print(path)
