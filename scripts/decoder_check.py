"""Checks the kernels of a decoding step on a GPU, and measures what they take: under two minutes on one H200.

python scripts/decoder_check.py [MODEL] [--tiles]     MODEL: a built-in name or a folder; without one, random weights in
                                                      the shape of SmolLM2-135M. --tiles: other block sizes, too

Every check runs whatever became of the others; the exit code is the number of those that failed.
"""

from __future__ import annotations

import copy
import sys
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch
import transformers

from agentrl.models import packed_attention
from agentrl.models.chat import Prompt
from agentrl.models.decoding import FastDecoder, Lanes
from agentrl.models.fused_steps import TILES, FusedSteps, Logits, Stream, Tiles, Tokens, why_unsuited
from agentrl.models.loading import load_model
from agentrl.models.sampling import Answer, Sampling, choose
from agentrl.models.scoring import Reader, token_scores
from agentrl.trainers.update.batch import Row
from agentrl.trainers.update.master_weights import same_weights

SHAPE = {
    "hidden_size": 576, "intermediate_size": 1536, "num_hidden_layers": 30, "num_attention_heads": 9,
    "num_key_value_heads": 3, "vocab_size": 49_152, "max_position_embeddings": 8192, "tie_word_embeddings": True,
    "rope_parameters": {"rope_type": "default", "rope_theta": 100_000.0}, "initializer_range": 0.05,
}  # fmt: skip
STEPS = 32  # new tokens where answers are compared
NOBODY = [1 << 40]  # a token that nobody says: no row stops


def make_model(name: str) -> Any:
    if name:
        return load_model(name, "cuda", "bfloat16").model
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**SHAPE)).to("cuda", torch.bfloat16).eval()
    model.model.embed_tokens.weight.data.mul_(4)  # some tokens are likelier than others
    return model


def prompts_of(rows: int, shared: int, own: int, vocabulary: int) -> list[Prompt]:
    rng = torch.Generator().manual_seed(rows)
    common = torch.randint(1000, vocabulary, (shared,), generator=rng).tolist()
    lengths = [own - row % 3 for row in range(rows)]
    return [Prompt([*common, *torch.randint(1000, vocabulary, (size,), generator=rng).tolist()]) for size in lengths]


def decoders_of(model: Any) -> dict[str, FastDecoder]:
    """Today's path and the kernels'."""
    found = {name: FastDecoder(model, 0, None, NOBODY) for name in ("modules", "kernels")}
    assert found["kernels"].fused is not None, why_unsuited(model)
    found["modules"].fused = None
    return found


