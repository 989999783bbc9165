"""StepPO from recorded calls: the agent of `sdk_agent.py` gets better, and knows nothing of it.

    python examples/gateway_training.py --model runs/demo/imitation/checkpoints/step_10/policy

Three parts meet only over HTTP: the engine (`serve-model` over the weights that are trained), the gateway, and agents
that have a base_url. After each episode whoever watches the agent posts its rewards. A batch is what the pool holds
of the present policy version; then the gateway is told the next version. At the end the agent plays held-out tasks,
greedily, with the first and the last weights.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

import httpx
import numpy as np
import openai
import torch
import tyro
from sdk_agent import play

from agentrl.core.seeding import mixed_seed
from agentrl.rollout.trajectory import Trajectory
from agentrl.serve.gateway import Gateway
from agentrl.serve.model_server import ModelServer
from agentrl.trainers.algorithms.steppo import update
from agentrl.trainers.arguments.policy import StepPO
from agentrl.trainers.update.batch import Batch
from agentrl.trainers.update.learner import make_learner


@dataclass
class Arguments:
    """What can be chosen on the command line."""

    model: str
    """A model folder; one that plays a little already, such as the first stage of the recipe frozenlake-demo."""
    pool: str = "runs/gateway-pool"
    iterations: int = 10
    episodes: int = 192
    agents: int = 32
    held_out: int = 400
    seed: int = 0


def training_options(args: Arguments) -> StepPO:
    """As in the recipe frozenlake-demo."""
    return StepPO(
        env=["agentrl/FrozenLake-Text-v0"],
        model=args.model,
        iterations=args.iterations,
        episodes=args.episodes,
        lr=1e-3,
        schedule="linear",
        lam=0.95,
        critic="shared",
        critic_lr=1e-3,
        critic_head_lr=1e-2,
        critic_coef=0.5,
        critic_epochs=1,
        minibatches=4,
        kl_coef=0.0,
        reward_scale=0.1,
        seed=args.seed,
    )


class Players:
    """Many agents at a time, each with a session of its own."""

    def __init__(self, gateway: Gateway, args: Arguments) -> None:
        self._gateway, self._pool = gateway, ThreadPoolExecutor(args.agents)
        self._http = httpx.Client(base_url=gateway.address, timeout=60)
        self._model = openai.OpenAI(base_url=gateway.url("none"), api_key="none", max_retries=2)

    def __enter__(self) -> Players:
        return self

    def __exit__(self, *exception: object) -> None:
        self._pool.shutdown()
        self._http.close()
        self._model.close()

    def play(self, names: list[str], split: str, seeds: list[int], temperature: float) -> list[bool]:
        """Play tasks; whether each was solved. Rewards are posted call by call, then the session is complete."""

        def one(name: str, seed: int) -> bool:
            agent = self._model.with_options(base_url=self._gateway.url(name))
            rewards, success = play(agent, "agent", split, seed, temperature)
            for call, reward in enumerate(rewards):
                self._post(f"sessions/{name}/reward", {"call": call, "reward": reward, "name": "env"})
            self._post(f"sessions/{name}/reward", {"reward": 0.0})
            return success

        return list(self._pool.map(one, names, seeds))

    def batch(self, most: int, version: int) -> list[Trajectory]:
        """What the pool has of a policy version."""
        lines = self._post("batch", {"most": most, "version": version}).splitlines()
        return [Trajectory.from_json(json.loads(line)) for line in lines]

    def policy(self, version: int) -> None:
        """The engine has new weights."""
        self._post("policy", {"version": version})

    def held_out(self, when: str, count: int) -> np.ndarray:
        """Success on held-out tasks, greedily."""
        names = [f"held-out-{when}-{number}" for number in range(count)]
        return np.array(self.play(names, "test", list(range(count)), temperature=0.0), dtype=float)

    def _post(self, path: str, body: dict) -> str:
        answer = self._http.post(f"/{path}", json=body)
        answer.raise_for_status()
        return answer.text


def train(args: Arguments) -> dict[str, float]:
    """Play, learn, play; success before and after, and the paired interval of the difference."""
    options = training_options(args)
    learner = make_learner(options)
    rng = torch.Generator().manual_seed(args.seed)
    with (
        ModelServer(learner.engine, name="agent") as engine,
        Gateway(engine.base_url, args.pool) as gateway,
        Players(gateway, args) as players,
    ):
        before = players.held_out("before", args.held_out)
        for number in range(args.iterations):
            players.policy(number + 1)
            names = [f"train-{number}-{episode}" for episode in range(args.episodes)]
            seeds = [mixed_seed(args.seed, number, episode) % (1 << 40) for episode in range(args.episodes)]
            solved = players.play(names, "train", seeds, temperature=1.0)
            trajectories = players.batch(args.episodes, number + 1)
            assert len(trajectories) == args.episodes, len(trajectories)
            learner.iteration = number
            update(options, learner, Batch(trajectories), rng)
            print(f"[{number + 1}/{args.iterations}] success while sampling {np.mean(solved):.3f}", flush=True)
        after = players.held_out("after", args.held_out)
    gain = after - before
    half = 1.96 * gain.std(ddof=1) / np.sqrt(len(gain))
    return {
        "before": float(before.mean()),
        "after": float(after.mean()),
        "gain": float(gain.mean()),
        "low": float(gain.mean() - half),
        "high": float(gain.mean() + half),
    }


if __name__ == "__main__":
    arguments = tyro.cli(Arguments)
    print(json.dumps(asdict(arguments) | train(arguments)))
