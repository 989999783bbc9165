"""An episode once more: the environment is built again from its record and the same actions run, for its pictures."""

from __future__ import annotations

import logging
from contextlib import closing
from dataclasses import dataclass

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from agentrl.core.env import AgentEnv
from agentrl.core.env_class import env_class
from agentrl.core.untrusted import check_environment
from agentrl.rollout.episode import make
from agentrl.rollout.trajectory import Trajectory, plain

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Scene:
    """What the world looked like, after which action of which turn (turns count from 1; 0 is the beginning)."""

    picture: np.ndarray
    turn: int
    action: str = ""
    closes: bool = True  # the last scene of its turn


def replay(trajectory: Trajectory, *, each_action: bool = False) -> list[Scene] | None:
    """The scenes of an episode: the start, then the end of each turn, or every single action.

    None where the world cannot be built again or does not behave as the record says: a picture of something that did
    not happen would be worse than none. A record may come from anywhere: it names an environment that is registered
    here, with arguments that are safe (see `agentrl.core.untrusted`), or it is not drawn. Building may take long.
    """
    if trajectory.task is None:
        return None
    try:
        kwargs = (trajectory.spec or {}).get("kwargs") or {}
        check_environment(trajectory.env_id, kwargs)
        if not issubclass(env_class(trajectory.env_id) or object, AgentEnv):
            return None
        with closing(make(trajectory.env_id, **{**kwargs, "render_mode": "rgb_array"})) as env:
            return _play(env, trajectory, each_action)
    except Exception as error:  # whatever a record of unknown origin makes an environment do: no picture
        log.warning("%.80a is not drawn: %.300s", trajectory.id, error)
        return None


def _play(env: gym.Env, trajectory: Trajectory, each_action: bool) -> list[Scene] | None:
    world = env.unwrapped
    assert isinstance(world, AgentEnv)
    world.reset(seed=trajectory.seed, options={"task": trajectory.task})
    scenes = [Scene(_picture(world), 0)]
    for number, step in enumerate(trajectory.steps, 1):
        told = step.info.get("actions")  # as the environment itself said: wrappers may have turned anything into it
        ran = [str(action) for action in told] if isinstance(told, list) else [str(step.action)]
        if isinstance(world.action_space, spaces.Box):
            # An array, or the rows of a chunk as far as they ran.
            chunk = isinstance(step.action, list) and any(isinstance(row, list) for row in step.action)
            whole = [step.action if step.info.get("valid", True) else None]
            rows = step.action[: step.info.get("ran", 1)] if chunk else whole
            info = [world.step(row) for row in rows][-1][4]
        else:
            if each_action:
                scenes += _steps_within(world, number, ran)
            *_, info = world.step(", ".join(ran))
        recorded = step.info.get("state")
        if recorded is not None and plain(info["state"]) != recorded:
            return None
        scenes.append(Scene(_picture(world), number, ran[-1] if ran else "nothing ran"))
    return scenes


def _steps_within(world: AgentEnv, turn: int, actions: list[str]) -> list[Scene]:
    """The scenes after all actions of a turn but the last: run so far, drawn, taken back."""
    before, scenes = world.snapshot(), []
    for count in range(1, len(actions)):
        world.step(", ".join(actions[:count]))
        scenes.append(Scene(_picture(world), turn, actions[count - 1], closes=False))
        world.restore(before)
    return scenes


def _picture(world: AgentEnv) -> np.ndarray:
    return np.asarray(world.render())
