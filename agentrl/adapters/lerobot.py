"""lerobot's policies in agentrl's environments of continuous control, and these environments in lerobot's own loop.

    from agentrl.adapters.lerobot import LeRobotPolicy
    from agentrl.rollout.evaluate import evaluate

    policy = LeRobotPolicy("outputs/train/my_policy/checkpoints/last/pretrained_model")
    result = evaluate("agentrl/LIBERO-Spatial-v0", policy, 500, env_kwargs={"protocol": "lerobot"})
    print(result.success, result.success_ci)

On the command line the same is `--policy lerobot:FOLDER`. lerobot wants an older torch than agentrl's set-up pins, so
it has a virtual environment of its own, with agentrl in it (`scripts/setup.sh lerobot`).

`LeRobotEnv` is an environment as lerobot's `make_env` would give it, for `lerobot.scripts.lerobot_eval.eval_policy`.
Data sets need no lerobot: `agentrl.rollout.lerobot`.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.core.policy import Conversation, Generation, require_envs
from agentrl.core.seeding import mixed_seed
from agentrl.rollout.lerobot.names import ACTION, camera_keys
from agentrl.rollout.prompts import read_observation

INSTALL = "python3 -m venv .venv-lerobot && .venv-lerobot/bin/pip install 'lerobot==0.4.4' 'agentrl-suite[robots]'"


class MissingLeRobot(MissingExtra):
    """lerobot, or a part of it, is not installed beside agentrl; the message says how both get an environment."""

    def __init__(self, package: str) -> None:
        super(MissingExtra, self).__init__(
            f"{package} is not installed here; lerobot needs a virtual environment of its own: {INSTALL} "
            "(in a checkout: scripts/setup.sh lerobot)"
        )
        self.package, self.extra = package, "lerobot"

    def __reduce__(self) -> tuple:
        return type(self), (self.package,)


MISSING = ""  # the package that is not there: environments and names can be used without
try:
    import lerobot  # noqa: F401  # pyright: ignore  (first: where it is missing nothing heavy is loaded)
    import torch
    from lerobot.configs.policies import PreTrainedConfig  # pyright: ignore
    from lerobot.envs.utils import preprocess_observation  # pyright: ignore
    from lerobot.policies.factory import get_policy_class, make_pre_post_processors  # pyright: ignore
    from lerobot.policies.pretrained import PreTrainedPolicy  # pyright: ignore
except ImportError as error:
    MISSING = error.name or "lerobot"


def raw_observation(observation: Mapping[str, Any]) -> dict[str, Any]:
    """An observation by the names that lerobot's environments use: pixels, agent_pos, environment_state."""
    _, pictures = read_observation(dict(observation))
    named = {key.rpartition(".")[2]: picture for key, picture in zip(camera_keys(len(pictures)), pictures, strict=True)}
    found: dict[str, Any] = {}
    if pictures:
        found["pixels"] = pictures[0] if len(pictures) == 1 else named
    for ours, theirs in (("proprio", "agent_pos"), ("state", "environment_state")):
        if ours in observation:
            found[theirs] = observation[ours]
    return found


def instruction_in(observation: Mapping[str, Any], env: gym.Env) -> str:
    """What is asked, without the feedback that may follow it."""
    if text := observation.get("text"):
        return str(text).partition("\n")[0]
    if not env.has_wrapper_attr("instruction"):
        raise ConfigError("a policy of lerobot is told the instruction: leave obs_text at True where hosts play")
    return str(env.get_wrapper_attr("instruction"))


