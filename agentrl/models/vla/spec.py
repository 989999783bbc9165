"""`VLASpec`: what a VLA policy reads and writes. It is the `config.json` of the policy's folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import gymnasium as gym
import msgspec
import numpy as np
from gymnasium import spaces

from agentrl.core.errors import ConfigError
from agentrl.core.files import read_regular

CONFIG, WEIGHTS, KIND = "config.json", "model.safetensors", "agentrl-vla"
MAX_BYTES = 1_000_000
VECTORS = ("proprio", "state")  # the vectors of an observation that records keep
Count = Annotated[int, msgspec.Meta(ge=1, le=4096)]
Unit = Annotated[float, msgspec.Meta(gt=0.0, le=10.0)]


class VLASpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a policy reads and writes. Without `action_low` it is not fitted to a robot yet: `fitted` does that."""

    model_type: Literal["agentrl-vla"] = KIND
    schema: Literal[1] = 1
    family: Literal["tokens", "flow"] = "tokens"
    decoder: Literal["parallel", "autoregressive"] = "parallel"  # of tokens: all in one pass, or one after the other
    chunk: Count = 5  # actions at a time
    cameras: tuple[str, ...] = ()  # pictures of the observation, in its order
    picture_size: int = 0
    vectors: dict[str, Count] = {}  # vectors of the observation, and how many numbers each has
    # Bounds of the action space; then the 1st and 99th percentile of actions and vectors, which become -1 and 1.
    action_low: tuple[float, ...] = ()
    action_high: tuple[float, ...] = ()
    action_range: tuple[tuple[float, float], ...] = ()
    vector_range: tuple[tuple[float, float], ...] = ()
    # The flow.
    denoising_steps: Count = 5
    noise: Literal["flow_sde", "flow_noise"] = "flow_sde"  # at one random denoising step, or at all of them
    noise_level: Unit = 0.5
    head_width: Count = 128
    head_layers: Count = 2
    body: dict[str, Any] = {}  # the transformer, as transformers writes its configurations
    trained_on: tuple[str, ...] = ()  # ids of environments, for people

    def __post_init__(self) -> None:
        numbers = self.action_numbers
        if self.action_low and (len(self.action_high) != numbers or len(self.action_range) != numbers):
            raise ValueError("action_low, action_high and action_range must have the same length")
        if self.action_low and len(self.vector_range) != sum(self.vectors.values()):
            raise ValueError("vector_range must have a pair for each number of the vectors")
        if bool(self.cameras) != bool(self.picture_size) or not 0 <= self.picture_size <= 1024:
            raise ValueError("picture_size must be from 1 to 1024 where there are cameras, else 0")
        if not set(self.vectors) <= set(VECTORS):
            raise ValueError(f"vectors must be among {', '.join(VECTORS)}")

    @property
    def action_numbers(self) -> int:
        """How many numbers an action has."""
        return len(self.action_low)

    @property
    def tokens(self) -> int:
        """How many tokens a chunk has."""
        return self.chunk * self.action_numbers

    @property
    def targets(self) -> int:
        """How many log-probabilities a chunk has: one for each token, or one for each action."""
        return self.tokens if self.family == "tokens" else self.chunk

    @property
    def fits_a_robot(self) -> bool:
        """Does it know an action space?"""
        return bool(self.action_low)

    def env_kwargs(self) -> dict[str, Any]:
        """How an environment must show itself, where nobody says otherwise."""
        return {"image_size": self.picture_size} if self.cameras else {"obs_mode": "state"}


# ---------------------------------------------------------------------- files


def is_vla(folder: Path) -> bool:
    """Is this the folder of a VLA policy?"""
    try:
        return json.loads(read_regular(folder / CONFIG)).get("model_type") == KIND
    except (OSError, ValueError, AttributeError, RecursionError):
        return False