def answers_of(decoder: FastDecoder, prompts: list[Prompt], how: Sampling) -> list[Answer]:
    noise = torch.rand(len(prompts), how.max_new_tokens, generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        return decoder.run(prompts, noise, [how.max_new_tokens] * len(prompts), how)


def milliseconds(work: Callable[[], Any], times: int = 20) -> float:
    work()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(times):
        work()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / times * 1000


def recorded(work: Callable[[], Any]) -> Callable[[], None]:
    """`work` as a graph."""
    with torch.inference_mode():
        work()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            work()
    return graph.replay


# ---------------------------------------------------------------------- are they right?


def lanes_with_keys(fused: FusedSteps, rows: int, prefix: int, own: int) -> Lanes:
    """Lanes in the middle of an answer, with random keys and values."""
    lanes = Lanes(rows, 256, own + 64, prefix + 64 if prefix else 0, "cuda")
    room, size = lanes.key_values, fused.head_size
    weight = fused.model.model.norm.weight
    for _ in fused.model.model.layers:
        shapes = ((rows, fused.kv_heads, room.capacity, size), (fused.kv_heads, room.prefix_capacity, size))
        for kept, shape in zip((room.own, room.shared), shapes, strict=True):
            kept.append(tuple(torch.randn(shape, device="cuda", dtype=weight.dtype) for _ in range(2)))
    lanes.first.copy_(torch.arange(rows) % min(5, own))
    lanes.shared.fill_(prefix)
    lanes.slot.fill_(own)
    lanes.limits.fill_(256)
    lanes.token.copy_(torch.randint(0, fused.model.config.vocab_size, (rows,)))
    lanes.position.copy_(prefix + own - lanes.first)
    lanes.noise.uniform_()
    return lanes


def check_layers(model: Any) -> None:
    """Each half of a layer, the output layer and the drawing, against float32 modules on the same rounded weights."""
    for rows, prefix, own in ((256, 130, 60), (13, 0, 7), (8, 600, 100), (1024, 70, 1)):
        print(f"  {rows} rows, {prefix} shared and {own} own keys")
        check_layer(model, rows, prefix, own, number=3)


def check_layer(model: Any, rows: int, prefix: int, own: int, number: int) -> None:
    fused, layer = FusedSteps(model, kernels()), model.model.layers[number]
    lanes, exact = lanes_with_keys(fused, rows, prefix, own), copy.deepcopy(layer).float()
    tiles, room = next(found for most, found in fused.tiles.items() if rows <= most), lanes.key_values
    states = torch.randn(rows, model.config.hidden_size, device="cuda") * 3
    scaled = (states * layer.input_layernorm.weight.float()).to(model.dtype)
    stream = Stream(states.clone(), scaled, states.square().sum(1, keepdim=True))
    attention, normed = exact.self_attn, exact.input_layernorm(states)
    parts = (attention.q_proj, attention.k_proj, attention.v_proj)
    queries, keys, values = (part(normed).view(rows, -1, fused.head_size) for part in parts)
    cos, sin = (table[lanes.position].float()[:, None] for table in (fused.cos, fused.sin))
    queries, keys = (x * cos + torch.cat([-x.chunk(2, -1)[1], x.chunk(2, -1)[0]], -1) * sin for x in (queries, keys))
    given = Tokens(lanes.token, lanes.position, lanes.slot, 1)
    asked = fused._queries(given, layer, room.own[number], stream, tiles.qkv)
    found = fused._attend_one(lanes, number, asked, tiles).flatten(1)
    stream = fused._add(found, layer.self_attn.o_proj.weight, layer.post_attention_layernorm, stream, tiles.out)
    show("keys", room.own[number][0][:, :, own], keys)
    show("values", room.own[number][1][:, :, own], values)
    whole = [
        torch.cat([shared[None, :, :prefix].expand(rows, -1, -1, -1), mine[:, :, : own + 1]], 2).float()
        for shared, mine in zip(room.shared[number], room.own[number], strict=True)
    ]
    column = torch.arange(prefix + own + 1, device="cuda")
    seen = (column < prefix) | (column >= prefix + lanes.first[:, None])
    attended = torch.nn.functional.scaled_dot_product_attention(
        queries[:, :, None], *whole, attn_mask=seen[:, None, None], scale=fused.scale, enable_gqa=True
    )
    show("attention", stream.states - states, attention.o_proj(attended.flatten(1)))
    before = stream.states.clone()
    stream = fused._feed_forward(layer, model.model.norm, stream, tiles)
    show("feed-forward", stream.states - before, exact.mlp(exact.post_attention_layernorm(before)))
    found = fused._vocabulary(stream, 0.7)
    last = copy.deepcopy(model.model.norm).float()(stream.states)
    show("logits", found.logits, last @ model.get_output_embeddings().weight.float().T)
    check_draw(fused, lanes, found)


def show(name: str, found: torch.Tensor, wanted: torch.Tensor) -> None:
    error, most = (found.float() - wanted).abs().max().item(), wanted.abs().max().item()
    print(f"    {name}: largest difference {error:.1e}, of values up to {most:.1e}")
    assert error < 0.01 * most, name


def check_draw(fused: FusedSteps, lanes: Lanes, found: Logits) -> None:
    for how in (Sampling(0.7), Sampling(0.7, greedy=True)):
        lanes.step.zero_()
        lanes.done.zero_()
        tokens, logprobs = choose(found.logits, lanes.noise[:, 0], how)
        fused.draw(lanes, found, how, torch.tensor(NOBODY, device="cuda"))
        same = (lanes.token == tokens).float().mean().item()
        error = (lanes.logprobs[:, 0] - logprobs)[lanes.token == tokens].abs().max().item()
        print(f"    drawn: {same:.4f} of the tokens equal, log-probabilities to {error:.1e}; step {lanes.step.item()}")
        assert same > 0.98 and error < 1e-3 and bool(lanes.going)


def trainer_scores(model: Any, prompts: list[Prompt], answers: list[Answer], temperature: float) -> torch.Tensor:
    """Log-probabilities of answers as a trainer computes them: packed rows, the model's own modules."""
    transformers.AttentionInterface.register(packed_attention.NAME, packed_attention.attend_packed)
    trained = same_weights(model)
    trained.config.get_text_config()._attn_implementation = packed_attention.NAME
    encoder: Any = SimpleNamespace(image_token=None)
    rows = []
    for prompt, answer in zip(prompts, answers, strict=True):
        ids = [*prompt.ids, *answer.ids]
        rows.append(Row(0, ids, list(range(len(prompt.ids), len(ids)))))
    with torch.inference_mode():
        read = Reader(encoder, 0, packed=True).hidden(trained, rows)
        scores = token_scores(trained, read.before, read.targets, temperature)
    return scores.logprobs[read.targets.mask]


def check_answers(model: Any) -> None:
    """Both paths against the trainer's scores in bfloat16 and against float32; and against each other."""
    prompts, how = prompts_of(128, 130, 40, model.config.vocab_size), Sampling(max_new_tokens=STEPS)
    answers, missed = {}, {}
    wide = copy.deepcopy(model).float()
    for name, decoder in decoders_of(model).items():
        answers_of(decoder, prompts, how)  # records the graphs, so that the second time they are used
        answers[name] = answers_of(decoder, prompts, how)
        said = torch.tensor([score for answer in answers[name] for score in answer.logprobs], device="cuda")
        theirs = trainer_scores(model, prompts, answers[name], 1.0)
        true = float32_scores(wide, prompts, answers[name])
        missed[name] = (said - theirs).abs()
        print(
            f"  {name}: {len(said)} tokens, {sum(len(lanes.graphs) for lanes in decoder.sets.kept)} graphs; from the "
            f"trainer's mean {missed[name].mean():.4f} (largest {missed[name].max():.2f}); from float32 "
            f"{(said - true).abs().mean():.4f}; the trainer's from float32 {(theirs - true).abs().mean():.4f}"
        )
    equal = [one.ids == other.ids for one, other in zip(answers["modules"], answers["kernels"], strict=True)]
    first = [one.ids[0] == other.ids[0] for one, other in zip(answers["modules"], answers["kernels"], strict=True)]
    print(f"  answers equal: {sum(equal)} of {len(equal)}; first tokens {sum(first)}")
    for how in (Sampling(0.8, 0.9, 50, max_new_tokens=8), Sampling(greedy=True, max_new_tokens=8)):
        one, other = (answers_of(decoder, prompts, how) for decoder in decoders_of(model).values())
        same = sum(a.ids == b.ids for a, b in zip(one, other, strict=True))
        print(f"  {how}: {same} of {len(one)} answers equal")
    # The two say different things, so their means differ by chance, too.
    chance = 2 * sum(one.var() / len(one) for one in missed.values()) ** 0.5
    assert missed["kernels"].mean() <= missed["modules"].mean() + chance


def float32_scores(wide: Any, prompts: list[Prompt], answers: list[Answer]) -> torch.Tensor:
    found = []
    with torch.inference_mode():
        for prompt, answer in zip(prompts, answers, strict=True):
            ids = torch.tensor([[*prompt.ids, *answer.ids]], device="cuda")
            logits = wide(ids).logits[0, len(prompt.ids) - 1 : -1].log_softmax(-1)
            found.append(logits.gather(-1, ids[0, len(prompt.ids) :, None])[:, 0])
    return torch.cat(found)


def check_new_weights(model: Any) -> None:
    """A change in place is seen by recorded steps, and so is a new storage."""
    prompts, how = prompts_of(16, 20, 10, model.config.vocab_size), Sampling(max_new_tokens=8, greedy=True)
    decoder = decoders_of(model)["kernels"]
    answers_of(decoder, prompts, how)
    weight = model.model.layers[2].self_attn.q_proj.weight
    with torch.inference_mode(False):
        before, other = weight.detach().clone(), weight.detach() * 0.3
    try:
        for change in (lambda: weight.data.mul_(-1.5), lambda: setattr(weight, "data", other)):
            change()
            fresh = decoders_of(model)["kernels"]
            answers_of(fresh, prompts, how)  # prompts are recorded when they come again
            kept, fresh = (answers_of(each, prompts, how) for each in (decoder, fresh))
            assert [answer.logprobs for answer in kept] == [answer.logprobs for answer in fresh], "a change was missed"
    finally:
        weight.data = before
    print("  seen")


# ---------------------------------------------------------------------- how long do they take?


def time_steps(model: Any) -> None:
    """Milliseconds of a replayed step of both paths, by rows, shared and own keys."""
    for rows, shared, own in (
        (256, 0, 64),
        (256, 0, 256),
        (256, 130, 64),
        (1024, 0, 64),
        (1024, 0, 256),
        (1024, 130, 64),
    ):
        prompts = prompts_of(rows, shared, own - 16, model.config.vocab_size)
        found = {name: time_step(decoder, prompts) for name, decoder in decoders_of(model).items()}
        both = ", ".join(f"{name} {value:.3f}" for name, value in found.items())
        print(f"  {rows} rows, {shared} shared and {own} own keys: {both}", flush=True)


def time_step(decoder: FastDecoder, prompts: list[Prompt]) -> float:
    answers_of(decoder, prompts, Sampling(max_new_tokens=16))
    lanes = decoder.sets.kept[-1]
    graph = [kept for key, kept in lanes.graphs.items() if key[0] == "step"][-1]

    def step() -> None:
        lanes.step.fill_(8)
        lanes.slot.fill_(decoder.width + 8)
        graph.replay()

    return milliseconds(step)


def time_answers(model: Any) -> None:
    """Tokens a second in whole answers of both paths, beside the generate of transformers."""
    for rows in (256, 1024):
        prompts = prompts_of(rows, 130, 40, model.config.vocab_size)
        works = {name: partial(answers_of, decoder, prompts) for name, decoder in decoders_of(model).items()}
        if rows == 256:
            works["generate"] = partial(plain_generate, model, prompts)
        for name, work in works.items():
            spent = {}
            for steps in (48, 1):
                how = Sampling(max_new_tokens=steps)
                work(how)
                spent[steps] = milliseconds(partial(work, how), times=3)
            rate = rows * 48 / spent[48] * 1000
            print(f"  {rows} rows, {name}: {rate:,.0f}; {spent[48]:.1f} ms in all, {spent[1]:.1f} ms for one token")


def plain_generate(model: Any, prompts: list[Prompt], how: Sampling) -> None:
    most = max(len(prompt.ids) for prompt in prompts)
    ids = torch.tensor([[0] * (most - len(prompt.ids)) + prompt.ids for prompt in prompts], device="cuda")
    settings = {"do_sample": True, "top_k": 0, "max_new_tokens": how.max_new_tokens, "eos_token_id": -1}
    with torch.inference_mode():
        model.generate(ids, attention_mask=(ids > 0).long(), pad_token_id=0, **settings)


class Only:
    """The kernels, of which all but one do nothing."""

    def __init__(self, name: str) -> None:
        self.name, self.kernels = name, kernels()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.kernels, name) if name == self.name else Nothing()


