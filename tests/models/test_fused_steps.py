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
@pytest.mark.parametrize("prefix", [None, 0, 1, 70])
def test_attention_to_the_prefix_and_then_to_own_keys_is_attention_to_both(triton, heads, kv_heads, size, prefix):
    rng, blocks = torch.Generator().manual_seed(heads), {"D": size, "BM": 16, "BN": 16}
    rows, room, slot, group = 5, 40, 35, heads // kv_heads
    first = torch.tensor([0, 35, 34, 3, 20])
    query = torch.randn(rows, heads, size, generator=rng)
    shared = torch.randn(2, kv_heads, (prefix or 0) + 3, size, generator=rng)  # beyond `prefix` nothing counts
    own = torch.randn(2, rows, kv_heads, room, size, generator=rng)
    found = [torch.full(shape, torch.nan) for shape in ((rows, heads), (rows, heads), query.shape)]
    if prefix is not None:
        triton.attend_prefix[(-(-rows // (16 // group)), kv_heads)](
            query, *shared, torch.tensor([prefix]), *found, rows, kv_heads, group, shared.stride(1), 0.3, **blocks
        )
    attended = torch.full_like(query, torch.nan)
    triton.attend_own[(rows, kv_heads)](
        query, *own, first, torch.tensor([slot]), *found, attended, kv_heads, group, own.stride(1), own.stride(2), 0.3,
        HAS_PREFIX=prefix is not None, **blocks,
    )  # fmt: skip
    for row in range(rows):
        parts = zip(shared[:, :, : prefix or 0], own[:, row, :, first[row] : slot + 1], strict=True)
        keys, values = (torch.cat(pair, 1) for pair in parts)
        wanted = scaled_dot_product_attention(query[row, :, None], keys, values, scale=0.3, enable_gqa=True)[:, 0]
        torch.testing.assert_close(attended[row], wanted, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(("heads", "kv_heads", "size"), [(6, 2, 16), (3, 3, 32), (16, 1, 16)])
@pytest.mark.parametrize("prefix", [None, 0, 5, 40])
def test_whole_prompts_attend_to_the_prefix_and_causally_to_themselves(triton, heads, kv_heads, size, prefix):
    rng, group, tokens, room = torch.Generator().manual_seed(heads), heads // kv_heads, 37, 40
    first = torch.tensor([0, 36, 35, 3, 20, 37])  # the last lane holds nothing
    rows, together = len(first), 32 // group
    query = torch.randn(rows, tokens, heads, size, generator=rng)
    shared = torch.randn(2, kv_heads, (prefix or 0) + 3, size, generator=rng)  # beyond `prefix` nothing counts
    own = torch.randn(2, rows, kv_heads, room, size, generator=rng)
    attended, blocks = torch.full_like(query, torch.nan), -(-tokens // together)
    triton.attend_prompt[(rows * blocks, kv_heads)](
        query, *shared, torch.tensor([prefix or 0]), *own, first, attended, tokens, blocks, kv_heads, group,
        own.stride(1), own.stride(2), shared.stride(1), 0.3,
        HAS_PREFIX=prefix is not None, D=size, BM=32, BN=16,
    )  # fmt: skip
    assert attended.isfinite().all()
    token = torch.arange(tokens)
    for row in range(rows):
        parts = zip(shared[:, :, : prefix or 0], own[:, row, :, :tokens], strict=True)
        keys, values = (torch.cat(pair, 1) for pair in parts)
        seen = (token <= token[:, None]) & (token >= first[row]) | (token == token[:, None])
        seen = torch.cat([torch.ones(tokens, prefix or 0, dtype=torch.bool), seen], 1)
        asked = query[row].transpose(0, 1)
        wanted = scaled_dot_product_attention(asked, keys, values, attn_mask=seen, scale=0.3, enable_gqa=True)
        torch.testing.assert_close(attended[row].transpose(0, 1), wanted, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("vocabulary", [40, 128, 1000])
@pytest.mark.parametrize("how", [Sampling(), Sampling(0.5), Sampling(greedy=True)])
def test_tokens_are_drawn_and_written_down_as_choose_does(triton, vocabulary, how):
    rng = torch.Generator().manual_seed(vocabulary)
    rows, width = 12, 20
    states, weight = torch.randn(rows, width, generator=rng), torch.randn(vocabulary, width, generator=rng)
    squares, size = states.square().view(rows, 5, 4).sum(2), states.square().mean(1, keepdim=True).sqrt()
    blocks = -(-vocabulary // 128)
    found = Logits(torch.empty(rows, vocabulary), torch.empty(rows, blocks), torch.empty(rows, blocks))
    sizes = (rows, width, 5, vocabulary, blocks, 0.0, how.temperature)
    tiles = {"PIECES": 8, "BM": 16, "BN": 128, "BK": 16}
    triton.project_vocabulary[(1, blocks)](states, squares, weight, *found, *sizes, **tiles)
    torch.testing.assert_close(found.logits, states / size @ weight.T, atol=1e-4, rtol=1e-4)
    lanes = Lanes(rows, 6, 8, 0, "cpu")
    lanes.noise.copy_(torch.rand(rows, 6, generator=rng))
    lanes.noise[0, 2] = 0
    lanes.step.fill_(2)
    lanes.limits.fill_(6)
    lanes.limits[4] = 3
    lanes.done[5] = True
    tokens, logprobs = choose(found.logits, lanes.noise[:, 2], how)
    stops, drawing = tokens[6:7], SimpleNamespace(kernels=triton)
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
    small, *_, large = fused.tiles.values()
    other = small._replace(up=Tiles(64, 16, 16), down=Tiles(32, 64, 32))
    found = []
    layer, following = model.model.layers[0], model.model.norm
    for tiles in (small, large, other):
        states = torch.randn(rows, 72, generator=torch.Generator().manual_seed(0))
        with torch.inference_mode():
            scaled = states * layer.post_attention_layernorm.weight
            stream = Stream(states.clone(), scaled, states.square().view(rows, 3, 24).sum(2))
            wanted = states + layer.mlp(layer.post_attention_layernorm(states))
            stream = fused._feed_forward(layer, following, stream, tiles)
            torch.testing.assert_close(stream.states, wanted, atol=1e-4, rtol=1e-4)
            torch.testing.assert_close(stream.scaled, wanted * following.weight, atol=1e-4, rtol=1e-4)
            torch.testing.assert_close(stream.squares.sum(1), wanted.square().sum(1))
            fused.tiles = {rows: tiles}
            found.append(fused._vocabulary(stream, 1.0).logits)
    torch.testing.assert_close(found[0], found[1], atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(found[0], found[2], atol=1e-4, rtol=1e-4)


# ---------------------------------------------------------------------- which models


def test_other_models_are_refused_with_a_reason_and_processors_without():
    for kind in MODELS:
        assert why_unsuited(made(kind)) is None and fused_steps(made(kind)) is None
    build, config = MODELS["llama"]
    for changes, reason in (
        ({"rope_parameters": {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0}}, "rope_type must be one of"),
        ({"head_dim": 24}, "head_dim must be one of"),
        ({"hidden_act": "gelu"}, "hidden_act must be silu"),
        ({"attention_bias": True}, "may have biases"),
        ({"num_attention_heads": 36}, "at most 16"),
    ):
        assert reason in (why_unsuited(build(LlamaConfig(**config.to_dict() | changes))) or "")
    model = build(config)
    model.config.model_type = "gemma"
    assert "model_type must be one of" in (why_unsuited(model) or "")
    model.config.model_type = "llama"
    model = build(config)
    model.model.layers[1].mlp.up_proj = nn.Sequential(nn.Linear(72, 100))
    assert "must be plain; got Sequential" in (why_unsuited(model) or "")
    model = build(config)
    model.model.layers[1].mlp.to(torch.bfloat16)
    assert "one type" in (why_unsuited(model) or "")
