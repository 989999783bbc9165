"""Checks generation and training on a GPU: agreement with teacher forcing, graph against no graph, tokens a second.

python scripts/gpu_check.py [MODEL]      a built-in name or a folder; "smollm2" unless told; under 90 s on one H200

Every check runs whatever became of the others; the exit code is the number of those that failed.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch
import transformers

from agentrl.core.policy import Message
from agentrl.models.chat import Prompt
from agentrl.models.decoding import FastDecoder
from agentrl.models.loading import LoadedModel, load_model
from agentrl.models.sampling import Answer, Sampling
from agentrl.models.scoring import Reader, pack, token_scores
from agentrl.policies.hf import HFPolicy
from agentrl.trainers.update.batch import Row

MAX_LENGTH = 64  # new tokens
RULES = "You walk on a frozen lake. S start, G goal, O hole, _ ice. Answer with up to three moves. " * 8


def prompts_of(engine: LoadedModel, rows: int) -> list[Prompt]:
    """A long shared rule text and maps that differ, as an environment's prompts do."""
    maps = ["_O_G"[: 1 + row % 4] + "_" * (row % 13) + str(row) for row in range(rows)]
    rules: Message = {"role": "system", "content": RULES}
    return [engine.encoder.encode([rules, {"role": "user", "content": text}]) for text in maps]


def decoder_of(engine: LoadedModel, stops: list[int] | None = None) -> FastDecoder:
    stops = sorted(engine.stops) if stops is None else stops
    return FastDecoder(engine.model, engine.pad, engine.encoder.image_token, stops)


def answers_of(decoder: FastDecoder, prompts: list[Prompt], how: Sampling, seed: int = 0) -> list[Answer]:
    noise = torch.rand(len(prompts), how.max_new_tokens, generator=torch.Generator().manual_seed(seed))
    with torch.inference_mode():
        return decoder.run(prompts, noise, [how.max_new_tokens] * len(prompts), how)


def forced_difference(engine: LoadedModel, rows: int, steps: int) -> tuple[float, float]:
    """The largest and the mean difference of sampled and teacher-forced log-probabilities."""
    prompts, decoder = prompts_of(engine, rows), decoder_of(engine)
    how = Sampling(max_new_tokens=steps)
    answers_of(decoder, prompts, how)  # records the graphs, so that the second time they are used
    answers = answers_of(decoder, prompts, how, seed=1)
    policy = HFPolicy(engine, max_new_tokens=steps)
    with torch.no_grad():
        scores = policy.logprobs_of([prompt.ids for prompt in prompts], [answer.ids for answer in answers])
    gaps = torch.cat(
        [(found.cpu() - torch.tensor(answer.logprobs)).abs() for found, answer in zip(scores, answers, strict=True)]
    )
    graphs = sum(len(lanes.graphs) for lanes in decoder.sets.kept)
    print(f"  {rows} rows, {len(gaps)} tokens, {graphs} graphs: largest {gaps.max():.2e}, mean {gaps.mean():.2e}")
    return gaps.max().item(), gaps.mean().item()


def check_float32(engine: LoadedModel) -> None:
    """Sampled = teacher-forced to 1e-4; every graph in use."""
    largest, _ = forced_difference(engine, 48, MAX_LENGTH)
    assert largest < 1e-4, largest


def check_bfloat16(engine: LoadedModel) -> None:
    """bf16 rounds: the mean difference is reported and must stay small."""
    _, mean = forced_difference(engine, 48, MAX_LENGTH)
    assert mean < 0.05, mean


def check_graphs(engine: LoadedModel) -> None:
    """The same tokens and log-probabilities with graphs and without, with a cut and without."""
    for how in (Sampling(max_new_tokens=40), Sampling(0.8, 0.9, 50, max_new_tokens=40), Sampling(greedy=True)):
        prompts, recorded, plain = prompts_of(engine, 20), decoder_of(engine), decoder_of(engine)
        plain.graphs = False
        answers_of(recorded, prompts, how)
        one, other = (answers_of(decoder, prompts, how, seed=2) for decoder in (recorded, plain))
        assert recorded.graphs and any(lanes.graphs for lanes in recorded.sets.kept), "no graph was recorded"
        equal = sum(first.ids == second.ids for first, second in zip(one, other, strict=True))
        print(f"  {equal} of {len(one)} answers equal ({how})")
        assert equal == len(one)


def check_new_weights(engine: LoadedModel) -> None:
    """A change of the weights in place is seen by recorded graphs, and so is a new storage."""
    prompts, decoder, how = prompts_of(engine, 8), decoder_of(engine), Sampling(max_new_tokens=32, greedy=True)
    answers_of(decoder, prompts, how)
    weight = next(weight for weight in engine.model.parameters() if weight.ndim > 1)
    before = weight.detach().clone()
    try:
        with torch.no_grad():
            weight.mul_(0.5)
        kept, fresh = (answers_of(each, prompts, how) for each in (decoder, decoder_of(engine)))
        assert [answer.ids for answer in kept] == [answer.ids for answer in fresh], "an update in place was missed"
        weight.data = before.clone().mul_(1.5)
        kept, fresh = (answers_of(each, prompts, how) for each in (decoder, decoder_of(engine)))
        assert [answer.ids for answer in kept] == [answer.ids for answer in fresh], "a new storage was missed"
    finally:
        weight.data = before
    print("  seen")