class LeRobotPolicy:
    """A policy of lerobot, with its processors, that plays as `lerobot-eval` lets it: `reset()` before an episode, then
    `select_action()` for every step, which keeps a queue of the actions of a chunk.

    `policy` is a folder that `save_pretrained` wrote, or the policy itself, with the two processors that belong to it.
    Episodes played side by side have a queue each and share the weights. Inside `ActionChunks` of `n_action_steps` it
    answers with whole chunks, and nothing is drawn in between: the same actions, sooner. Sampling follows from `seed`,
    the episode's seed and the step.
    """

    name = "lerobot"

    def __init__(
        self,
        policy: str | Path | PreTrainedPolicy,
        preprocessor: Any = None,
        postprocessor: Any = None,
        *,
        device: str = "",
        seed: int = 0,
    ) -> None:
        if MISSING:
            raise MissingLeRobot(MISSING)
        self.seed = seed
        parts = (policy, preprocessor, postprocessor)
        if isinstance(policy, (str, Path)):
            parts = load(policy, device)
        elif preprocessor is None or postprocessor is None:
            raise ConfigError("a policy in memory must come with its preprocessor and postprocessor")
        self.policy: Any = parts[0]
        self.policy.eval()
        self.preprocessor, self.postprocessor = parts[1:]
        # The environment's random generator, which tells a new episode; the policy with its queue; steps so far.
        self._players: WeakKeyDictionary[gym.Env, tuple[Any, Any, int]] = WeakKeyDictionary()

    def act(self, conversations: Sequence[Conversation], envs: Sequence[gym.Env] | None = None) -> list[Generation]:
        """One action, or chunk, for each environment."""
        chosen = require_envs(self.name, conversations, envs)
        return [self._answer(conversation, env) for conversation, env in zip(conversations, chosen, strict=True)]

    def _answer(self, conversation: Conversation, env: gym.Env) -> Generation:
        observation = conversation[-1].get("observation") if conversation else None
        if not isinstance(observation, dict):
            raise ConfigError("a policy of lerobot needs observations with arrays; this conversation has text only")
        player, step = self._player(env, observation)
        batch = preprocess_observation(raw_observation(observation))
        batch = self.preprocessor({**batch, "task": [instruction_in(observation, env)]})
        shape = env.action_space.shape or ()
        rows = shape[0] if len(shape) == 2 else 1
        with torch.random.fork_rng(), torch.inference_mode():
            torch.manual_seed(mixed_seed(self.seed, env.unwrapped.np_random_seed, step))
            actions = [self.postprocessor(player.select_action(dict(batch))) for _ in range(rows)]
        values = torch.cat(actions).cpu().numpy().astype(np.float32)
        return Generation(text="", action=values if len(shape) == 2 else values[0])

    def _player(self, env: gym.Env, observation: Mapping[str, Any]) -> tuple[PreTrainedPolicy, int]:
        """The policy of this environment, fresh where an episode begins, and the number of the step."""
        base = env.unwrapped
        generator, player, step = self._players.get(base, (None, None, 0))
        if player is None:
            check_fit(self.policy, env, observation)
            shared = {id(weight): weight for weight in chain(self.policy.parameters(), self.policy.buffers())}
            player = copy.deepcopy(self.policy, shared)
        if generator is not base.np_random:  # every seeded reset gives a new generator object
            player.reset()
            step = 0
        self._players[base] = (base.np_random, player, step + 1)
        return player, step


def load(folder: str | Path, device: str = "") -> tuple[PreTrainedPolicy, Any, Any]:
    """The policy that `save_pretrained` wrote into a folder, and its processors; nothing is downloaded."""
    path = Path(folder)
    if not (path / "config.json").is_file():
        raise ConfigError(f"a policy of lerobot must be a folder with config.json and model.safetensors; got {path}")
    config = PreTrainedConfig.from_pretrained(path, local_files_only=True)
    config.device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    policy = get_policy_class(config.type).from_pretrained(path, config=config, local_files_only=True)
    overrides = {"device_processor": {"device": config.device}}
    before, after = make_pre_post_processors(config, str(path), preprocessor_overrides=overrides)
    return policy, before, after


