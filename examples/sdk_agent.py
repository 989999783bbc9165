"""An agent that knows nothing but the openai SDK plays FrozenLake; a gateway records it by its base_url.

    agentrl serve-model tiny-text --port 8000
    agentrl gateway --upstream http://127.0.0.1:8000/v1 --port 8100
    python examples/sdk_agent.py --base-url http://127.0.0.1:8100/sessions/first/v1

`examples/gateway_training.py` trains the model behind it from what the gateway recorded.
"""

from __future__ import annotations

from dataclasses import dataclass

import gymnasium as gym
import openai
import tyro

import agentrl  # noqa: F401 (registers the environments)


@dataclass
class Arguments:
    """What can be chosen on the command line."""

    base_url: str = "http://127.0.0.1:8100/sessions/first/v1"
    model: str = "tiny-text"
    split: str = "train"
    seed: int = 0


def play(
    client: openai.OpenAI, model: str, split: str, seed: int, temperature: float = 1.0
) -> tuple[list[float], bool]:
    """One episode: the reward of each turn, and whether the goal was reached."""
    env = gym.make("agentrl/FrozenLake-Text-v0", split=split)
    observation, _ = env.reset(seed=seed)
    rules = env.get_wrapper_attr("system_prompt")
    rewards: list[float] = []
    while True:
        answer = client.chat.completions.create(
            model=model,
            messages=[{"role": "system", "content": rules}, {"role": "user", "content": observation["text"]}],
            max_tokens=5,  # three moves and the end
            temperature=temperature,
            seed=1000 * seed + len(rewards),  # another answer where the same question comes again
        )
        action = answer.choices[0].message.content or ""
        observation, reward, terminated, truncated, info = env.step(action)
        rewards.append(float(reward))
        if terminated or truncated:
            return rewards, bool(info["success"])


if __name__ == "__main__":
    args = tyro.cli(Arguments)
    with openai.OpenAI(base_url=args.base_url, api_key="none") as client:
        print(play(client, args.model, args.split, args.seed))