class Nothing:
    """A kernel that is not launched."""

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        return lambda *args, **blocks: None


LAYER = ("project_qkv", "attend_prefix", "attend_own", "gate_up", "add_product")


def time_kernels(model: Any) -> None:
    """Microseconds of each kernel in a graph that holds nothing else: thirty layers of it, or one output layer."""
    for rows, prefix, own in ((256, 130, 64), (256, 0, 256), (1024, 130, 64)):
        fused = FusedSteps(model, kernels())
        found = kernel_times(fused, lanes_with_keys(fused, rows, prefix, own))
        listed = ", ".join(f"{name} {value:.1f}" for name, value in found.items())
        print(f"  {rows} rows, {prefix} shared and {own} own keys: {listed}", flush=True)


def kernel_times(fused: FusedSteps, lanes: Lanes) -> dict[str, float]:
    found, stops, slot = {}, torch.tensor(NOBODY, device="cuda"), lanes.slot.item()
    for name in (*LAYER, "embed", "project_vocabulary"):
        fused.kernels = Only(name)
        spent = 1000 * milliseconds(recorded(lambda: fused.logits(lanes, 1.0)))
        found[name] = spent / len(fused.model.model.layers) if name in LAYER else spent
    fused.kernels = kernels()
    with torch.inference_mode():
        drawn = fused.logits(lanes, 1.0)
    found["draw"] = 1000 * milliseconds(recorded(lambda: fused.draw(lanes, drawn, Sampling(), stops)))

    def step() -> None:
        lanes.step.zero_()
        lanes.slot.fill_(slot)
        fused.draw(lanes, fused.logits(lanes, 1.0), Sampling(), stops)

    found["whole step"] = 1000 * milliseconds(recorded(step))
    return found


