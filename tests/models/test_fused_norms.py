"""Norms in one kernel: which modules are such norms, and that they give the same."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from agentrl.models.decoding import fused, plain_norms
from agentrl.models.loading import load_model


class ShiftedRMSNorm(nn.Module):
    """Counts its weight from 1, as some models do."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.zeros(size)), 1e-6

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        return (1 + self.weight) * states * torch.rsqrt(states.square().mean(-1, keepdim=True) + self.eps)


class GatedRMSNorm(ShiftedRMSNorm):
    """Wants more than states."""

    def forward(self, states: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
        return super().forward(states) * gate


@pytest.mark.parametrize("name", ["tiny-text", "tiny-vlm"])
def test_a_model_with_fused_norms_says_the_same(name):
    model = load_model(name, device="cpu").model
    with torch.no_grad():
        for weight in model.parameters():
            weight += 0.1 * torch.randn_like(weight)
    norms = plain_norms(model)
    assert len(norms) >= 2 * model.config.get_text_config().num_hidden_layers + 1
    ids = torch.arange(40, 72)[None]
    with torch.no_grad():
        before = model(input_ids=ids).logits
        with fused(norms):
            inside = model(input_ids=ids).logits
        after = model(input_ids=ids).logits
    assert torch.equal(before, after)
    assert torch.allclose(before, inside, atol=1e-4)


def test_in_bfloat16_a_fused_norm_rounds_once_where_the_models_own_rounds_twice():
    model = load_model("tiny-text", device="cpu").model
    norm = plain_norms(model)[0].to(torch.bfloat16)
    assert plain_norms(model)[0] is norm
    states = torch.randn(64, norm.weight.shape[0], generator=torch.Generator().manual_seed(0)).to(torch.bfloat16)
    with torch.no_grad():
        own = norm(states)
        with fused([norm]):
            once = norm(states)
    assert once.dtype == torch.bfloat16
    assert torch.allclose(own.float(), once.float(), rtol=2**-7)


def test_norms_of_other_kinds_stay_as_they_are():
    assert plain_norms(nn.ModuleList([ShiftedRMSNorm(8), GatedRMSNorm(8), nn.LayerNorm(8), nn.Linear(8, 8)])) == []


def test_an_error_inside_leaves_no_norm_changed():
    norm = nn.RMSNorm(4)
    with pytest.raises(RuntimeError), fused([norm]):
        assert "forward" in vars(norm)
        raise RuntimeError
    assert "forward" not in vars(norm)
