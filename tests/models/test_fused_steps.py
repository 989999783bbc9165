"""Decoding steps in hand-written kernels: run here by an interpreter, against plain formulas and the plain decoder."""

from __future__ import annotations

from copy import deepcopy
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention
from transformers import LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM

from agentrl.models.chat import Prompt
from agentrl.models.decoding import FastDecoder, Lanes
from agentrl.models.float32_head import compute_head_in_float32
from agentrl.models.fused_steps import FusedSteps, Logits, Stream, Tiles, fused_steps, why_unsuited
from agentrl.models.sampling import Decoder, Sampling, choose
from agentrl.models.scoring import pack
from tests.models.triton_interpreter import kernels

SIZES = {"num_hidden_layers": 1, "vocab_size": 300, "max_position_embeddings": 256, "initializer_range": 0.2}
MODELS = {
    # Two layers, heads that share keys, an output layer of its own; widths that are no multiple of a block.
    "llama": (
        LlamaForCausalLM,
        LlamaConfig(
            **SIZES | {"num_hidden_layers": 2},
            hidden_size=72, intermediate_size=100, num_attention_heads=6, num_key_value_heads=2, head_dim=32
        ),
    ),
    # Biases.
    "qwen2": (
        Qwen2ForCausalLM,
        Qwen2Config(
            **SIZES, hidden_size=64, intermediate_size=80, num_attention_heads=4, num_key_value_heads=1,
            tie_word_embeddings=True,
        ),
    ),
    # Norms of queries and keys.
    "qwen3": (
        Qwen3ForCausalLM,
        Qwen3Config(
            **SIZES, hidden_size=48, intermediate_size=64, num_attention_heads=2, num_key_value_heads=2, head_dim=16
        ),
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def triton():
    return kernels()


def made(kind):
    build, config = MODELS[kind]
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = build(config).eval()
        for weight in model.parameters():
            if weight.ndim == 1:  # norms would be 1 and biases 0
                nn.init.normal_(weight, 1.0 if weight.mean() == 1 else 0.0, 0.3)
    return model


def fused_decoder(model, triton, stops):
    decoder = FastDecoder(model, 0, None, stops, fixed=True)
    decoder.fused = FusedSteps(model, triton)
    return decoder


def prompts_of(count, shared):
    rng = torch.Generator().manual_seed(count)
    common = list(range(50, 50 + shared))
    return [Prompt([*common, *torch.randint(20, 300, (1 + row % 4,), generator=rng).tolist()]) for row in range(count)]


def compared(model, decoder, prompts, how, stops):
    """Answers of the kernels, which must be those of the plain decoder."""
    count, steps = len(prompts), how.max_new_tokens
    noise = torch.rand(count, steps, generator=torch.Generator().manual_seed(1))
    limits = [steps - row % 2 for row in range(count)]
    with torch.inference_mode():
        found = decoder.run(prompts, noise, limits, how)
        wanted = Decoder(model, pack(model, prompts, 0, None), stops, limits).run(noise, how)
    assert [answer.ids for answer in found] == [answer.ids for answer in wanted]
    assert [answer.stopped for answer in found] == [answer.stopped for answer in wanted]
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(torch.tensor(one.logprobs), torch.tensor(other.logprobs), atol=1e-4, rtol=0)
    return found


# ---------------------------------------------------------------------- whole answers


@pytest.mark.parametrize("kind", MODELS)
def test_kernels_sample_what_the_plain_decoder_samples(kind, triton):
    model, stops = made(kind), [*range(60)]
    decoder = fused_decoder(model, triton, stops)
    found = compared(model, decoder, prompts_of(7, shared=9), Sampling(0.8, max_new_tokens=4), stops)
    assert len({len(answer.ids) for answer in found}) > 1
    assert len(decoder.sets.kept) == 1


def test_kept_lanes_serve_rows_that_share_nothing_with_a_cut_and_greedily(triton):
    model = made("qwen3")
    decoder = fused_decoder(model, triton, [])
    compared(model, decoder, prompts_of(6, shared=5), Sampling(max_new_tokens=2), [])
    compared(model, decoder, prompts_of(5, shared=0), Sampling(top_p=0.9, top_k=40, max_new_tokens=4), [])
    compared(model, decoder, prompts_of(5, shared=3), Sampling(greedy=True, max_new_tokens=4), [])
    assert len(decoder.sets.kept) == 1


def test_weights_changed_in_place_are_the_ones_that_steps_read(triton):
    model, how = made("qwen2"), Sampling(max_new_tokens=2)
    compute_head_in_float32(model, torch.float32)
    decoder = fused_decoder(model, triton, [])
    before = compared(model, decoder, prompts_of(3, 2), how, [])
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(1.1)
    after = compared(model, decoder, prompts_of(3, 2), how, [])
    assert [answer.logprobs for answer in after] != [answer.logprobs for answer in before]


@pytest.fixture
def plain_products():
    """oneDNN warns of processors that do not know bfloat16."""
    before = torch.backends.mkldnn.enabled
    torch.backends.mkldnn.set_flags(_enabled=False)
    yield
    torch.backends.mkldnn.set_flags(_enabled=before)


def test_in_bfloat16_kernels_are_nearer_to_float32_than_modules(triton, plain_products):
    narrow = made("llama").to(torch.bfloat16)
    exact = deepcopy(narrow).float()
    rows, how = prompts_of(8, 3), Sampling(max_new_tokens=4)
    noise = torch.rand(8, 4, generator=torch.Generator().manual_seed(0))
    missed = {}
    for name, fused in (("kernels", FusedSteps(narrow, triton)), ("modules", None)):
        decoder = FastDecoder(narrow, 0, None, [], fixed=True)
        decoder.fused = fused
        with torch.inference_mode():
            gaps = []
            for row, answer in zip(rows, decoder.run(rows, noise, [4] * 8, how), strict=True):
                ids = torch.tensor([[*row.ids, *answer.ids]])
                scores = exact(ids).logits.log_softmax(-1)[0, :-1].gather(-1, ids[0, 1:, None])[:, 0]
                gaps.append((scores[-3:] - torch.tensor(answer.logprobs[-3:])).abs())
        missed[name] = torch.cat(gaps).mean().item()
    assert missed["kernels"] < missed["modules"] < 0.2


# ---------------------------------------------------------------------- the parts


@pytest.mark.parametrize(("heads", "kv_heads", "size"), [(6, 2, 16), (3, 3, 32), (16, 1, 16)])
@pytest.mark.parametrize(("prefix", "splits"), [(0, 1), (1, 1), (70, 1), (70, 4)])
def test_attention_in_parts_is_attention_over_prefix_and_own_keys(triton, heads, kv_heads, size, prefix, splits):
    rng = torch.Generator().manual_seed(prefix)
    rows, room, slot = 5, 40, 35
    first = torch.tensor([0, 35, 34, 3, 20])
    query = torch.randn(rows, heads, size, generator=rng)
    shared = torch.randn(2, kv_heads, prefix + 3, size, generator=rng)  # beyond `prefix` nothing counts
    own = torch.randn(2, rows, kv_heads, room, size, generator=rng)
    blocks = {"D": size, "BM": 16, "BN": 16, "PDL": False}
    together, shape = 16 // (heads // kv_heads), (2 * splits, rows, heads)
    parts, sums = torch.full((*shape, size), torch.nan), torch.full(shape, torch.nan)
    triton.attend[(-(-rows // together), kv_heads, splits * (1 + together))](
        query, *shared, *own, torch.tensor([prefix]), first, torch.tensor([slot]), parts, sums,
        rows, kv_heads, heads // kv_heads, shared.stride(1), own.stride(1), own.stride(2), 0.3,
        SPLITS=splits, TOGETHER=together, **blocks,
    )  # fmt: skip
    states, weight = torch.randn(rows, 24, generator=rng), torch.randn(24, heads * size, generator=rng)
    found, squares = states.clone(), torch.empty(rows, 2)
    triton.add_attention[(1, 2)](parts, sums, weight, found, squares, rows, 24, heads, PARTS=2 * splits, **blocks)
    torch.testing.assert_close(squares.sum(1), found.square().sum(1))
    for row in range(rows):
        keys, values = (
            torch.cat([a[:, :prefix], b[row, :, first[row] : slot + 1]], 1) for a, b in zip(shared, own, strict=True)
        )
        whole = scaled_dot_product_attention(query[row, :, None], keys, values, scale=0.3, enable_gqa=True)
        torch.testing.assert_close(found[row], states[row] + weight @ whole.flatten(), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("vocabulary", [40, 128, 1000])
@pytest.mark.parametrize("how", [Sampling(), Sampling(0.5), Sampling(greedy=True)])
def test_tokens_are_drawn_and_written_down_as_choose_does(triton, vocabulary, how):
    rng = torch.Generator().manual_seed(vocabulary)
    rows, width = 12, 20
    states, weight = torch.randn(rows, width, generator=rng), torch.randn(vocabulary, width, generator=rng)
    blocks = -(-vocabulary // 128)
    found = Logits(torch.empty(rows, vocabulary), torch.empty(rows, blocks), torch.empty(rows, blocks))
    sizes = (rows, width, vocabulary, blocks, how.temperature)
    triton.project_vocabulary[(1, blocks)](states, weight, *found, *sizes, BM=16, BN=128, BK=16, PDL=False)
    torch.testing.assert_close(found.logits, states @ weight.T, atol=1e-4, rtol=1e-4)
    lanes = Lanes(rows, 6, 8, 0, "cpu")
    lanes.noise.copy_(torch.rand(rows, 6, generator=rng))
    lanes.noise[0, 2] = 0
    lanes.step.fill_(2)
    lanes.limits.fill_(6)
    lanes.limits[4] = 3
    lanes.done[5] = True
    tokens, logprobs = choose(found.logits, lanes.noise[:, 2], how)
    stops, drawing = tokens[6:7], SimpleNamespace(kernels=triton, overlap={"PDL": False})
    FusedSteps.draw(drawing, lanes, found, how, stops)
    assert lanes.token.tolist() == lanes.tokens[:, 2].tolist() == tokens.tolist()
    torch.testing.assert_close(lanes.logprobs[:, 2], logprobs, atol=1e-5, rtol=0)
    ended = (tokens == stops) | (lanes.limits <= 3) | (torch.arange(rows) == 5)
    assert lanes.done.tolist() == ended.tolist() and bool(lanes.going)
    assert lanes.position.tolist() == [int(row != 5) for row in range(rows)]
    assert (lanes.step.item(), lanes.slot.item(), lanes.tokens[:, [0, 1, 3, 4, 5]].sum()) == (3, 1, 0)
    lanes.done.fill_(True)
    FusedSteps.draw(drawing, lanes, found, how, stops[:0])
    assert not lanes.going


def test_tiles_of_any_size_give_the_same(triton):
    model = made("llama")
    fused, rows = FusedSteps(model, triton), 19
    small, _, large = fused.tiles.values()
    other = small._replace(attention=Tiles(1, 16, 0), up=Tiles(64, 16, 16), down=Tiles(32, 64, 32))
    found = []
    for tiles in (small, large, other):
        states = torch.randn(rows, 72, generator=torch.Generator().manual_seed(0))
        stream = Stream(states.clone(), states.square().view(rows, 3, 24).sum(2))
        with torch.inference_mode():
            layer = model.model.layers[0]
            wanted = states + layer.mlp(layer.post_attention_layernorm(states))
            states = fused._feed_forward(layer.post_attention_layernorm, layer.mlp, stream, tiles).states
        torch.testing.assert_close(states, wanted, atol=1e-4, rtol=1e-4)
        found.append(fused._vocabulary(states, 1.0, tiles.vocabulary).logits)
    torch.testing.assert_close(found[0], found[1], atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(found[0], found[2], atol=1e-4, rtol=1e-4)


# ---------------------------------------------------------------------- which models


def test_other_models_are_refused_with_a_reason_and_processors_without():
    for kind in MODELS:
        assert why_unsuited(made(kind)) is None and fused_steps(made(kind)) is None
    build, config = MODELS["llama"]
    for changes, reason in {
        "model_type": ({"model_type": "gemma"}, "model_type must be"),
        "rotation": ({"rope_parameters": {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0}}, "rope_type must"),
        "head": ({"head_dim": 24}, "head_dim must be one of"),
        "activation": ({"hidden_act": "gelu"}, "hidden_act must be silu"),
        "bias": ({"attention_bias": True}, "may have biases"),
        "groups": ({"num_attention_heads": 36}, "at most 16"),
    }.values():
        model = build(LlamaConfig(**{**config.to_dict(), **{k: v for k, v in changes.items() if k != "model_type"}}))
        model.config.model_type = changes.get("model_type", "llama")
        assert reason in (why_unsuited(model) or "")
    model = build(config)
    model.model.layers[1].mlp.up_proj = nn.Sequential(nn.Linear(72, 100))
    assert "must be plain; got Sequential" in (why_unsuited(model) or "")
    model = build(config)
    model.model.layers[1].mlp.to(torch.bfloat16)
    assert "one type" in (why_unsuited(model) or "")
