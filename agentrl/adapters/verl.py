"""An agent loop for verl: environments of agentrl as rollouts of its trainers, with text and with pictures.

`actor_rollout_ref.rollout.agent.agent_loop_config_path` names a file with entries such as

    - {name: frozenlake, _target_: agentrl.adapters.verl.AgentRLLoop, env_id: agentrl/FrozenLake-Text-v0}

A row of the data has `agent_name` and its task in `extra_info`: {"seed": 7}, where wanted with "task" and "split".
Token ids are those of our own collector: an answer that was cut at the limit is closed as the chat template closes it,
which verl's own builder does not do. `reward_score` is the episode's reward; `extra_fields["turn_scores"]` are those of
its turns, one for each run of ones in `response_mask`. Environments work in threads.
"""

from __future__ import annotations

import asyncio
from functools import lru_cache
from typing import Any
from uuid import uuid4

from PIL import Image

from agentrl.core.errors import ConfigError, MissingLibrary
from agentrl.core.policy import Conversation, Generation
from agentrl.models.chat import PromptEncoder
from agentrl.rollout.collect import Timings, timed
from agentrl.rollout.episode import LiveEpisode, StepResult, TrajectoryBuilder
from agentrl.rollout.hosts import make_stack
from agentrl.rollout.prompts import WholeConversation
from agentrl.rollout.starts import Stack
from agentrl.rollout.token_rows import conversation_row
from agentrl.rollout.trajectory import Trajectory

try:
    from omegaconf import OmegaConf  # pyright: ignore
    from verl.experimental.agent_loop import agent_loop as verl  # pyright: ignore
    from verl.utils.tokenizer import get_processor_token_id  # pyright: ignore
except ImportError as error:  # also of what verl needs without saying so
    raise MissingLibrary("verl", "torch==2.13.0 verl==0.9.1 cachetools uvicorn fastapi") from error


class AgentRLLoop(verl.AgentLoopBase):
    """Plays the episode of one row. `max_new_tokens` limits an answer and verl's `response_length` the whole episode,
    which ends with the last answer that fits."""

    def __init__(
        self, *args: Any, env_id: str, env_kwargs: Any = None, wrappers: Any = (), max_new_tokens: int = 512, **rest
    ) -> None:
        super().__init__(*args, **rest)
        plain: Any = OmegaConf.to_container(OmegaConf.create([env_kwargs or {}, list(wrappers)]))
        self.stack, self.max_new_tokens = Stack(env_id, plain[0], tuple(plain[1])), max_new_tokens
        for name in ("apply_chat_template_kwargs", "mm_processor_kwargs"):
            if getattr(self, name):
                raise ConfigError(f"data.{name} must be empty; change the model's chat template or processor instead")
        self.encoder, self.tally = encoder_of(self.tokenizer, self.processor), Timings()
        self.request: dict[str, Any] = {"request_id": uuid4().hex}  # of all turns: one server has the cache
        self.facts: dict[str, Any] = {}  # what the engine said about its weights

    async def run(self, sampling_params: dict[str, Any], **row: Any) -> verl.AgentLoopOutput:
        """One episode, of the task that `extra_info` names."""
        start = dict(row.get("extra_info") or {})
        kwargs = self.stack.kwargs | ({"split": start["split"]} if start.get("split") else {})
        env = await asyncio.to_thread(make_stack, Stack(self.stack.id, kwargs, self.stack.wrappers))
        builder = TrajectoryBuilder(Trajectory(env_id=self.stack.id, seed=start.get("seed")))
        episode = LiveEpisode(env, WholeConversation(), builder)
        self.request["priority"] = int(row.get("priority", 0))
        try:
            options = {"task": start["task"]} if start.get("task") else None
            episode.begin(*await asyncio.to_thread(env.reset, seed=start.get("seed"), options=options))
            first = len(self.encoder.encode(episode.conversation()).ids)
            if first > self.rollout_config.prompt_length:
                raise ConfigError(f"prompt_length must be at least {first}; got {self.rollout_config.prompt_length}")
            longest = first + self.rollout_config.response_length
            while not episode.over and (said := await self._ask(episode.conversation(), longest, sampling_params)):
                with timed(self.tally, "environment"):
                    episode.turn(said, StepResult(*await asyncio.to_thread(env.step, said.action)))
        finally:
            await asyncio.to_thread(env.close)
        return self._output(builder.finish(), bool(sampling_params.get("logprobs")))

    async def _ask(self, messages: Conversation, longest: int, sampling: dict[str, Any]) -> Generation | None:
        """The model's answer; None where there is no room for one."""
        prompt = self.encoder.encode(messages).ids  # not in a thread: tokenizers must not work in two at once
        if (limit := min(self.max_new_tokens, longest - len(prompt))) <= 0:
            return None
        shown = [Image.fromarray(picture) for message in messages for picture in message.get("images", [])]
        asked = {
            "prompt_ids": prompt,
            "sampling_params": {**sampling, "max_tokens": limit},
            "image_data": shown or None,
        }
        with timed(self.tally, "generate"):
            out = await self.server_manager.generate(**self.request, **asked)
        self.facts = {**out.extra_fields, **{k: v for k, v in self.facts.items() if k != "max_global_steps"}}
        ids = list(out.token_ids)
        ended = bool(ids) and ids[-1] in self.encoder.specials
        said = self.tokenizer.decode(ids[:-1] if ended else ids, skip_special_tokens=False)
        return Generation(said, said, ids, out.log_probs or [0.0] * len(ids), prompt_ids=prompt)

    def _output(self, played: Trajectory, logprobs: bool) -> verl.AgentLoopOutput:
        if played.reward is None:
            raise ConfigError("rewards must be known when an episode ends; got one of a judge that answers later")
        row, scores = conversation_row(played), [step.reward for step in played.steps]
        facts = {name: getattr(played, name) for name in ("terminated", "truncated", "success")} | self.facts
        facts["reward_extra_info"] = {"success": float(played.success)}  # verl averages it in validation
        return verl.AgentLoopOutput(
            **{"prompt_ids": row.prompt_ids, "response_ids": row.completion_ids, "response_mask": row.mask},
            response_logprobs=row.logprobs if logprobs else None,
            multi_modal_data={"images": [Image.fromarray(one) for one in row.images]} if row.images else None,
            reward_score=played.reward,
            num_turns=2 * len(scores),
            metrics=verl.AgentLoopMetrics(generate_sequences=self.tally.generate, tool_calls=self.tally.environment),
            extra_fields={**facts, "turn_scores": scores, "tool_rewards": []},
        )


@lru_cache(4)  # verl makes a loop for every episode
def encoder_of(tokenizer: Any, processor: Any) -> PromptEncoder:
    """Our encoder on verl's tokenizer and processor."""
    vision = [] if processor is None else [processor.image_processor, get_processor_token_id(processor, "image")]
    return PromptEncoder(tokenizer, *vision)