CHOICES = {  # rows, columns, inner, warps, stages
    "qkv": """16 0 64 4 4, 16 0 64 4 6, 16 0 64 2 5, 16 0 128 4 3, 32 0 64 4 4, 32 0 64 4 6, 32 0 128 4 3, 32 0 128 4 4,
        64 0 64 4 4, 64 0 64 4 5, 64 0 128 4 3, 128 0 64 8 4, 128 0 64 4 4""",
    "prefix": """16 32 0 1 4, 16 64 0 2 3, 16 64 0 4 3, 16 32 0 2 4, 32 64 0 2 3, 32 64 0 4 3, 64 64 0 4 3, 64 32 0 4 4,
        64 128 0 4 2""",
    "own": "0 16 0 1 4, 0 32 0 1 3, 0 32 0 1 4, 0 32 0 2 4, 0 64 0 1 3, 0 64 0 2 3, 0 64 0 4 3, 0 128 0 4 2",
    "out": """16 32 64 4 5, 32 32 64 4 5, 32 32 128 4 3, 32 32 64 2 5, 32 64 64 4 5, 64 32 64 4 5, 64 32 128 4 4,
        64 64 64 4 4, 64 64 128 4 3, 128 64 64 8 4""",
    "up": """16 64 64 4 5, 32 64 64 4 4, 32 64 64 4 5, 32 64 128 4 3, 64 32 64 4 5, 64 64 64 4 3, 64 64 64 4 4,
        64 64 64 4 5, 64 64 128 4 3, 64 128 64 4 3, 64 128 64 8 4, 128 64 64 4 3, 128 64 64 8 4, 128 128 64 8 3,
        128 128 64 8 4""",
    "down": """16 32 128 4 5, 32 32 128 4 4, 32 32 128 4 6, 32 32 256 4 3, 64 32 64 4 5, 64 32 64 4 7, 64 32 128 4 4,
        64 32 128 4 5, 64 32 256 4 3, 64 64 64 4 5, 64 64 128 4 3, 64 64 128 4 4, 128 64 64 8 4, 128 64 128 8 3""",
    "vocabulary": """64 128 64 4 3, 64 128 64 4 4, 128 128 64 4 3, 128 128 64 4 4, 128 128 64 8 3, 256 128 64 8 3,
        128 128 32 4 5""",
}
KERNELS = ("project_qkv", "attend_prefix", "attend_own", "add_product", "gate_up", "add_product", "project_vocabulary")


