"""`agentrl bench train`: tokens generated and trained a second, padding, where the time goes, memory.

Generation is measured beside the `generate` of transformers: the same model, prompts, sampling and longest answer, in
turns in the same run; and how far its log-probabilities are from a trainer's. Training is a few iterations of GRPO in
the same environment, read from their own metrics; on a GPU from a policy that has imitated for a moment (an untrained
one chatters), and a second time in the old way: padded rows, float32 weights under autocast, nothing compiled. The
update alone is measured on rows of known length, too, there beside a plain training loop (`update_rows`).
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import agentrl
from agentrl.core.errors import MissingExtra
from agentrl.core.measure import machine, result
from agentrl.core.policy import Message
from agentrl.models.chat import Prompt
from agentrl.models.loading import load_model
from agentrl.policies.hf import HFPolicy
from agentrl.rollout.episode import make
from agentrl.rollout.prompts import rules_of, user_message
from benchmarks.update_rows import update_rows

ENV = "agentrl/FrozenLake-Text-v0"
MAX_LENGTH = 48  # new tokens
BATCH = {"cpu": 64, "cuda": 256}
EPISODES = {"cpu": 64, "cuda": 1024}  # of an iteration of GRPO
REQUIRED = {"cpu": 1.0, "cuda": 15.0}  # times the speed of generate
WAYS = {
    "cpu": {"agentrl GRPO": {}},
    "cuda": {
        "agentrl GRPO": {},
        "agentrl GRPO, no reference": {"kl_coef": 0.0},
        "agentrl GRPO, old way": {"master_weights": "off"},
    },
}
PARTS = ("generate", "environment", "judge", "update", "other")


def run(quick: bool = False, model: str = "") -> dict[str, Any]:
    """Measure generation beside the peer, then training; `model` is tiny-text on a processor, smollm2 on a GPU."""
    try:
        import torch
        import transformers
    except ImportError as error:
        raise MissingExtra(error.name or "transformers", "train") from error
    place = "cuda" if torch.cuda.is_available() else "cpu"
    model = model or {"cpu": "tiny-text", "cuda": "smollm2"}[place]
    results, ratio = generation(model, place, repeats=1 if quick else 5)
    results += training(model, place, quick)
    results += update_rows(model, place, repeats=1 if quick else 3)
    return {
        "schema": 1,
        "name": "train",
        "machine": {**machine(), "device": torch.cuda.get_device_name() if place == "cuda" else "cpu", "model": model},
        "threads": torch.get_num_threads(),
        "results": results,
        "peers": {
            "transformers": {"installed": True, "version": transformers.__version__, "reason": None},
            "trl": {"installed": False, "version": None, "reason": "its GRPO step is not measured here"},
        },
        "ratios": [ratio],
        "pass": ratio["pass"],
    }


# ---------------------------------------------------------------------- generation


def generation(model: str, place: str, repeats: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Rows for ours and the peer, and their ratio."""
    import transformers

    rows, case = BATCH[place], f"generation, batch {BATCH[place]}"
    policy = HFPolicy(load_model(model, place), max_new_tokens=MAX_LENGTH, batch_size=rows)
    prompts = [policy.encode(conversation) for conversation in openings(rows)]
    found = in_turns(
        {"ours": lambda: generate_ours(policy, prompts), "peer": lambda: generate_plain(policy, prompts)}, repeats
    )
    shape = {"num_envs": rows, "obs": "text"}
    results = [
        result(case, "agentrl", agentrl.__version__, found["ours"], "tokens/s", **shape),
        result(case, "transformers generate", transformers.__version__, found["peer"], "tokens/s", **shape),
    ]
    ours, peer = (row["value"] for row in results)
    results += agreement(policy, prompts, shape)
    required = REQUIRED[place]
    passed = ours >= required * peer
    ratio = {"case": case, "ours": ours, "peer": peer, "ratio": ours / peer, "required": required, "pass": passed}
    return results, ratio


def agreement(policy: HFPolicy, prompts: list[Prompt], shape: dict[str, Any]) -> list[dict[str, Any]]:
    """How far recorded log-probabilities are from the trainer's, on average; where kernels of our own generate, without
    them, too."""
    case, found = "difference of log-probabilities from the trainer's", []
    found.append(("agentrl", float(distances(policy, policy.answer(prompts)).mean())))
    decoder = policy.loaded.decoder
    if decoder.fused is not None:
        policy.loaded.decoder = None
        policy.answer(prompts[:1])
        policy.loaded.decoder.fused = None
        found.append(("agentrl, the model's own modules", float(distances(policy, policy.answer(prompts)).mean())))
        policy.loaded.decoder = decoder
    for impl, mean in found:
        print(f"{case}: {impl} {mean:.4f}", file=sys.stderr, flush=True)
    return [result(case, impl, agentrl.__version__, [round(mean, 5)], "nats", **shape) for impl, mean in found]


def distances(judge: HFPolicy, said: list[Any]) -> Any:
    """Of the log-probability of every token of every answer from the one that the judge's model gives it."""
    import torch

    found = []
    for start in range(0, len(said), 64):
        some = said[start : start + 64]
        with torch.no_grad():
            wanted = judge.logprobs_of([one.prompt_ids for one in some], [one.token_ids for one in some])
        pairs = zip(some, wanted, strict=True)
        found += [(torch.tensor(one.logprobs) - scores.float().cpu()).abs() for one, scores in pairs]
    return torch.cat(found)


