"""TRL's GRPO on environments of the suite, by either way that TRL offers (TRL 1.16: `agentrl-suite[trl]`).

    seeds = Dataset.from_dict({"prompt": [str(seed) for seed in range(64)]})
    GRPOTrainer(model, env_reward, rollout_func=rollout("agentrl/FrozenLake-Text-v0"), train_dataset=seeds, ...)
    tasks = Dataset.from_list([{"prompt": [{"role": "user", "content": ""}], "seed": seed} for seed in range(64)])
    GRPOTrainer(model, environment_factory=environment("agentrl/FrozenLake-Visual-v0"), train_dataset=tasks, ...)

`rollout` plays with our own collector: TRL trains on the very tokens that were sampled, in a conversation as everywhere
in the suite. `environment` leaves playing to TRL: the model must call the function `act`. Only there pictures pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

from agentrl.adapters.chat import ChatEpisode, picture_in
from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.core.seeding import mixed_seed
from agentrl.models.loading import LoadedModel
from agentrl.policies.hf import HFPolicy
from agentrl.rollout.collect import Collector, EnvSpec, Start
from agentrl.rollout.token_rows import conversation_row

if find_spec("trl") is None:
    raise MissingExtra("trl", "trl")
OVER = "The episode is over. Write a short last message and call no function."


class rollout:
    """A `rollout_func`: prompts of the data set are seeds of tasks; `collector` are further options of `Collector`."""

    def __init__(
        self, id: str, *, max_new_tokens: int = 128, wrappers: Sequence = (), collector: Mapping = {}, **kwargs: Any
    ) -> None:
        self.new_policy = partial(HFPolicy, max_new_tokens=max_new_tokens)
        self.new_collector = partial(Collector, [EnvSpec(id, kwargs, tuple(wrappers))], **collector)
        self.collector: Collector | None = None

    def __call__(self, prompts: list[str], trainer: Any) -> dict[str, list[Any]]:
        """Play an episode for each prompt with the model in training, at the trainer's temperature, top_p and top_k."""
        if not all(isinstance(prompt, str) and prompt.isdecimal() for prompt in prompts):
            raise ConfigError(f"a prompt must be the seed of a task, such as '7'; got {prompts[:3]!r}")
        model, args = trainer.accelerator.unwrap_model(trainer.model), trainer.args
        if self.collector is None or self.policy.loaded.model is not model:
            if args.min_p or args.repetition_penalty != 1.0:
                raise ConfigError("rollout samples by temperature, top_p and top_k; leave min_p and repetition_penalty")
            sampling = {"temperature": args.temperature, "top_p": args.top_p, "top_k": args.top_k}
            self.policy = self.new_policy(LoadedModel.from_live(model, trainer.processing_class), **sampling)
            self.collector = self.new_collector(self.policy)
        self.policy.seed = mixed_seed(args.seed, trainer.state.global_step, trainer.accelerator.process_index)
        played = self.collector.collect([Start(int(prompt)) for prompt in prompts]).trajectories
        self.policy.release()
        rows = [conversation_row(trajectory) for trajectory in played]
        if any(row.images for row in rows):  # it would train without pixel values, and say nothing
            raise ConfigError("rollout_func takes Text kinds: TRL drops its pictures; environment(...) passes them on")
        return {
            "env_mask": [row.mask for row in rows],
            "env_reward": [one.reward for one in played],
            "turn_rewards": [[step.reward for step in one.steps] for one in played],
            **{name: [getattr(row, name) for row in rows] for name in ("prompt_ids", "completion_ids", "logprobs")},
            **{name: [getattr(one, name) for one in played] for name in ("success", "terminated", "truncated")},
        }


def env_reward(env_reward: list[float | None], **_: Any) -> list[float | None]:
    """The reward function that goes with `rollout`: what the environment said; None where a fault cut it short."""
    return env_reward


def environment(id: str, *, wrappers: Sequence[dict] = (), **kwargs: Any) -> Callable[[], Environment]:
    """An `environment_factory`. The data set has a column `seed`, or `task`, and prompts that end with the user."""
    return partial(Environment, partial(ChatEpisode, id, kwargs, wrappers))


class Environment:
    """What TRL plays, by one function: `act`. `episode` knows the rewards of the turns and success."""

    def __init__(self, new_episode: Callable[[], ChatEpisode]) -> None:
        self.new_episode, self.episode, self.broken = new_episode, new_episode(), False

    def reset(self, seed: int | None = None, task: str | None = None, **row: Any) -> str | list[dict[str, Any]]:
        """Begin the episode of a row of the data set; the rules and the first observation go into the prompt."""
        if seed is None and task is None:
            raise ConfigError("the data set must have a column seed or task, so that a group plays one task")
        if self.broken:
            self.episode.close()
            self.episode, self.broken = self.new_episode(), False
        *rules, seen = self.episode.reset(seed, None if task is None else {"task": task})
        return blocks("".join(one["content"] + "\n\n" for one in rules), seen["content"])

    def act(self, answer: str) -> str | list:
        """Answer the environment, and see what comes of it.

        Args:
            answer: The reply that the rules ask for.
        """
        if self.broken or self.episode.over:
            raise ConfigError(OVER)
        self.broken = True  # where an exception comes now, TRL shows it to the model and goes on
        messages = self.episode.step(str(answer))
        self.broken = False
        return blocks("", messages[0]["content"]) if messages else OVER

    def get_reward(self) -> float | None:
        """The sum over the turns; None, which TRL does not score, where the environment broke."""
        return None if self.broken else self.episode.reward


def blocks(before: str, content: str | list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """A text and a content in OpenAI's form as TRL takes them: one text, or parts with PIL pictures."""
    if isinstance(content, str):
        return before + content
    parts: list[dict[str, Any]] = [{"type": "text", "text": before}] if before else []
    for part in content:
        url = part.get("image_url", {}).get("url")
        parts.append({"type": "image", "image": picture_in(url)} if url else part)
    return parts
