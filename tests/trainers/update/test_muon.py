"""Muon: orthogonal directions for matrices, AdamW for the rest, and a state that can be put away."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from agentrl.trainers.algorithms import sft
from agentrl.trainers.update.learner import Learner
from agentrl.trainers.update.muon import Muon, orthogonal
from tests.trainers import toys
from tests.trainers.runs import lines


@pytest.mark.parametrize("shape", [(3, 8, 8), (2, 16, 4), (2, 4, 16)])
def test_all_singular_values_come_near_one(shape) -> None:
    given = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    found = torch.linalg.svdvals(orthogonal(given))
    assert bool((found > 0.5).all()) and bool((found < 1.4).all())
    left, _, right = torch.linalg.svd(given, full_matrices=False)
    assert bool(((left @ right - orthogonal(given)).flatten(1).norm(dim=1) < 0.45 * (shape[0] * 4) ** 0.5).all())


def make() -> tuple[nn.Parameter, nn.Parameter, Muon]:
    matrix, vector = nn.Parameter(torch.eye(4)), nn.Parameter(torch.ones(4))
    groups = [{"params": [matrix], "lr": 0.1, "orthogonal": True}, {"params": [vector], "lr": 0.1, "orthogonal": False}]
    return matrix, vector, Muon(groups, weight_decay=0.0, fused=True)


def test_a_resumed_optimiser_moves_exactly_as_the_uninterrupted_one() -> None:
    matrix, vector, optimiser = make()

    def gradients(a: nn.Parameter, b: nn.Parameter, seed: int) -> None:
        rng = torch.Generator().manual_seed(seed)
        a.grad, b.grad = torch.randn(4, 4, generator=rng), torch.randn(4, generator=rng)

    for seed in range(3):
        gradients(matrix, vector, seed)
        optimiser.step()
    other_matrix, other_vector, other = make()
    other_matrix.data.copy_(matrix.data), other_vector.data.copy_(vector.data)
    other.load_state_dict(copy.deepcopy(optimiser.state_dict()))  # as a file would: nothing shared
    for a, b, one in ((matrix, vector, optimiser), (other_matrix, other_vector, other)):
        gradients(a, b, 7)
        one.step()
    assert torch.equal(matrix, other_matrix) and torch.equal(vector, other_vector)


def test_only_inner_matrices_are_turned(undecided, tmp_path) -> None:
    learner = Learner(toys.sft(undecided, tmp_path, optimiser="muon"))
    inner, rest = learner.optimiser.param_groups
    assert inner["orthogonal"] and all(p.ndim == 2 for p in inner["params"])
    names = {id(p): name for name, p in learner.policy.named_parameters()}
    assert not any("embed" in names[id(p)] for p in inner["params"])
    assert any("embed" in names[id(p)] for p in rest["params"])
    assert len(inner["params"]) + len(rest["params"]) == len(list(learner.policy.parameters()))


def test_a_run_with_muon_is_resumed(undecided, tmp_path) -> None:
    whole = sft.train(toys.sft(undecided, tmp_path / "whole", optimiser="muon", iterations=4, save_every=1))
    sft.train(toys.sft(undecided, tmp_path / "cut", optimiser="muon", iterations=2, save_every=1))
    cut = sft.train(toys.sft(undecided, tmp_path / "cut", optimiser="muon", iterations=4, save_every=1, resume=True))
    assert [line["loss"] for line in lines(cut, "train")] == [line["loss"] for line in lines(whole, "train")]