def openings(count: int) -> list[list[Message]]:
    """The first conversations of `count` episodes."""
    env = make(ENV)
    try:
        rules: Message = {"role": "system", "content": rules_of(env)}
        return [[rules, user_message(env.reset(seed=seed)[0])] for seed in range(count)]
    finally:
        env.close()


def in_turns(works: dict[str, Callable[[], int]], repeats: int) -> dict[str, list[float]]:
    """Things done a second by each; they take turns, so that what else the machine does strikes them alike."""
    found: dict[str, list[float]] = {name: [] for name in works}
    for work in works.values():
        for _ in range(2):  # compiles, records, fills caches
            work()
    for _ in range(repeats):
        for name, work in works.items():
            start = time.perf_counter()
            done = work()
            found[name].append(done / (time.perf_counter() - start))
    return found


def generate_ours(policy: HFPolicy, prompts: list[Prompt]) -> int:
    """Answer all prompts; how many tokens that were."""
    return sum(len(answer.token_ids or []) for answer in policy.answer(prompts))


def generate_plain(policy: HFPolicy, prompts: list[Prompt]) -> int:
    """The same with transformers' own loop; tokens after the end of an answer do not count."""
    import torch

    from agentrl.models.scoring import pack

    engine = policy.loaded
    stops = sorted(engine.stops)
    with torch.inference_mode(), torch.random.fork_rng(enabled=True):
        batch = pack(engine.model, prompts, engine.pad, engine.encoder.image_token)
        settings = {"do_sample": True, "top_k": 0, "max_new_tokens": MAX_LENGTH, "eos_token_id": stops}
        whole = engine.model.generate(batch.ids, attention_mask=batch.mask, pad_token_id=engine.pad, **settings)
        made = whole[:, batch.ids.shape[1] :]
        ended = torch.isin(made, torch.tensor(stops, device=made.device)).int().cumsum(dim=-1)
        return int((ended == 0).sum() + (ended[:, -1] > 0).sum())


# ---------------------------------------------------------------------- training


def training(model: str, place: str, quick: bool) -> list[dict[str, Any]]:
    """What short runs of GRPO say about themselves, in each way; the iterations that warm up do not count."""
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        start = imitated(model, folder) if place == "cuda" else model
        for number, (name, options) in enumerate(WAYS[place].items()):
            lines = train_grpo(start, place, f"{folder}/run-{number}", options, quick)
            found = [*_speeds(lines), *_shares(lines), _memory(place)]
            results += [result(*row[:1], name, agentrl.__version__, *row[1:], **_shape(place)) for row in found]
            for row in found:
                print(
                    f"{name}: {row[0]}: {[round(value, 3) for value in row[1]]} {row[2]}", file=sys.stderr, flush=True
                )
    return results


def imitated(model: str, folder: str) -> str:
    """A policy that answers with moves and then stops."""
    from agentrl.trainers.algorithms.sft import SFT, train

    options = {"iterations": 1, "steps_per_iteration": 40, "batch_size": 64, "demonstrations": 512, "lr": 1e-4}
    more = {"output": f"{folder}/imitated", "save_trajectories": 0, "report": False}
    return str(train(SFT(env=(ENV,), model=model, **options, **more)) / "checkpoints" / "step_1" / "policy")


def train_grpo(model: str, place: str, folder: str, options: dict[str, Any], quick: bool) -> list[dict[str, Any]]:
    """The metrics of the iterations that count."""
    from agentrl.trainers.algorithms.grpo import GRPO, train

    if place == "cuda":
        import torch

        torch.cuda.reset_peak_memory_stats()
        options = {"token_budget": 65_536, "generation_batch_size": 1024, "compile": "on", **options}
    warm, counted = (1, 1) if quick else (3, 4) if place == "cuda" else (1, 2)
    arguments = GRPO(
        env=(ENV,),
        model=model,
        output=folder,
        iterations=warm + counted,
        episodes=EPISODES[place],
        num_envs=EPISODES[place],
        max_new_tokens=MAX_LENGTH,
        save_every=warm + counted,
        save_trajectories=0,
        report=False,
        device=place,
        **options,
    )
    lines = (train(arguments) / "metrics.jsonl").read_text().splitlines()
    return [line for line in map(json.loads, lines) if line["kind"] == "train"][warm:]


Row = tuple[str, list[float], str]  # case, values, unit


def _shape(place: str) -> dict[str, Any]:
    return {"num_envs": EPISODES[place], "obs": "text"}


def _speeds(lines: list[dict[str, Any]]) -> list[Row]:
    cases = {"rollout, tokens generated": ("generated", "generate"), "update, tokens trained": ("trained", "update")}
    return [
        (case, [line["tokens"][tokens] / line["seconds"][part] for line in lines], "tokens/s")
        for case, (tokens, part) in cases.items()
    ]


def _shares(lines: list[dict[str, Any]]) -> list[Row]:
    shares = {f"time: {part}": [_share(line["seconds"], part) for line in lines] for part in PARTS}
    shares["padding of the update"] = [line["tokens"]["padding"] for line in lines]
    whole: Row = ("iteration", [round(line["seconds"]["total"], 2) for line in lines], "s")
    return [whole, *((case, [round(value, 4) for value in values], "share") for case, values in shares.items())]


def _share(seconds: dict[str, float], part: str) -> float:
    return seconds.get(part, 0.0) / seconds["total"]


def _memory(place: str) -> Row:
    """The most that was in use: of the GPU where there is one, else of this process since it began."""
    import torch

    if place == "cuda":
        peak = torch.cuda.max_memory_allocated()
    else:
        unit = 1 if sys.platform == "darwin" else 1024
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return "peak memory", [round(peak / 2**30, 2)], "GiB"