def check_fit(policy: PreTrainedPolicy, env: gym.Env, observation: Mapping[str, Any]) -> None:
    """`ConfigError` where a policy and an environment do not fit: cameras, shapes, actions, chunks."""
    config: Any = policy.config
    seen = {key: tuple(value.shape[1:]) for key, value in preprocess_observation(raw_observation(observation)).items()}
    for key, feature in config.input_features.items():
        wanted = tuple(feature.shape)
        # Pictures of another size are resized by the policies that can; the others say so themselves.
        if key not in seen or (len(wanted) == 1 and seen[key] != wanted):
            shown = ", ".join(f"{name} {shape}" for name, shape in seen.items())
            raise ConfigError(f"the environment must show {key} {wanted}, which the policy reads; it shows {shown}")
    shape, wanted = env.action_space.shape or (), tuple(config.output_features[ACTION].shape)
    if not isinstance(env.action_space, spaces.Box) or shape[-1:] != wanted:
        raise ConfigError(f"the environment must take actions of {wanted[0]} numbers; it has {env.action_space}")
    ahead = getattr(config, "n_action_steps", 1)
    if len(shape) == 2 and (shape[0] != ahead or config.n_obs_steps != 1 or _ensembles(config)):
        raise ConfigError(
            f"ActionChunks must have the size {ahead}, and the policy must read one observation a chunk; got the size "
            f"{shape[0]} and n_obs_steps {config.n_obs_steps}. Without ActionChunks every policy plays"
        )


def _ensembles(config: Any) -> bool:
    """Does it look at every observation to average its chunks?"""
    return getattr(config, "temporal_ensemble_coeff", None) is not None


class LeRobotEnv(gym.Wrapper):
    """An environment of agentrl as lerobot's own are: `pixels` and `agent_pos` in the observation, `task_description`,
    `_max_episode_steps`, and `info["is_success"]`, for

        env = gym.vector.SyncVectorEnv([lambda: LeRobotEnv(gym.make(ID, protocol="lerobot"))] * 4)
        eval_policy(env, policy, nothing, nothing, preprocessor, postprocessor, n_episodes=4)

    where `nothing` is a `PolicyProcessorPipeline(steps=[])`: pictures and state are already as policies get them, so
    that lerobot's processor for an environment must not turn them once more.
    """

    def __init__(self, env: gym.Env) -> None:
        super().__init__(env)
        parts = env.observation_space
        if not isinstance(parts, spaces.Dict) or not isinstance(env.action_space, spaces.Box):
            raise ConfigError(f"lerobot needs named observations and arrays as actions; got {env}")
        boxes = {name: part for name, part in parts.spaces.items() if isinstance(part, spaces.Box)}
        cameras = [name for name in getattr(env.unwrapped, "pictures", ()) if name in boxes]  # spaces sort their names
        order = [name for name in boxes if name not in cameras] + cameras
        blank = {name: np.zeros(boxes[name].shape, boxes[name].dtype) for name in order}
        self.observation_space = _space_like(raw_observation(blank))

    @property
    def task_description(self) -> str:
        """What this episode asks for."""
        return str(self.env.get_wrapper_attr("instruction"))

    @property
    def task(self) -> str:
        """The same; lerobot asks for either."""
        return self.task_description

    @property
    def _max_episode_steps(self) -> int:
        return int(self.env.get_wrapper_attr("max_turns"))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        observation, _ = self.env.reset(seed=seed, options=options)
        return raw_observation(observation), {"is_success": False}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play an action."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        told: dict[str, Any] = {"is_success": bool(info["success"])}
        if terminated or truncated:
            told["final_info"] = dict(told)
        return raw_observation(observation), float(reward), terminated, truncated, told


def _space_like(observation: Mapping[str, Any]) -> spaces.Dict:
    found: dict[str, spaces.Space] = {}
    for name, value in observation.items():
        if isinstance(value, dict):
            found[name] = _space_like(value)
        elif value.dtype == np.uint8:
            found[name] = spaces.Box(0, 255, value.shape, np.uint8)
        else:
            found[name] = spaces.Box(-np.inf, np.inf, value.shape, value.dtype.type)
    return spaces.Dict(found)
