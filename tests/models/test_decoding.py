"""Quick generation: the steps a GPU records, run here one by one, against the plain decoder."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from agentrl.models.attention import attend_many, attend_one, reading, shared_attention, supported
from agentrl.models.chat import Prompt
from agentrl.models.decoding import KEPT, FastDecoder, LaneSets, lane_count, prompt_mask
from agentrl.models.loading import load_model
from agentrl.models.sampling import BLOCK, Decoder, Sampling, choose
from agentrl.models.scoring import pack
from agentrl.policies.hf import HFPolicy, quick_products

TOLERANCE = 1e-4


@pytest.fixture(scope="module")
def text_engine():
    return sharpened("tiny-text")


@pytest.fixture(scope="module")
def vision_engine():
    return sharpened("tiny-vlm")


def sharpened(name):
    """Weights large enough that a wrong position or mask shows."""
    engine = load_model(name, device="cpu")
    with torch.no_grad():
        for weight in engine.model.parameters():
            if weight.ndim > 1:
                weight.mul_(3)
    return engine


def text_prompts(count, length=6):
    """A shared beginning of 20 tokens, then tokens and lengths of each row's own."""
    rng = np.random.default_rng(count)
    return [Prompt([*range(30, 50), *rng.integers(20, 700, 1 + row % length).tolist()]) for row in range(count)]


def vision_prompts(engine, count):
    rng = np.random.default_rng(0)
    conversations = []
    for row in range(count):
        pictures = [rng.integers(0, 256, (64, 64, 3), dtype=np.uint8) for _ in range(row % 3)]
        content = "Look: " + "<image>" * len(pictures) + "x" * row
        system = {"role": "system", "content": "Push every box."}
        conversations.append([system, {"role": "user", "content": content, "images": pictures}])
    return [engine.encoder.encode(conversation) for conversation in conversations]


def plain(engine, prompts, noise, limits, how, stops):
    with torch.inference_mode():
        batch = pack(engine.model, prompts, engine.pad, engine.encoder.image_token)
        return Decoder(engine.model, batch, stops, limits).run(noise, how)


def fast(engine, prompts, noise, limits, how, stops, fixed, decoder=None):
    decoder = decoder or FastDecoder(engine.model, engine.pad, engine.encoder.image_token, stops, fixed=fixed)
    with torch.inference_mode():
        return decoder.run(prompts, noise, limits, how)


def assert_alike(one, other):
    assert [answer.ids for answer in one] == [answer.ids for answer in other]
    assert [answer.stopped for answer in one] == [answer.stopped for answer in other]
    for first, second in zip(one, other, strict=True):
        assert np.allclose(first.logprobs, second.logprobs, atol=TOLERANCE)


STOPS = list(range(60))  # so many tokens end a turn that rows finish at different times


# ---------------------------------------------------------------------- against the plain decoder


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("how", [Sampling(max_new_tokens=20), Sampling(0.7, 0.9, 30, max_new_tokens=20)])
@pytest.mark.parametrize("kind", ["text", "vision"])
def test_the_quick_decoder_samples_what_the_plain_one_samples(kind, how, fixed, request):
    engine = request.getfixturevalue(f"{kind}_engine")
    prompts = text_prompts(11) if kind == "text" else vision_prompts(engine, 7)
    noise = torch.rand(len(prompts), 20, generator=torch.Generator().manual_seed(1))
    limits = [20 - row % 3 for row in range(len(prompts))]
    wanted = plain(engine, prompts, noise, limits, how, STOPS)
    assert len({len(answer.ids) for answer in wanted}) > 2
    assert_alike(fast(engine, prompts, noise, limits, how, STOPS, fixed), wanted)


def test_rows_that_share_nothing_and_a_single_row_are_answered(text_engine):
    how = Sampling(max_new_tokens=6)
    for prompts in ([Prompt([40, 41]), Prompt([50]), Prompt([60, 61, 62])], [Prompt([40])], [Prompt([40, 41])] * 3):
        noise = torch.rand(len(prompts), 6, generator=torch.Generator().manual_seed(2))
        wanted = plain(text_engine, prompts, noise, [6] * len(prompts), how, STOPS)
        for fixed in (False, True):
            assert_alike(fast(text_engine, prompts, noise, [6] * len(prompts), how, STOPS, fixed), wanted)