PROMPT_CHOICES = {
    "qkv": "64 0 64 4 4, 128 0 64 4 3, 128 0 64 8 3, 128 0 64 8 4, 128 0 32 4 4",
    "prompt": "32 32 0 2 3, 64 32 0 4 3, 64 64 0 4 3, 64 64 0 4 2, 128 32 0 8 3, 128 64 0 8 3, 128 32 0 4 3",
    "out": "64 64 64 4 4, 128 64 64 4 3, 128 64 64 8 3, 128 64 64 8 4, 128 64 32 4 5",
    "up": "64 64 64 4 3, 64 128 64 8 3, 128 64 64 4 3, 128 64 64 8 3, 128 64 64 8 4, 128 128 64 8 3, 128 128 32 8 4",
    "down": "64 64 128 4 3, 128 64 64 4 3, 128 64 64 8 3, 128 64 64 8 4, 128 64 128 8 3",
}


def time_prompts(model: Any, tiles: bool = False) -> None:
    """Milliseconds to read prompts of 130 shared and 48 own tokens by a graph, in all and by kernel; with `tiles`, by
    other block sizes."""
    for rows in (256, 1024):
        fused = FusedSteps(model, kernels())
        lanes, vocabulary = lanes_with_keys(fused, rows, 130, 48), model.config.vocab_size
        prefix, ids = (torch.randint(0, vocabulary, size, device="cuda") for size in ((130,), (rows, 48)))
        read = partial(fused.read, lanes, prefix, ids, (130 + torch.arange(48, device="cuda")).expand(rows, -1))
        found = {"whole": milliseconds(recorded(read))}
        for name in ("project_qkv", "attend_prompt", "gate_up", "add_product", "project_vocabulary"):
            fused.kernels = Only(name)
            found[name] = milliseconds(recorded(read))
        print(f"  {rows} rows: " + ", ".join(f"{name} {value:.2f}" for name, value in found.items()), flush=True)
        for part, choices in PROMPT_CHOICES.items() if tiles else ():
            fused.kernels, spent = kernels(), {}
            for choice in choices.split(", "):
                fused.tiles = {1 << 30: TILES[1 << 30]._replace(**{part: Tiles(*map(int, choice.split()))})}
                try:
                    spent[choice] = milliseconds(recorded(read), times=5)
                except Exception as error:
                    print(f"    {part} ({choice}): {type(error).__name__} {str(error)[:120]}")
            fused.tiles = TILES
            listed = sorted(spent.items(), key=lambda item: item[1])
            print(f"  {part}: " + ", ".join(f"({key}) {value:.2f}" for key, value in listed), flush=True)