def read_spec(folder: Path) -> VLASpec:
    """The spec of a folder; `ConfigError` where it is not one."""
    try:
        content = read_regular(folder / CONFIG)
        if len(content) > MAX_BYTES:
            raise ValueError(f"it is longer than {MAX_BYTES} bytes")
        return msgspec.json.decode(content, type=VLASpec)
    except (OSError, ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
        raise ConfigError(f"{folder} holds no VLA policy: {error}") from error


# ---------------------------------------------------------------------- robots


def fitted(spec: VLASpec, env: gym.Env, env_id: str, cameras: tuple[str, ...] = (), **changes: Any) -> VLASpec:
    """The spec for the robot of an environment (without `ActionChunks`); `ConfigError` where it has none.

    `cameras` chooses among the pictures of the observation; default: all. Ranges are those of the action space until
    data tell better ones (`changes`).
    """
    box = env.action_space
    boxes = _boxes(env, env_id)
    if not isinstance(box, spaces.Box) or len(box.shape) != 1 or not box.is_bounded():
        raise ConfigError(f"a VLA policy needs actions that are bounded arrays of one dimension; {env_id} has {box}")
    shown = shown_pictures(env)
    for name in cameras:
        if name not in shown:
            raise ConfigError(f"cameras must be among {', '.join(shown) or 'none'}; got {name!r}")
    chosen = cameras or shown
    sizes = {boxes[name].shape for name in chosen}
    if len(sizes) > 1 or any(shape[0] != shape[1] for shape in sizes):
        raise ConfigError(f"pictures must be square and of one size; {env_id} has {sorted(sizes)}")
    vectors = {name: boxes[name].shape[0] for name in VECTORS if name in boxes}
    bounds = tuple(zip(box.low.tolist(), box.high.tolist(), strict=True))
    found = {
        "cameras": chosen,
        "picture_size": next(iter(sizes))[0] if sizes else 0,
        "vectors": vectors,
        "action_low": tuple(low for low, _ in bounds),
        "action_high": tuple(high for _, high in bounds),
        "action_range": bounds,
        "vector_range": ((-1.0, 1.0),) * sum(vectors.values()),
        **changes,
    }
    try:
        return msgspec.convert({**msgspec.to_builtins(spec), **found}, VLASpec)
    except msgspec.ValidationError as error:
        raise ConfigError(f"a VLA policy of this form cannot be made: {error}") from error


def shown_pictures(env: gym.Env) -> tuple[str, ...]:
    """The pictures of an environment's observation, in its order."""
    parts = env.observation_space.spaces if isinstance(env.observation_space, spaces.Dict) else {}
    known = [name for name, part in parts.items() if isinstance(part, spaces.Box) and len(part.shape) == 3]
    order = getattr(env.unwrapped, "pictures", known)  # spaces sort their names
    return tuple(name for name in order if name in known)


def check_fit(spec: VLASpec, env: gym.Env, env_id: str) -> None:
    """`ConfigError` where a policy and an environment (inside `ActionChunks`) do not fit, before anything is played."""
    boxes, side = _boxes(env, env_id), spec.picture_size
    wanted = {name: (count,) for name, count in spec.vectors.items()}
    wanted |= {name: (side, side, 3) for name in spec.cameras}
    for name, shape in wanted.items():
        found = boxes[name].shape if name in boxes else "none"
        if found != shape:
            raise ConfigError(
                f"the policy reads {name!r} of shape {shape}; {env_id} shows {found}. Make it with the arguments the "
                "policy was trained with (obs_mode, image_size)"
            )
    box, actions = env.action_space, (spec.chunk, spec.action_numbers)
    if not isinstance(box, spaces.Box) or box.shape != actions:
        raise ConfigError(
            f"the policy acts in chunks of shape {actions} (ActionChunks of {spec.chunk}); {env_id} takes {box}"
        )
    if not np.allclose(box.low[0], spec.action_low) or not np.allclose(box.high[0], spec.action_high):
        raise ConfigError(
            f"the policy's actions lie between {spec.action_low} and {spec.action_high}; those of {env_id} between "
            f"{tuple(box.low[0].tolist())} and {tuple(box.high[0].tolist())}"
        )


def _boxes(env: gym.Env, env_id: str) -> dict[str, spaces.Box]:
    parts = env.observation_space
    if not isinstance(parts, spaces.Dict):
        raise ConfigError(f"a VLA policy needs named observations; {env_id} has {type(parts).__name__}")
    return {name: part for name, part in parts.spaces.items() if isinstance(part, spaces.Box)}