def test_kept_lanes_serve_later_batches_of_other_sizes(text_engine):
    decoder = FastDecoder(text_engine.model, text_engine.pad, None, STOPS, fixed=True)
    for count, steps, length in ((5, 10, 4), (8, 10, 6), (3, 4, 2), (7, 90, 5), (20, 5, 70), (6, 10, 70), (5, 10, 4)):
        prompts, how = text_prompts(count, length), Sampling(max_new_tokens=steps)
        noise = torch.rand(count, steps, generator=torch.Generator().manual_seed(steps))
        wanted = plain(text_engine, prompts, noise, [steps] * count, how, STOPS)
        assert_alike(fast(text_engine, prompts, noise, [steps] * count, how, STOPS, True, decoder), wanted)
    assert sorted(lanes.rows for lanes in decoder.sets.kept) == [8, 24]
    decoder.release()
    assert decoder.sets.kept == []


def test_lanes_that_grew_serve_rows_that_share_nothing(text_engine):
    decoder = FastDecoder(text_engine.model, text_engine.pad, None, STOPS, fixed=True)
    for prompts, steps in ((text_prompts(3), 4), ([Prompt([40, 41]), Prompt([50])], 70), (text_prompts(3), 4)):
        noise, how = torch.rand(len(prompts), steps), Sampling(max_new_tokens=steps)
        wanted = plain(text_engine, prompts, noise, [steps] * len(prompts), how, STOPS)
        assert_alike(fast(text_engine, prompts, noise, [steps] * len(prompts), how, STOPS, True, decoder), wanted)
    (lanes,) = decoder.sets.kept
    assert (lanes.steps, lanes.key_values.prefix_capacity) == (128, 64)


def test_a_change_of_the_weights_is_seen_by_kept_lanes(text_engine):
    decoder = FastDecoder(text_engine.model, text_engine.pad, None, [], fixed=True)
    prompts, noise, how = text_prompts(4), torch.rand(4, 8), Sampling(max_new_tokens=8)
    before = fast(text_engine, prompts, noise, [8] * 4, how, [], True, decoder)
    weight = text_engine.model.model.embed_tokens.weight
    with torch.no_grad():
        weight.mul_(0.5)
    try:
        after = fast(text_engine, prompts, noise, [8] * 4, how, [], True, decoder)
        assert_alike(after, plain(text_engine, prompts, noise, [8] * 4, how, []))
        assert [answer.ids for answer in after] != [answer.ids for answer in before]
    finally:
        with torch.no_grad():
            weight.mul_(2)


def test_positions_never_pass_the_last_that_a_row_may_have(text_engine, monkeypatch):
    asked, forward = [], text_engine.model.forward

    def watching(position_ids, **others):
        asked.append(int(position_ids.max()))
        return forward(position_ids=position_ids, **others)

    monkeypatch.setattr(text_engine.model, "forward", watching)
    prompts = [Prompt([40] * 30), Prompt([40] * 10 + [41])]
    fast(text_engine, prompts, torch.rand(2, 20), [2, 20], Sampling(max_new_tokens=20), [], True)
    assert max(asked) == 31


def test_a_policy_uses_the_plain_decoder_for_attention_of_another_kind(text_engine, monkeypatch):
    prompts = text_prompts(4)
    quick = HFPolicy(text_engine, max_new_tokens=8).answer(prompts)
    assert supported(text_engine.model)
    monkeypatch.setattr(text_engine.model.config, "layer_types", ["sliding_attention"] * 4)
    assert not supported(text_engine.model)
    monkeypatch.undo()
    monkeypatch.setattr("agentrl.models.attention.supported", lambda model: False)
    other = HFPolicy(replace(text_engine, decoder=None), max_new_tokens=8)
    assert [answer.token_ids for answer in other.answer(prompts)] == [answer.token_ids for answer in quick]
    assert other.loaded.decoder is None


