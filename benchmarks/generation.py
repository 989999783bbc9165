"""`agentrl bench engine`: tokens a second of the transformers and the vLLM policy, and the seconds of a weight update.

Both answer the same prompts of the same model with the same sampling parameters, in turns in the same run. An engine
that is quick and wrong is worth nothing, so the report also says how far the log-probabilities that vLLM recorded are
from those of transformers, after the update, and only passes where they agree.
"""

from __future__ import annotations

import time
from typing import Any

import agentrl
from agentrl.core.errors import MissingExtra
from agentrl.core.measure import machine, result
from agentrl.models.loading import LoadedModel, load_model
from agentrl.policies.hf import HFPolicy
from agentrl.policies.vllm import VLLMEngine, VLLMPolicy
from agentrl.policies.vllm.weights import checkpoint_weights
from benchmarks.train import in_turns, openings

LONGEST = 48  # new tokens
BATCHES = {"cpu": (8, 64), "cuda": (64, 512)}
CLOSE = {"cpu": 1e-4, "cuda": 0.5}  # largest difference of a log-probability: float32, and bf16 with its rare outliers
UPDATES = 5


def run(quick: bool = False, model: str = "") -> dict[str, Any]:
    """Measure; `model` is tiny-text on a processor and smollm2 on a GPU unless told."""
    try:
        import torch
        import transformers
    except ImportError as error:
        raise MissingExtra(error.name or "transformers", "train") from error
    place = "cuda" if torch.cuda.is_available() else "cpu"
    model = model or {"cpu": "tiny-text", "cuda": "smollm2"}[place]
    ours = load_model(model, place)
    kind = str(ours.model.dtype).removeprefix("torch.")
    with VLLMEngine(ours.folder, dtype=kind, batch_size=max(BATCHES[place])) as engine:
        started = _seconds(engine.start)
        assert engine.interpreter is not None
        version = engine.interpreter.version
        results, ratios = [], []
        for rows in BATCHES[place]:
            found, ratio = generation(ours, engine, version, rows, repeats=1 if quick else 5)
            results += found
            ratios.append(ratio)
        results.append(result("start", "vLLM", version, [started], "s"))
        results += updating(ours, engine, version, repeats=1 if quick else UPDATES)
        apart = difference(ours, engine)
    results.append(result("largest difference of a log-probability", "vLLM", version, [apart], "nats"))
    return {
        "schema": 1,
        "name": "engine",
        "machine": {**machine(), "device": torch.cuda.get_device_name() if place == "cuda" else "cpu", "model": model},
        "threads": torch.get_num_threads(),
        "results": results,
        "peers": {
            "transformers": {"installed": True, "version": transformers.__version__, "reason": None},
            "vllm": {"installed": True, "version": version, "reason": None},
        },
        "ratios": ratios,
        "pass": apart < CLOSE[place],
    }


def generation(
    ours: LoadedModel, engine: VLLMEngine, version: str, rows: int, repeats: int
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A row for each policy, and their ratio; which is quicker depends on the machine, so nothing is required."""
    case, shape = f"generation, batch {rows}", {"num_envs": rows, "obs": "text"}
    policies = {
        "transformers": HFPolicy(ours, max_new_tokens=LONGEST, batch_size=rows),
        "vllm": VLLMPolicy(engine, max_new_tokens=LONGEST),
    }
    talks = openings(rows)
    prompts = {name: [policy.encode(talk) for talk in talks] for name, policy in policies.items()}
    works = {name: lambda name=name: _tokens(policies[name], prompts[name]) for name in policies}
    found = in_turns(works, repeats)
    results = [
        result(case, "agentrl hf", agentrl.__version__, found["transformers"], "tokens/s", **shape),
        result(case, "agentrl vllm", version, found["vllm"], "tokens/s", **shape),
    ]
    peer, quick = (row["value"] for row in results)
    ratio = {"case": f"{case}, vllm beside hf", "ours": quick, "peer": peer, "ratio": quick / peer}
    return results, ratio | {"required": None, "pass": True}


def updating(ours: LoadedModel, engine: VLLMEngine, version: str, repeats: int) -> list[dict[str, Any]]:
    """Seconds from the trainer's weights to an engine that answers with them, the first (which warms up) aside."""
    import torch

    rng = torch.Generator().manual_seed(0)
    found = []
    for _ in range(repeats + 1):
        with torch.no_grad():  # an update that changed nothing would prove nothing
            for parameter in ours.model.parameters():
                noise = torch.randn(parameter.shape, generator=rng).to(parameter)
                parameter.add_(0.01 * parameter.abs().mean() * noise)
        found.append(_seconds(lambda: engine.update_weights(checkpoint_weights(ours.model))))
    size = sum(parameter.nbytes for parameter in ours.model.parameters()) / 2**20
    return [
        result("weight update", "vLLM", version, found[1:], "s"),
        result("weights", "vLLM", version, [round(size, 2)], "MiB"),
    ]


def difference(ours: LoadedModel, engine: VLLMEngine) -> float:
    """The largest between what vLLM recorded and what transformers computes for the same tokens."""
    import torch

    said = VLLMPolicy(engine, max_new_tokens=LONGEST, temperature=0.7, top_p=0.9, seed=1).act(openings(8))
    judge = HFPolicy(ours, temperature=0.7, top_p=0.9)
    with torch.no_grad():
        wanted = judge.logprobs_of([one.prompt_ids or [] for one in said], [one.token_ids or [] for one in said])
    pairs = zip(said, wanted, strict=True)
    return max(float((torch.tensor(one.logprobs) - scores.cpu()).abs().max()) for one, scores in pairs)


def _tokens(policy: HFPolicy | VLLMPolicy, prompts: list[Any]) -> int:
    return sum(len(answer.token_ids or []) for answer in policy.answer(prompts))


def _seconds(work: Any) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
