"""An agent of another library plays through `agentrl serve-model`: litellm as the client, several turns.

    agentrl serve-model tiny-text --port 8000
    pip install litellm
    python examples/litellm_play.py

Every answer goes back into the conversation as litellm gives it, with all its empty fields. The turns are streamed; a
stop string ends each at the closing tag.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # litellm would fetch a price list

import gymnasium as gym
import litellm
import tyro

import agentrl  # noqa: F401 (registers the environments)

STOP = "</answer>"
litellm.suppress_debug_info = True


@dataclass
class Arguments:
    """What can be chosen on the command line."""

    model: str = "tiny-text"
    base_url: str = "http://127.0.0.1:8000/v1"
    env: str = "agentrl/FrozenLake-Text-v0"
    seed: int = 0
    turns: int = 5
    max_tokens: int = 32


def answer(args: Arguments, messages: list) -> litellm.Message:
    """The model's next message, put together from its stream."""
    chunks = litellm.completion(
        model=f"openai/{args.model}",
        api_base=args.base_url,
        api_key=os.environ.get("OPENAI_API_KEY", "none"),
        messages=messages,
        max_tokens=args.max_tokens,
        seed=args.seed,
        stop=[STOP],
        stream=True,
    )
    return litellm.stream_chunk_builder(list(chunks), messages=messages).choices[0].message


def play(args: Arguments) -> list:
    """One episode; returns the conversation."""
    env = gym.make(args.env, max_turns=args.turns)
    observation, _ = env.reset(seed=args.seed)
    rules = env.get_wrapper_attr("system_prompt")
    messages: list = [{"role": "system", "content": rules}, {"role": "user", "content": observation["text"]}]
    over = False
    while not over:
        said = answer(args, messages)
        text = said.content or ""
        observation, reward, terminated, truncated, info = env.step(text + STOP if "<answer>" in text else text)
        print(f"turn {info['turn']}: {text!r} -> reward {reward:+.1f}, {info['feedback'] or 'no remark'}")
        messages += [said, {"role": "user", "content": observation["text"]}]
        over = terminated or truncated
    return messages


if __name__ == "__main__":
    play(tyro.cli(Arguments, description=__doc__))