def test_policies_on_one_engine_share_a_decoder_as_long_as_it_fits(text_engine):
    one, other = HFPolicy(text_engine, max_new_tokens=2), HFPolicy(text_engine, max_new_tokens=3, greedy=True)
    one.answer(text_prompts(2))
    decoder = text_engine.decoder
    other.answer(text_prompts(2))
    assert text_engine.decoder is decoder is not None
    hasty = replace(text_engine, stops=frozenset(range(1250)))
    assert all(len(answer.token_ids) <= 3 for answer in HFPolicy(hasty, max_new_tokens=9).answer(text_prompts(4)))
    assert hasty.decoder is not decoder and text_engine.decoder is decoder
    one.release()
    HFPolicy(replace(text_engine, decoder=None)).release()  # nothing to give back is fine


# ---------------------------------------------------------------------- a model that cannot be recorded


class Unrecordable:
    """Stands for the recording of CUDA, which a machine without one does not have."""

    def __init__(self, *_, **__):
        raise RuntimeError("operation not permitted when stream is capturing")


def test_what_cannot_be_recorded_runs_unrecorded_with_a_warning(text_engine, monkeypatch, caplog):
    monkeypatch.setattr(torch.cuda, "graph_pool_handle", lambda: (0, 1))
    monkeypatch.setattr(torch.cuda, "CUDAGraph", lambda: None)
    monkeypatch.setattr(torch.cuda, "graph", Unrecordable)
    decoder = FastDecoder(text_engine.model, text_engine.pad, None, STOPS, fixed=True)
    prompts, noise, how = text_prompts(4), torch.rand(4, 12), Sampling(max_new_tokens=12)
    wanted = plain(text_engine, prompts, noise, [12] * 4, how, STOPS)
    for prompts_too in (True, False):  # prompts are recorded when they come again
        decoder.graphs, decoder.graphs_of_prompts = True, True
        with caplog.at_level(logging.WARNING):
            assert_alike(fast(text_engine, prompts, noise, [12] * 4, how, STOPS, True, decoder), wanted)
        assert "CUDA graph capture failed" in caplog.text
        assert (decoder.graphs, decoder.graphs_of_prompts) == (False, prompts_too)


class Replayed:
    """A graph whose replay does the work again: what CUDA does, without CUDA."""

    def __init__(self, key, work):
        self.kind, self.work, self.replays = key[0], work, 0

    def replay(self):
        self.replays += 1
        self.work()


class Recording:
    """Takes what is recorded; the work is done by replays alone."""

    def __init__(self, graph, **_):
        self.graph = graph

    def __enter__(self):
        return self.graph

    def __exit__(self, *_):
        return False


def recording(engine, monkeypatch):
    """A decoder that records as on a GPU, and the graphs that it has recorded."""
    decoder, made = FastDecoder(engine.model, engine.pad, None, [], fixed=True), []
    decoder.graphs = decoder.graphs_of_prompts = True
    record = decoder._record

    def recorded(lanes, key, work):
        made.append(Replayed(key, work))
        return record(lanes, key, lambda: None)

    monkeypatch.setattr(torch.cuda, "graph_pool_handle", lambda: (0, 1))
    monkeypatch.setattr(torch.cuda, "CUDAGraph", lambda: made[-1])
    monkeypatch.setattr(torch.cuda, "graph", Recording)
    monkeypatch.setattr(decoder, "_record", recorded)
    return decoder, made


def test_recorded_work_is_replayed_and_forgotten_with_the_weights(text_engine, monkeypatch):
    decoder, made = recording(text_engine, monkeypatch)
    prompts, noise, how = text_prompts(4), torch.rand(4, 12), Sampling(max_new_tokens=12)
    wanted = plain(text_engine, prompts, noise, [12] * 4, how, [])
    for _ in range(3):
        assert_alike(fast(text_engine, prompts, noise, [12] * 4, how, [], True, decoder), wanted)
    # All steps of three batches but the two that warm up, the prompts of all but the first.
    assert [(graph.kind, graph.replays) for graph in made] == [("step", 3 * 11 - 2), ("prompts", 2)]
    text_engine.model.model.norm.weight.data = text_engine.model.model.norm.weight.data.clone()
    fast(text_engine, prompts, noise, [12] * 4, how, [], True, decoder)
    assert [graph.kind for graph in made[2:]] == ["prompts", "step"]