def time_prompt_tiles(model: Any) -> None:
    """The same by other block sizes."""
    time_prompts(model, tiles=True)


def time_tiles(model: Any) -> None:
    """Microseconds of each kernel with other block sizes; those that cannot be compiled are named."""
    for rows, own in ((256, 64), (256, 256), (1024, 64)):
        fused = FusedSteps(model, kernels())
        lanes = lanes_with_keys(fused, rows, 130, own)
        for part, name in zip(CHOICES, KERNELS, strict=True):
            found = sorted(tile_times(fused, lanes, part, name).items(), key=lambda item: item[1])
            print(
                f"  {rows} rows, {own} own keys, {part}: " + ", ".join(f"({key}) {value:.1f}" for key, value in found),
                flush=True,
            )


def tile_times(fused: FusedSteps, lanes: Lanes, part: str, name: str) -> dict[str, float]:
    base = next(tiles for most, tiles in TILES.items() if lanes.rows <= most)
    fused.kernels, found = Only(name), {}
    for choice in " ".join(CHOICES[part].split()).split(", "):
        fused.tiles = {1 << 30: base._replace(**{part: Tiles(*map(int, choice.split()))})}
        try:
            spent = milliseconds(recorded(lambda: fused.logits(lanes, 1.0)), times=10)
        except Exception as error:
            print(f"    {name} ({choice}): {type(error).__name__} {str(error)[:120]}")
            continue
        found[choice] = 1000 * spent / (len(fused.model.model.layers) if name in LAYER else 1)
    return found


def profile_step(model: Any) -> None:
    """Kernels of a step without a graph, by their own time."""
    fused = FusedSteps(model, kernels())
    lanes = lanes_with_keys(fused, 256, 130, 64)
    stops = torch.tensor(NOBODY, device="cuda")
    with torch.inference_mode():
        fused.draw(lanes, fused.logits(lanes, 1.0), Sampling(), stops)
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            fused.draw(lanes, fused.logits(lanes, 1.0), Sampling(), stops)
            torch.cuda.synchronize()
    for event in sorted(profile.key_averages(), key=lambda event: -event.device_time_total)[:14]:
        print(f"  {event.device_time_total:8.1f} us {event.count:5} {event.key[:100]}")


def kernels() -> Any:
    from agentrl.models import triton_kernels

    return triton_kernels


def main() -> int:
    given = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    import triton

    versions = f"torch {torch.__version__}, triton {triton.__version__}, transformers {transformers.__version__}"
    print(f"{versions}, {torch.cuda.get_device_name()}, {given[0] if given else 'random weights'}")
    works = [check_layers, check_answers, check_new_weights, time_kernels, time_steps, time_answers, profile_step]
    works += [time_prompts]
    works += [time_tiles, time_prompt_tiles] if "--tiles" in sys.argv else []
    model, failed = make_model(given[0] if given else ""), 0
    for work in works:
        start = time.perf_counter()
        print(f"{work.__name__}: {(work.__doc__ or '').splitlines()[0]}", flush=True)
        try:
            with torch.inference_mode():
                work(model)
            verdict = "ok"
        except Exception:  # the other checks are worth their time too
            traceback.print_exc(file=sys.stdout)
            verdict, failed = "FAILED", failed + 1
        print(f"  {verdict}, {time.perf_counter() - start:.1f} s", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
