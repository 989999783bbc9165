"""Muon: momentum whose direction is made orthogonal, for the matrices inside a model; AdamW for everything else.

Small models learn from far fewer examples that way. torch has a Muon of its own, which orthogonalises in bf16: fast on
a GPU, and slower by two orders of magnitude on processors without bf16. This one computes in the weights' own type, all
matrices of one shape at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from agentrl.trainers.parallel.sharding import piece, whole

MOMENTUM, ROUNDS = 0.95, 5
# Coefficients of the quintic iteration that pushes all singular values towards 1 (K. Jordan, 2024).
A, B, C = 3.4445, -4.7750, 2.0315


class Muon(torch.optim.AdamW):
    """Groups with `orthogonal=True` are moved by Muon, the others by AdamW."""

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Move all parameters that have a gradient."""
        whole = self.param_groups
        try:
            self.param_groups = [group for group in whole if not group["orthogonal"]]
            found = super().step(closure)
        finally:
            self.param_groups = whole
        for group in whole:
            if group["orthogonal"]:
                for alike in by_shape([p for p in group["params"] if p.grad is not None]):
                    self._turn(alike, group["lr"], group["weight_decay"])
        return found

    def _turn(self, matrices: Sequence[Tensor], lr: float, weight_decay: float) -> None:
        """Matrices in pieces are made whole first: what is orthogonal cannot be told from a piece."""
        for matrix in matrices:
            state = self.state[matrix]
            if not state:  # AdamW, which reads all states when a run is resumed, expects a step count in each
                state.update(step=torch.zeros(()), momentum=torch.zeros_like(matrix))
            state["momentum"].mul_(MOMENTUM).add_(matrix.grad)
        ahead = torch.stack([whole(m.grad + MOMENTUM * self.state[m]["momentum"]) for m in matrices])  # pyright: ignore
        high, wide = matrices[0].shape
        for matrix, way in zip(matrices, orthogonal(ahead), strict=True):
            matrix.mul_(1 - lr * weight_decay).add_(piece(way, matrix), alpha=-lr * max(1.0, high / wide) ** 0.5)


def orthogonal(matrices: Tensor) -> Tensor:
    """`[n, rows, columns]`: the nearest matrices with singular values near 1, by Newton and Schulz's iteration."""
    tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.mT if tall else matrices
    x = x / (x.flatten(1).norm(dim=1)[:, None, None] + 1e-7)
    for _ in range(ROUNDS):
        gram = x @ x.mT
        x = A * x + (B * gram + C * gram @ gram) @ x
    return x.mT if tall else x


def by_shape(parameters: Sequence[Tensor]) -> list[list[Tensor]]:
    """Parameters of one shape side by side."""
    found: dict[tuple[int, ...], list[Tensor]] = {}
    for parameter in parameters:
        found.setdefault(tuple(parameter.shape), []).append(parameter)
    return list(found.values())


def is_inner_matrix(name: str, parameter: Tensor, output: Tensor | None) -> bool:
    """Not an embedding and not the output layer, whose rows are words rather than directions."""
    return parameter.ndim == 2 and parameter is not output and "embed" not in name
