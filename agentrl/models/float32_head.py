"""An output layer in float32 on a model in bfloat16.

A logit of 20 is rounded to steps of 0.125 in bfloat16, so log-probabilities of the same tokens, computed one by one
while generating and all at once while training, differ visibly. The layer's inputs and weights stay rounded, to the
same type on both sides; their products are added up and kept in float32.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from agentrl.core.errors import ConfigError


class Float32Head(nn.Linear):
    """A linear layer that reads in `rounded` and computes in float32."""

    rounded: torch.dtype

    def forward(self, input: Tensor) -> Tensor:
        """Logits in float32, also inside autocast."""
        with torch.autocast(input.device.type, enabled=False):
            bias = None if self.bias is None else self.bias.to(self.rounded).float()
            weight = self.weight.to(self.rounded).float()
            return nn.functional.linear(input.to(self.rounded).float(), weight, bias)


def compute_head_in_float32(model: Any, rounded: torch.dtype) -> None:
    """Change a model's output layer in place; its weights stay what and where they are."""
    head = model.get_output_embeddings()
    if type(head) is not nn.Linear:
        raise ConfigError(f"float32_head needs a linear output layer; {type(model).__name__} has {type(head).__name__}")
    head.__class__ = Float32Head
    setattr(head, "rounded", rounded)  # noqa: B010 (modules declare their attributes to be tensors)
