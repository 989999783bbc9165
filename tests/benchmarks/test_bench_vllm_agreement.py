"""Changes of weights for the comparison with vLLM: of every weight, of the right size, judged by what was before."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from agentrl.models.loading import load_model
from agentrl.policies.hf import HFPolicy
from benchmarks import vllm_agreement as agreement
from benchmarks.train import openings
from benchmarks.vllm_agreement import MOVED, WAY, Difference, agrees, changed_share, moved_by, perturb, size_of_changes


def test_every_weight_is_changed_in_proportion_to_its_tensor() -> None:
    large = torch.nn.Linear(64, 64)
    torch.nn.init.normal_(large.weight, std=100)
    model = torch.nn.Sequential(large, torch.nn.LayerNorm(64))  # all ones have no deviation
    before = [one.detach().clone() for one in model.parameters()]
    perturb(model, 0.1, seed=3)
    for now, old in zip(model.parameters(), before, strict=True):
        if old.square().mean() > 0:
            moved = ((now - old).square().mean() / old.square().mean()).sqrt()
            assert 0.06 < moved < 0.14 and not (now == old).any()


def test_a_size_is_found_and_the_weights_are_left_as_they_were() -> None:
    ours = load_model("tiny-text", "cpu", "float32")
    said = HFPolicy(ours, max_new_tokens=6, seed=1, **WAY).act(openings(3))
    before = [one.detach().clone() for one in ours.model.parameters()]
    size = size_of_changes(ours, said, 3)
    assert changed_share(ours, before) == 0.0 and moved_by(ours, said) < 1e-4
    for seed in range(3):
        perturb(ours.model, size, seed)
    assert MOVED[0] <= moved_by(ours, said) <= MOVED[1], "the same changes as were tried"
    assert changed_share(ours, before) > 0.99


def test_a_model_that_no_change_moves_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agreement, "moved_by", lambda ours, said: 0.0)
    deaf = SimpleNamespace(model=torch.nn.Linear(2, 2))
    with pytest.raises(RuntimeError, match="no size of a change"):
        size_of_changes(deaf, [], 1)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("after", "before", "same"),
    [(0.06, 0.044, True), (0.18, 0.044, False), (5e-5, 1e-7, True), (2e-4, 1e-7, False)],
)
def test_a_difference_is_judged_by_the_one_before(after: float, before: float, same: bool) -> None:
    assert agrees(Difference(after, 1.0), Difference(before, 1.0)) is same
