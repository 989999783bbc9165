"""The eight episodes in verl itself; runs in its virtual environment, reads JSON on stdin and prints one JSON object.

Given {"text": FOLDER, "vision": FOLDER, "answers": {model: [[prompt ids, pictures, answer ids], ...]}}: models whose
answers are fixed by their prompts, so that a prompt that our own collector would not have made has no answer.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import threading
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import ray
import verl
from hydra import compose, initialize_config_dir
from library_check import (  # beside this file: another package has `tests`
    ENV_KWARGS,
    SEEDS,
    TEXT,
    VISUAL,
    Episode,
    to_json,
)
from verl.experimental.agent_loop.agent_loop import AgentLoopManager, AgentLoopWorker, DictConfigWrap
from verl.protocol import DataProto
from verl.utils.dataset.rl_dataset import RLHFDataset
from verl.workers.rollout.llm_server import GlobalRequestLoadBalancer, LLMServerClient
from verl.workers.rollout.replica import TokenOutput

from agentrl.adapters import verl as adapter
from agentrl.adapters.verl import AgentRLLoop
from agentrl.core.errors import ConfigError
from agentrl.rollout.trajectory import picture_hash

CHECKOUT = Path(__file__).parents[2]
PICTURE = re.compile(r"<\|vision_start\|>(?:<\|image_pad\|>)+<\|vision_end\|>")
USER = re.compile(r"<\|user\|>(.*?)<\|assistant\|>", re.DOTALL)  # an observation in the tiny models' template


class Engine:
    """A server of verl's whose model knows its answers by heart, and stops where it is told to."""

    def __init__(self, answers: list[Any]) -> None:
        self.answers = {(tuple(prompt), tuple(pictures)): answer for prompt, pictures, answer in answers}
        self.pictures: dict[tuple[int, ...], list[str]] = {}  # of each prompt

    async def generate(
        self,
        request_id: str,
        *,
        prompt_ids: list[int],
        sampling_params: dict[str, Any],
        image_data: Any = None,
        **_: Any,
    ) -> TokenOutput:
        shown = [picture_hash(np.asarray(picture)) for picture in image_data or []]
        self.pictures[tuple(prompt_ids)] = shown
        ids = self.answers[tuple(prompt_ids), tuple(shown)][: sampling_params["max_tokens"]]
        return TokenOutput(token_ids=ids, log_probs=[-1.0] * len(ids), extra_fields={"max_global_steps": 3})

    async def seen(self) -> list[Any]:
        return list(self.pictures.items())


def configuration(folder: str, **rollout: Any) -> Any:
    lengths = {"prompt_length": 600, "response_length": 1500, **rollout}
    changes = [
        f"actor_rollout_ref.model.path={folder}",
        "actor_rollout_ref.rollout.name=vllm",
        "actor_rollout_ref.rollout.calculate_log_probs=True",
        "actor_rollout_ref.rollout.agent.num_workers=1",
        f"actor_rollout_ref.rollout.agent.agent_loop_config_path={CHECKOUT}/examples/verl_agent_loop.yaml",
        *(f"actor_rollout_ref.rollout.{name}={value}" for name, value in lengths.items()),
    ]
    with initialize_config_dir(str(Path(verl.__file__).parent / "trainer" / "config"), version_base=None):
        return compose("ppo_trainer", changes)


def runs(mask: list[int]) -> list[tuple[int, int]]:
    """Where the answers begin and end."""
    edges = np.flatnonzero(np.diff([0, *mask, 0]))
    return [(int(start), int(end)) for start, end in edges.reshape(-1, 2)]


def shown(tokenizer: Any, ids: list[int], pictures: list[str]) -> list[str]:
    """The observations in a prompt, from its tokens; pictures by their names."""
    names = iter(pictures)
    text = PICTURE.sub(lambda _: f"<image {next(names)}>", tokenizer.decode(ids))
    return USER.findall(text)