def check_outgrown(engine: LoadedModel) -> None:
    """Lanes that became too short are replaced and their graphs gone; the next ones are recorded all the same."""
    prompts, decoder = prompts_of(engine, 8), decoder_of(engine, stops=[1 << 40])
    for steps in (MAX_LENGTH, 4 * MAX_LENGTH, 8 * MAX_LENGTH):
        answers_of(decoder, prompts, Sampling(max_new_tokens=steps, greedy=True))
        assert decoder.graphs and any(lanes.graphs for lanes in decoder.sets.kept), f"no graph for {steps} tokens"
    print("  recorded")


def check_training(engine: LoadedModel) -> None:
    """An update on rows of a page's length: tokens a second, memory, and what the GPU was busy with."""
    rows = [Row(0, ids=[1 + (7 * row + place) % 999 for place in range(900)]) for row in range(32)]
    for row in rows:
        row.ids[:256] = rows[0].ids[:256]  # the rules of a game
        row.add(888, row.ids[888:], [0.0] * 12, 0, acted=True)
    model = engine.model.float().requires_grad_(True)

    def update() -> None:
        with torch.autocast("cuda", torch.bfloat16):
            read = Reader.of(engine).hidden(model, rows)
            token_scores(model, read.before, read.targets, 1.0).logprobs.sum().backward()
        model.zero_grad(set_to_none=True)

    update()
    torch.cuda.reset_peak_memory_stats()
    spent = milliseconds(update, times=3)
    print(f"  {32 * 900 / spent * 1000:,.0f} tokens a second, {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB")
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        update()
        torch.cuda.synchronize()
    for event in sorted(profile.key_averages(), key=lambda event: -event.device_time_total)[:12]:
        print(f"  {event.device_time_total / 1000:7.1f} ms {event.count:5} {event.key[:100]}")


def check_speed(engine: LoadedModel) -> None:
    """Tokens a second at full length, beside the generate of transformers on the same prompts."""
    assert compare_speed(engine, 256) >= 2
    compare_speed(engine, 512)


def compare_speed(engine: LoadedModel, rows: int) -> float:
    """Our rate over that of generate."""
    prompts, decoder = prompts_of(engine, rows), decoder_of(engine, stops=[1 << 40])
    how = Sampling(max_new_tokens=MAX_LENGTH)
    torch.cuda.reset_peak_memory_stats()
    ours = [tokens_per_second(lambda: answers_of(decoder, prompts, how), rows * MAX_LENGTH) for _ in range(4)]
    batch = pack(engine.model, prompts, engine.pad, engine.encoder.image_token)
    print(f"  {rows} rows of {batch.ids.shape[1]} tokens: ours {[round(rate) for rate in ours]}")
    print(f"  peak memory {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB")
    where_time_goes(decoder, how)
    plain = [tokens_per_second(lambda: plain_generate(engine, batch), rows * MAX_LENGTH) for _ in range(2)]
    print(f"  generate {[round(rate) for rate in plain]}, ratio {max(ours) / max(plain):.1f}")
    return max(ours) / max(plain)


def where_time_goes(decoder: FastDecoder, how: Sampling) -> None:
    """Milliseconds of a replayed step, of a step without graph and of drawing the tokens alone."""
    lanes = decoder.sets.kept[-1]
    (graph, *_) = lanes.graphs.values()
    logits = torch.randn(lanes.rows, decoder.model.config.get_text_config().vocab_size, device="cuda")

    def draw() -> None:
        lanes.step.zero_()
        decoder._take(lanes, logits, how)

    def step(run: Callable[[], Any]) -> None:
        lanes.step.zero_()
        lanes.slot.fill_(decoder.width)
        run()

    with torch.inference_mode():
        cases = {"graph": lambda: step(graph.replay), "eager": lambda: step(lambda: decoder._step(lanes, how))}
        found = {name: milliseconds(run) for name, run in {**cases, "draw": draw}.items()}
    print("  ms a step: " + ", ".join(f"{name} {value:.2f}" for name, value in found.items()))


def milliseconds(work: Callable[[], Any], times: int = 10) -> float:
    work()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(times):
        work()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / times * 1000


def tokens_per_second(work: Callable[[], Any], tokens: int) -> float:
    torch.cuda.synchronize()
    start = time.perf_counter()
    work()
    torch.cuda.synchronize()
    return tokens / (time.perf_counter() - start)


def plain_generate(engine: LoadedModel, batch: Any) -> torch.Tensor:
    with torch.inference_mode():
        return engine.model.generate(
            batch.ids,
            attention_mask=batch.mask,
            do_sample=True,
            top_k=0,
            max_new_tokens=MAX_LENGTH,
            eos_token_id=-1,  # nobody stops
        )


def main() -> int:
    name = sys.argv[1] if len(sys.argv) > 1 else "smollm2"
    print(f"torch {torch.__version__}, transformers {transformers.__version__}, {torch.cuda.get_device_name()}, {name}")
    checks = [(check_float32, "float32"), (check_graphs, "float32"), (check_bfloat16, "bfloat16")]
    checks += [(check_new_weights, "bfloat16"), (check_outgrown, "bfloat16")]
    checks += [(check_speed, "bfloat16"), (check_training, "bfloat16")]  # the last one changes the model's dtype
    engines: dict[str, LoadedModel] = {}
    failed = 0
    for check, dtype in checks:
        start = time.perf_counter()
        print(f"{check.__name__} ({dtype})")
        try:
            if dtype not in engines:
                engines[dtype] = load_model(name, "cuda", dtype)
            check(engines[dtype])
            verdict = "ok"
        except Exception:  # the other checks are worth their time too
            traceback.print_exc(file=sys.stdout)
            verdict, failed = "FAILED", failed + 1
        print(f"  {verdict}, {time.perf_counter() - start:.1f} s", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