def test_recorded_prompts_are_read_as_others_are_whatever_was_read_before(text_engine, monkeypatch):
    decoder, made = recording(text_engine, monkeypatch)
    how, rng = Sampling(max_new_tokens=6), torch.Generator().manual_seed(5)
    alone = [Prompt([40, 41]), Prompt([50]), Prompt([60, 61, 62])]  # they share nothing
    batches = [text_prompts(8), text_prompts(3, 9), alone, text_prompts(6, 40), text_prompts(8), alone]
    for prompts in [*batches, *batches]:
        noise, limits = torch.rand(len(prompts), 6, generator=rng), [6] * len(prompts)
        wanted = plain(text_engine, prompts, noise, limits, how, [])
        assert_alike(fast(text_engine, prompts, noise, limits, how, [], True, decoder), wanted)
    assert sum(graph.replays for graph in made if graph.kind == "prompts") >= len(batches)
    assert {graph.kind for graph in made} == {"prompts", "step"}


def test_long_prompts_are_not_recorded(text_engine, monkeypatch):
    decoder, made = recording(text_engine, monkeypatch)
    monkeypatch.setattr("agentrl.models.decoding.PROMPT_TOKENS", 24 * 16)
    for length in (9, 30, 9, 30):
        prompts = text_prompts(20, length)
        fast(text_engine, prompts, torch.rand(20, 2), [2] * 20, Sampling(max_new_tokens=2), [], True, decoder)
    assert [graph.replays for graph in made if graph.kind == "prompts"] == [1]


def test_graphs_that_were_not_used_for_longest_are_forgotten(text_engine, monkeypatch):
    decoder, made = recording(text_engine, monkeypatch)
    monkeypatch.setattr("agentrl.models.decoding.MAX_GRAPHS", 3)
    how, wide = Sampling(max_new_tokens=4), [16, 32, 48, 64]
    for width in [width for width in wide for _ in range(2)] * 2:
        prompts = [Prompt([40 + row, *[41] * (width - 2), 50]) for row in range(8)]
        noise = torch.rand(8, 4)
        wanted = plain(text_engine, prompts, noise, [4] * 8, how, [])
        assert_alike(fast(text_engine, prompts, noise, [4] * 8, how, [], True, decoder), wanted)
        assert all(len(lanes.graphs) <= 3 for lanes in decoder.sets.kept)
    assert sum(graph.kind == "prompts" for graph in made) > len(wide)  # the first were recorded again


def test_lanes_of_all_rounds_stay_until_their_room_is_needed():
    sets = LaneSets("cpu")
    rounds = [(1000, 40, 100, 130), (400, 40, 150, 130), (170, 40, 190, 130), (60, 40, 200, 130)]
    first = [sets.find(*size) for size in rounds]
    assert all(sets.find(*size) is lanes for size, lanes in zip(rounds, first, strict=True))
    larger = sets.find(3000, 40, 700, 130)
    assert sets.kept[-1] is larger and sum(lanes.room for lanes in sets.kept) <= KEPT * larger.room
    for rows, length in ((900, 1500), (1500, 1400), (700, 2700)):
        sets.find(rows, 40, length, 130)
    assert not any(lanes in sets.kept for lanes in first)
    assert sum(lanes.room for lanes in sets.kept) <= KEPT * max(lanes.room for lanes in sets.kept)


# ---------------------------------------------------------------------- the parts


@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("width", [0, 5])
def test_attention_over_a_shared_part_equals_attention_over_all(groups, width):
    rng = torch.Generator().manual_seed(0)
    rows, heads, tokens, size = 4, 2, 7, 8
    keys, values = (torch.randn(rows, heads, tokens, size, generator=rng) for _ in range(2))
    shared = [torch.randn(heads, width, size, generator=rng) for _ in range(2)]
    whole = [torch.cat([one.expand(rows, *one.shape), own], 2) for one, own in zip(shared, (keys, values), strict=True)]
    whole = [part.repeat_interleave(groups, dim=1) for part in whole]
    prefix = (shared[0], shared[1]) if width else None
    for asked, attend in ((1, attend_one), (tokens, attend_many)):
        query = torch.randn(rows, heads * groups, asked, size, generator=rng)
        mask = torch.rand(rows, 1, asked, width + tokens, generator=rng) > 0.3
        mask[..., -1] = True
        wanted = scaled_dot_product_attention(query, *whole, attn_mask=mask, scale=0.3)
        assert torch.allclose(attend(query, (keys, values), prefix, mask, 0.3), wanted, atol=1e-5)