def episode(seed: int, tokenizer: Any, tokens: list[list[int]], facts: dict[str, Any], seen: dict) -> Episode:
    prompt, response, mask = tokens
    answers = [response[start:end] for start, end in runs(mask)]
    last = prompt + response[: runs(mask)[-1][0]]
    return Episode(
        seed=seed,
        actions=[tokenizer.decode([t for t in ids if t != tokenizer.eos_token_id]) for ids in answers],
        shown=shown(tokenizer, last, seen[tuple(last)]),
        prompt_ids=prompt,
        completion_ids=response,
        mask=mask,
        **facts,
    )


# ---------------------------------------------------------------------- verl's own workers, in Ray


def start_ray() -> None:
    """Ray gives its processes half a minute, which is not enough at first on a busy machine."""
    for tries_left in range(5, -1, -1):
        try:
            ray.init("local", num_cpus=3, include_dashboard=False, log_to_driver=False)
            return
        except Exception as error:
            if not tries_left or "timed out" not in str(error):
                raise
            ray.shutdown()


def in_workers(folder: str, answers: list[Any]) -> dict[str, str]:
    """Text and pictures in one batch of verl's manager, whose worker, client and load balancer are Ray actors."""
    start_ray()
    config = configuration(folder)
    engine = ray.remote(Engine).remote(answers)
    balancer = ray.remote(GlobalRequestLoadBalancer).remote({"engine": engine})
    manager = AgentLoopManager.create(config, LLMServerClient(config, balancer))
    names = [name for name in ("frozenlake-text", "frozenlake-visual") for _ in SEEDS]
    seeds = [*SEEDS, *SEEDS]
    columns = {
        "agent_name": names,
        "extra_info": [{"seed": seed, "split": "train"} for seed in seeds],
        "raw_prompt": [[] for _ in seeds],
    }
    arrays = {name: np.fromiter(values, dtype=object, count=len(seeds)) for name, values in columns.items()}
    found = manager.generate_sequences(DataProto.from_dict(non_tensors=arrays))
    tokenizer = AgentLoopWorker(config, LLMServerClient(config)).tokenizer
    seen = {tuple(ids): names for ids, names in ray.get(engine.seen.remote())}
    ray.shutdown()
    episodes = [_episode_of(found, row, seeds[row], tokenizer, seen) for row in range(len(seeds))]
    for row, one in enumerate(episodes):  # as many places as features: a model's forward pass needs it
        grids = found.non_tensor_batch["multi_modal_inputs"][row].get("image_grid_thw")
        places = (one.prompt_ids + one.completion_ids).count(tokenizer.convert_tokens_to_ids("<|image_pad|>"))
        assert places == (0 if grids is None else int(grids.prod(-1).sum()) // 4), (places, grids)
    half = len(SEEDS)
    return {TEXT: to_json(episodes[:half]), VISUAL: to_json(episodes[half:])}


def _episode_of(found: DataProto, row: int, seed: int, tokenizer: Any, seen: dict) -> Episode:
    batch, facts = found.batch[row], {name: values[row] for name, values in found.non_tensor_batch.items()}
    width = batch["prompts"].shape[0]
    real = batch["attention_mask"].bool()
    parts = [batch["prompts"][real[:width]], *(batch[name][real[width:]] for name in ("responses", "response_mask"))]
    written = batch["response_mask"].bool()
    assert (batch["rollout_log_probs"][written] == -1).all() and (batch["rollout_log_probs"][~written] == 0).all()
    assert batch["rm_scores"].nonzero().tolist() == [[len(parts[1]) - 1]] and facts["max_global_steps"] == 3
    ends = {name: facts[name] for name in ("terminated", "truncated", "success")}
    rewards = {"rewards": facts["turn_scores"], "reward": batch["rm_scores"].sum().item()}
    return episode(seed, tokenizer, [part.tolist() for part in parts], ends | rewards, seen)


# ---------------------------------------------------------------------- the loop alone, for a model of text


def loop(config: Any, engine: Engine, tokenizer: Any, **kwargs: Any) -> AgentRLLoop:
    wrapped = DictConfigWrap(config), engine, tokenizer, None, RLHFDataset, DictConfigWrap(config.data)
    return AgentRLLoop(*wrapped, env_id=TEXT, env_kwargs=ENV_KWARGS, **kwargs)


class Watched(gym.Wrapper):
    """Knows in which threads it was called."""

    threads: set[int] = set()

    def reset(self, **kwargs: Any) -> Any:
        self.threads.add(threading.get_ident())
        return super().reset(**kwargs)

    def step(self, action: Any) -> Any:
        self.threads.add(threading.get_ident())
        return super().step(action)


def alone(folder: str, answers: list[Any]) -> dict[str, Any]:
    from transformers import AutoTokenizer

    tokenizer, engine, config = AutoTokenizer.from_pretrained(folder), Engine(answers), configuration(folder)

    def played(config: Any, seed: int, **kwargs: Any) -> Any:
        return asyncio.run(loop(config, engine, tokenizer, **kwargs).run({"logprobs": True}, extra_info={"seed": seed}))

    def as_episode(seed: int, out: Any) -> Episode:
        flat = out.as_dict()  # as verl's newer trainer takes it
        assert flat["rm_scores"].tolist() == [0.0] * (len(out.response_ids) - 1) + [np.float32(out.reward_score)]
        extra, tokens = flat["extra_fields"], [out.prompt_ids, out.response_ids, out.response_mask]
        facts = {name: extra[name] for name in ("terminated", "truncated", "success")}
        rewards = {"rewards": extra["turn_scores"], "reward": out.reward_score}
        return episode(seed, tokenizer, tokens, facts | rewards, engine.pictures)

    make = adapter.make_stack
    adapter.make_stack = lambda stack: Watched(make(stack))
    whole = [as_episode(seed, played(config, seed)) for seed in SEEDS]
    adapter.make_stack = make
    refused = {}
    for name, change in {"prompt_length": {"prompt_length": 20}, "template": {}}.items():
        other = configuration(folder, **change)
        if name == "template":
            other.data.apply_chat_template_kwargs = {"enable_thinking": False}
        try:
            played(other, 0)
        except ConfigError as error:
            refused[name] = str(error)
    # Room for the first answer of seed 3 and what follows it, and for one token of the second.
    starts = runs(whole[3].mask)
    short = as_episode(3, played(configuration(folder, response_length=starts[1][0] + 1), 3))
    none = as_episode(3, played(configuration(folder, response_length=starts[1][0]), 3))
    builder = loop(config, engine, tokenizer).continuous_token_builder
    return {
        "episodes": to_json(whole),
        "short": to_json([short, none]),
        "refused": refused,
        "in_threads": bool(Watched.threads) and threading.get_ident() not in Watched.threads,
        "theirs": their_tokens(builder, tokenizer, whole[5]),
    }


def their_tokens(builder: Any, tokenizer: Any, cut: Episode) -> list[int]:
    """What verl's own builder makes of the first two turns of an episode whose first answer was cut."""
    start, end = runs(cut.mask)[0]
    before = [{"role": "user", "content": cut.shown[0]}]
    after = [*before, {"role": "assistant", "content": cut.actions[0]}, {"role": "user", "content": cut.shown[1]}]
    ids = builder.merge_assistant_tokens(cut.prompt_ids, cut.completion_ids[start:end]).token_ids
    return list(builder.merge_context_tokens(after[:2], after, list(ids)).token_ids)


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    answer = alone(asked["text"], asked["answers"]["text"])
    answer["workers"] = in_workers(asked["vision"], asked["answers"]["vision"])
    print(json.dumps({**answer, "version": verl.__version__}))
