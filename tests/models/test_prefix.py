"""What rows share is read once, and nothing but the time changes: logits, gradients, samples."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from agentrl.models.chat import Prompt
from agentrl.models.loading import load_model
from agentrl.models.sampling import after_prefix, expand, prefill
from agentrl.models.scoring import pack, shared_length

TOLERANCE = 1e-4
ROWS = [[5, 6, 7, 8, 9, 10], [5, 6, 7, 9], [5, 6, 7, 11, 12, 13, 14]]


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


def seen(text, *pictures):
    return [
        {"role": "system", "content": "Push every box."},
        {"role": "user", "content": text, "images": list(pictures)},
    ]


def picture(seed, size=64):
    return np.random.default_rng(seed).integers(0, 256, (size, size, 3), dtype=np.uint8)


# ---------------------------------------------------------------------- how much is shared


@pytest.mark.parametrize(
    ("rows", "length"),
    [
        (ROWS, 3),
        ([], 0),
        ([[]], 0),
        ([[], [1]], 0),
        ([[1]], 0),
        ([[1, 2, 3]], 2),
        ([[1, 2, 3]] * 4, 2),
        ([[1, 2], [1, 2, 3]], 1),
        ([[1, 2], [2, 1]], 0),
        ([[3, 1, 9], [3, 2, 9], [3, 1, 9]], 1),
    ],
)
def test_the_shared_length_is_the_longest_that_leaves_every_row_a_token(rows, length):
    assert shared_length(rows) == length
    assert shared_length([tuple(row) for row in reversed(rows)]) == length


def test_the_shared_part_ends_before_a_picture_and_where_it_is_told_to():
    rows = [[1, 2, 99, 99, 3], [1, 2, 99, 99, 4]]
    assert shared_length(rows) == 4
    assert shared_length(rows, image_token=99) == 2
    assert shared_length(rows, at_most=1) == 1
    assert shared_length(rows, at_most=0) == 0


# ---------------------------------------------------------------------- the same logits and gradients


def logits_of(engine, prompts, side, length):
    """The logits of each row's own tokens, with a prefix of `length` read once (0: all rows whole)."""
    whole = pack(engine.model, prompts, engine.pad, engine.encoder.image_token, side)
    rest = after_prefix(whole, length)
    cache = expand(prefill(engine.model, prompts[0].ids[:length]), len(prompts))
    found = engine.model(
        input_ids=rest.ids,
        attention_mask=rest.mask,
        position_ids=rest.positions,
        past_key_values=cache,
        **rest.extra,
    ).logits
    return [row[own] for row, own in zip(found, rest.mask[:, length:].bool(), strict=True)]


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_prefix_read_once_changes_no_logits(text_engine, side):
    prompts = [Prompt(row) for row in ROWS]
    with torch.no_grad():
        whole, split = (logits_of(text_engine, prompts, side, length) for length in (0, 3))
    for one, other, row in zip(whole, split, ROWS, strict=True):
        assert len(other) == len(row) - 3
        assert (one[3:] - other).abs().max() < TOLERANCE


@pytest.mark.parametrize("side", ["left", "right"])
def test_pictures_behind_a_prefix_change_no_logits(vision_engine, side):
    conversations = [seen("<image> a", picture(0)), seen("<image><image> b", picture(1), picture(2, 96)), seen("c")]
    prompts = [vision_engine.encoder.encode(conversation) for conversation in conversations]
    length = shared_length([prompt.ids for prompt in prompts], vision_engine.encoder.image_token)
    assert length > 5
    with torch.no_grad():
        whole, split = (logits_of(vision_engine, prompts, side, size) for size in (0, length))
    for one, other in zip(whole, split, strict=True):
        assert (one[length:] - other).abs().max() < TOLERANCE


def test_gradients_flow_through_the_prefix(text_engine):
    prompts = [Prompt(row) for row in ROWS]
    found = []
    for length in (0, 3):
        text_engine.model.zero_grad()
        rows = logits_of(text_engine, prompts, "right", length)
        own = torch.cat([row[len(row) - len(ids) + 3 :] for row, ids in zip(rows, ROWS, strict=True)])
        torch.log_softmax(own, -1)[:, 5].sum().backward()
        found.append([weight.grad.clone() for weight in text_engine.model.parameters()])
    text_engine.model.zero_grad()
    assert any(grad.abs().max() > 0.01 for grad in found[0])
    for one, other in zip(*found, strict=True):
        assert torch.allclose(one, other, atol=1e-3, rtol=1e-3)


def test_a_prefix_can_be_lent_again(text_engine):
    with torch.no_grad():
        cache = prefill(text_engine.model, [5, 6, 7])
        first = expand(cache, 2)
        text_engine.model(torch.tensor([[8], [9]]), past_key_values=first)
        assert first.get_seq_length() == 4
        assert cache.get_seq_length() == expand(cache, 3).get_seq_length() == 3
    assert prefill(text_engine.model, []).get_seq_length() == 0
