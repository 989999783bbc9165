"""The policy of a VLA network, `vla:FOLDER`: pictures, words and the robot's state in, a chunk of actions out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

from agentrl.core.arguments import positive_number, whole_number
from agentrl.core.errors import ConfigError, EngineFault, MissingExtra
from agentrl.core.policy import Conversation, Generation
from agentrl.core.seeding import named_noise
from agentrl.models.chat import Prompt
from agentrl.models.prompt_settings import PromptSettings, read_settings

try:
    import torch

    from agentrl.models.vla.body import Seen
    from agentrl.models.vla.loading import LoadedVLA, load_vla
    from agentrl.models.vla.spec import check_fit
except ImportError as error:
    raise MissingExtra("torch", "train") from error

TINIEST = 2.0**-25  # half of the distance between two numbers of `named_noise`
FLOW = "flow"  # in a step's `sampling`: the chain of a flow


class VLAPolicy:
    """Answers with chunks of actions, many conversations in one pass.

    Environments are put into `ActionChunks` of the policy's size, and show pictures of its size, unless they are asked
    to do otherwise; what does not fit is refused before anything is played. It looks at the present observation alone.

    `greedy` takes the likeliest tokens, or follows the flow without noise; otherwise tokens are drawn at `temperature`,
    and a flow is random as its spec says. What is drawn follows from `seed` and the conversation's key, as in
    `HFPolicy`. Recorded are the action tokens with their log-probabilities, or in `sampling` the whole chain of the
    flow and which step was random, with a log-probability for each action.
    """

    name = "vla"
    batched = keyed = True

    def __init__(
        self,
        model: LoadedVLA | str | Path,
        *,
        temperature: float = 1.0,
        greedy: bool = False,
        seed: int = 0,
        device: str = "auto",
        batch_size: int = 256,
    ) -> None:
        self.loaded = model if isinstance(model, LoadedVLA) else load_vla(model, device)
        if self.loaded.model is None:
            raise ConfigError(
                f"{self.loaded.folder} is not fitted to a robot yet; train it first: agentrl train bc --model ..."
            )
        self.temperature, self.greedy = positive_number("temperature", temperature), bool(greedy)
        self.seed = whole_number("seed", seed, at_least=0)
        self.batch_size = whole_number("batch_size", batch_size, at_least=1)
        self.calls = self.version = 0
        self.tokenizer_hash = self.loaded.hash

    @property
    def spec(self) -> Any:
        """What it reads and writes."""
        return self.loaded.spec

    @property
    def chunk(self) -> int:
        """Actions of an answer."""
        return self.spec.chunk

    @property
    def env_kwargs(self) -> dict[str, Any]:
        """How an environment must show itself, where nobody says otherwise."""
        return self.spec.env_kwargs()

    @property
    def prompt_settings(self) -> PromptSettings:
        """It was trained on the present observation alone."""
        return read_settings(self.loaded.folder) or PromptSettings(prompt_style="step", history=0)

    def check_env(self, env: gym.Env, env_id: str) -> None:
        """`ConfigError` for an environment with other cameras, shapes or chunks."""
        check_fit(self.spec, env, env_id)

    def encode(self, conversation: Conversation) -> Prompt:
        """The instruction's tokens."""
        return Prompt(list(self.loaded.encode(instruction_in(conversation, None))))

    def act(
        self,
        conversations: Sequence[Conversation],
        envs: Sequence[gym.Env] | None = None,
        *,
        keys: Sequence[str] | None = None,
    ) -> list[Generation]:
        """One chunk for each conversation."""
        names = keys or [f"call {self.calls}, row {row}" for row in range(len(conversations))]
        self.calls += 1
        width = self.loaded.model.noise_numbers
        noise = noise_between(self.seed, names, width)
        found: list[Generation] = []
        for start in range(0, len(conversations), self.batch_size):
            rows = slice(start, start + self.batch_size)
            some = conversations[rows]
            told = [
                instruction_in(one, envs[start + place] if envs is not None else None) for place, one in enumerate(some)
            ]
            seen = self.read([observation_in(one) for one in some], told)
            found += self._answers(seen, noise[rows], [self.loaded.encode(text) for text in told])
        return found

    def read(self, observations: Sequence[Any], instructions: Sequence[str]) -> Seen:
        """Observations as the network reads them; `ConfigError` where one lacks something."""
        side = self.spec.picture_size
        wanted = {name: (count,) for name, count in self.spec.vectors.items()}
        wanted |= {name: (side, side, 3) for name in self.spec.cameras}
        for observation in observations:
            for name, shape in wanted.items():
                if np.shape(observation.get(name)) != shape:
                    raise ConfigError(
                        f"the policy reads {name!r} of shape {shape}; the observation has "
                        f"{np.shape(observation[name]) if name in observation else 'none'}"
                    )
        rows = [np.concatenate([np.zeros(0), *(one[name] for name in self.spec.vectors)]) for one in observations]
        numbers = torch.from_numpy(np.stack(rows).astype(np.float32))
        if not bool(numbers.isfinite().all()):
            raise EngineFault("the robot's state is not finite; nothing was carried out")
        pictures = {name: self._stacked([one[name] for one in observations]) for name in self.spec.cameras}
        return Seen(numbers, pictures, *self.loaded.batch_ids([self.loaded.encode(text) for text in instructions]))

    def _stacked(self, pictures: Sequence[np.ndarray]) -> torch.Tensor:
        """Pictures of a camera; for a GPU in memory that it reads by itself, which is kept for the next batch."""
        if kinds := {str(one.dtype) for one in pictures} - {"uint8"}:
            raise ConfigError(f"pictures must be of uint8; got {', '.join(sorted(kinds))}")
        shape = (len(pictures), *pictures[0].shape)
        rows = torch.empty(shape, dtype=torch.uint8, pin_memory=self.loaded.model.device.type == "cuda")
        np.stack(pictures, out=rows.numpy())
        return rows

    def _answers(self, seen: Seen, noise: torch.Tensor, prompts: Sequence[list[int]]) -> list[Generation]:
        model, spec = self.loaded.model, self.spec
        how = {"temperature": self.temperature, "greedy": self.greedy}
        with torch.inference_mode():
            try:
                drawn = model.draw(seen.to(model.device), noise.to(model.device), **how)
            except RuntimeError as error:
                raise EngineFault(f"the VLA policy failed: {type(error).__name__}: {error}") from error
            actions = model.action_scale.back(drawn.actions).cpu().numpy()
        flow, steps = spec.family == "flow", drawn.step.tolist()
        if not np.isfinite(actions).all() or not bool(drawn.logprobs.isfinite().all()):
            raise EngineFault("the policy's actions are not finite; nothing was carried out")
        record = (drawn.record if flow else drawn.record + self.loaded.first_action).tolist()
        low, high, logprobs = np.float32(spec.action_low), np.float32(spec.action_high), drawn.logprobs.tolist()
        told = []
        for row, chunk in enumerate(np.clip(actions, low, high)):
            chain = {FLOW: {"chain": record[row], "step": steps[row]}} if flow else {}
            told.append(
                Generation(
                    text="",
                    action=chunk,
                    token_ids=None if flow else record[row],
                    logprobs=logprobs[row],
                    version=self.version,
                    prompt_ids=list(prompts[row]),
                    sampling=how | chain,
                )
            )
        return told


def noise_between(seed: int, names: Sequence[str], width: int) -> torch.Tensor:
    """`named_noise` between 0 and 1, neither of which it holds: a flow's normal numbers would be infinite there.

    In double precision: float32 rounds the largest of these numbers to 1.
    """
    return torch.from_numpy(named_noise(seed, names, width)).double() + TINIEST


def observation_in(conversation: Conversation) -> dict[str, Any]:
    """The arrays of the last message; `ConfigError` where it has text only."""
    observation = conversation[-1].get("observation") if conversation else None
    if not isinstance(observation, dict):
        raise ConfigError("a VLA policy needs observations with arrays; this conversation has text only")
    return observation


def instruction_in(conversation: Conversation, env: gym.Env | None) -> str:
    """What is asked, without the feedback that may follow it."""
    if text := observation_in(conversation).get("text"):
        return str(text).partition("\n")[0]
    if env is not None and env.has_wrapper_attr("instruction"):
        return str(env.get_wrapper_attr("instruction"))
    raise ConfigError("a VLA policy is told the instruction: leave obs_text at True")