def test_the_setting_of_the_model_is_restored_even_after_an_error(text_engine):
    before = text_engine.model.config._attn_implementation
    with pytest.raises(RuntimeError), reading(text_engine.model, None):
        assert text_engine.model.config._attn_implementation != before
        raise RuntimeError
    assert text_engine.model.config._attn_implementation == before
    with pytest.raises(LookupError):  # outside, nobody has anything to attend to
        shared_attention(text_engine.model, torch.ones(1, 1, 1, 4), None, None, None)


def test_the_mask_of_prompts_shows_the_prefix_the_past_and_oneself():
    held = torch.tensor([[1, 1, 0, 1, 1], [1, 1, 1, 1, 1]], dtype=torch.bool)
    found = prompt_mask(held[:, :2], held[:, 2:])[:, 0].int().tolist()
    assert found[0] == [[1, 1, 1, 0, 0], [1, 1, 0, 1, 0], [1, 1, 0, 1, 1]]
    assert found[1] == [[1, 1, 1, 0, 0], [1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]


def test_lanes_come_in_few_sizes_and_are_mostly_full():
    sizes = [lane_count(rows) for rows in range(1, 600)]
    assert all(rows <= size for rows, size in enumerate(sizes, start=1))
    assert all(size < rows * 1.5 for rows, size in enumerate(sizes, start=1) if rows > 8)
    assert {8, 12, 16, 256, 384, 512} <= set(sizes) and len(set(sizes)) == 14


def test_tokens_of_a_large_vocabulary_follow_the_distribution():
    size = BLOCK**2 + 37  # drawn in two levels, with a block that is not full
    logits = torch.full((1, size), -torch.inf)
    wanted = {0: 0.1, 5: 0.2, BLOCK: 0.3, size - 1: 0.4}
    for token, share in wanted.items():
        logits[0, token] = float(np.log(share))
    noise = (torch.arange(1000) + 0.5) / 1000
    tokens, logprobs = choose(logits.expand(1000, -1), noise, Sampling())
    counts = torch.bincount(tokens, minlength=size) / 1000
    assert {token: pytest.approx(counts[token].item(), abs=2e-3) for token in wanted} == wanted
    assert counts.sum() == pytest.approx(sum(counts[token] for token in wanted))
    assert logprobs[0].item() == pytest.approx(np.log(0.1), abs=1e-5)
    for edge in (0.0, 1 - 1e-7, 1.0):
        assert choose(logits, torch.tensor([edge]), Sampling())[0].item() in wanted


def test_a_flat_large_vocabulary_is_drawn_as_one_running_sum_would():
    size = 49_152
    logits = torch.randn(8, size, generator=torch.Generator().manual_seed(0))
    noise = torch.rand(8, generator=torch.Generator().manual_seed(1))
    running = logits.double().softmax(-1).cumsum(-1)
    wanted = torch.searchsorted(running, noise[:, None].double())[:, 0]
    assert (choose(logits, noise, Sampling())[0] - wanted).abs().max() <= 1  # rounding of weights at a boundary


@pytest.mark.parametrize(("machine", "off"), [("aarch64", True), ("arm64", True), ("x86_64", False)])
def test_small_products_go_around_onednn_on_arm_only_and_only_inside(text_engine, monkeypatch, machine, off):
    monkeypatch.setattr("platform.machine", lambda: machine)
    before = torch.backends.mkldnn.enabled
    with pytest.raises(RuntimeError), quick_products(text_engine.model):
        assert torch.backends.mkldnn.enabled == (before and not off)
        raise RuntimeError
    assert torch.backends.mkldnn.enabled == before
