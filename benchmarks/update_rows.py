"""The update phase on rows of one length: ours, as it is and as it was, beside a plain training loop of transformers.

The rows are made, not played, so that their length is known; what happens to them is GRPO's own update: the policy's
and the reference's log-probabilities, advantages, four optimiser steps. The peer gets the same rows with labels.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import agentrl
from agentrl.core.measure import result
from agentrl.rollout.trajectory import Step, Trajectory

ROWS = {"cpu": (8, 200), "cuda": (256, 900)}  # how many, and of how many tokens
GROUP = 8
SHARED = 0.25  # of a row's tokens, where rows begin alike
REPLY = 1 / 3  # of a row's tokens
OURS = {"agentrl": {}, "agentrl, no reference": {"kl_coef": 0.0}}
WAYS = {"cpu": OURS, "cuda": {**OURS, "agentrl, old way": {"master_weights": "off"}}}
PEAK = {"H200": 989e12, "H100": 989e12, "A100": 312e12}  # operations a second in bfloat16


def made(count: int, length: int, shared: bool, vocabulary: int) -> list[Trajectory]:
    """Trajectories of one turn, all of one length, of random tokens and random rewards; with a common beginning."""
    rng = random.Random(0)
    reply = int(length * REPLY)
    common = [rng.randrange(1, vocabulary) for _ in range(int(length * SHARED))] if shared else []
    found = []
    for number in range(count):
        ids = common + [rng.randrange(1, vocabulary) for _ in range(length - len(common))]
        step = Step(
            prompt_ids=ids[:-reply],
            response_ids=ids[-reply:],
            logprobs=[-5.0] * reply,
            reward=rng.random(),
            finish_reason="stop",
        )
        found.append(Trajectory(steps=[step], reward=step.reward, group_id=str(number // GROUP)))
    return found


def update_rows(model: str, place: str, repeats: int) -> list[dict[str, Any]]:
    """Rows of the report: trained tokens a second of each way, and the share of the device's peak."""
    count, length = ROWS[place]
    results = []
    works: dict[str, Callable[[], int]] = {}
    for name, options in WAYS[place].items():
        works |= our_updates(name, model, place, count, length, options)
    for name, work in {**works, "transformers loop|nothing shared": plain_loop(model, place, count, length)}.items():
        impl, kind = name.split("|")
        case = f"update, rows of {length} tokens, {kind}"
        found = repeated(work, repeats)
        results.append(result(case, impl, agentrl.__version__, found, "tokens/s", num_envs=count, obs="text"))
        print(f"{case}: {impl} {results[-1]['value']:,.0f} tokens/s", file=sys.stderr, flush=True)
    return results + shares_of_peak(results, model, place)


def our_updates(
    name: str, model: str, place: str, count: int, length: int, options: dict[str, Any]
) -> dict[str, Callable[[], int]]:
    """GRPO's update on rows that share nothing, and on rows with a common beginning; one learner for both."""
    import torch

    from agentrl.trainers.algorithms.grpo import GRPO, advantages, loss_weights, policy_loss
    from agentrl.trainers.update.batch import Batch
    from agentrl.trainers.update.learner import make_learner
    from agentrl.trainers.update.policy import score, update_policy

    args = GRPO(model=model, device=place, episodes=count, group_size=GROUP, token_budget=65_536, lr=1e-7, compile="on")
    args = replace(args, **options) if place == "cuda" else replace(args, **options, compile="off", token_budget=16_384)
    learner = make_learner(args)
    vocabulary = learner.engine.model.config.get_text_config().vocab_size

    def update(trajectories: list[Trajectory]) -> int:
        batch, before = Batch(trajectories), learner.trained_tokens
        scores = score(args, learner, batch)
        estimate = advantages(args, batch, scores)
        rng = torch.Generator().manual_seed(0)  # the same order in every repeat
        update_policy(args, learner, batch, scores, estimate, policy_loss, rng, weigh=partial(loss_weights, args))
        return learner.trained_tokens - before

    kinds = {"nothing shared": False, "a quarter shared": True}
    return {
        f"{name}|{kind}": partial(update, made(count, length, shared, vocabulary)) for kind, shared in kinds.items()
    }


def plain_loop(model: str, place: str, count: int, length: int) -> Callable[[], int]:
    """Forward with labels, backward, clip, AdamW: float32 weights, on a GPU under autocast to bfloat16."""
    import torch

    from agentrl.models.loading import load_model

    loaded = load_model(model, place, "float32").model.train()
    optimiser = torch.optim.AdamW(loaded.parameters(), lr=1e-7, fused=True)
    rows = made(count, length, False, loaded.config.get_text_config().vocab_size)
    ids = torch.tensor([[*(row.steps[0].prompt_ids or []), *(row.steps[0].response_ids or [])] for row in rows])
    labels = ids.clone()
    labels[:, : -int(length * REPLY)] = -100
    together = max(1, 16_384 // length)

    def work() -> int:
        for part in range(4):
            own, wanted = ids[part::4].to(place), labels[part::4].to(place)
            for some, known in zip(own.split(together), wanted.split(together), strict=True):
                with torch.autocast(place, torch.bfloat16, enabled=place == "cuda"):
                    loss = loaded(input_ids=some, attention_mask=torch.ones_like(some), labels=known).loss
                (loss * len(some) / len(own)).backward()
            torch.nn.utils.clip_grad_norm_(loaded.parameters(), 1.0)
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
        return ids.numel()

    return work


def repeated(work: Callable[[], int], repeats: int) -> list[float]:
    """Tokens a second of each repeat, after two that warm up."""
    found = []
    for number in range(repeats + 2):
        start = time.perf_counter()
        done = work()
        _wait()
        if number > 1:
            found.append(done / (time.perf_counter() - start))
    return found


def _wait() -> None:
    import torch

    if torch.cuda.is_available():
        torch.cuda.synchronize()


def shares_of_peak(results: list[dict[str, Any]], model: str, place: str) -> list[dict[str, Any]]:
    """Of the operations that training needs at least (six for each weight and token) in what the device could do."""
    import torch

    from agentrl.models.loading import load_model

    device = torch.cuda.get_device_name() if place == "cuda" else ""
    peak = next((rate for name, rate in PEAK.items() if name in device), None)
    if peak is None:
        return []
    weights = sum(p.numel() for p in load_model(model, "cpu").model.parameters())
    chosen = [row for row in results if "nothing shared" in row["case"]]
    return [
        result(
            f"{row['case']}, share of peak",
            row["impl"],
            row["version"],
            [round(6 * weights * value / peak, 3) for value in row["values"]],
            "share",
            num_envs=row["num_envs"],
            obs="text",
        )
        for row in chosen
    ]
