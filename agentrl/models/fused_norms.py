"""Norms in one kernel each, while answers are generated.

Models write the root-mean-square norm as seven small operations, one kernel each: a quarter of all kernels of a step
that generates one token, which takes as long as its kernels take to start.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn


def plain_norms(model: nn.Module) -> list[nn.Module]:
    """The modules that compute the plain norm and nothing else, found by trying one of each kind and size."""
    plain: dict[Any, bool] = {}
    found = []
    for module in model.modules():
        weight = getattr(module, "weight", None)
        if not type(module).__name__.endswith("RMSNorm") or weight is None or _epsilon(module) is None:
            continue
        kind = type(module), weight.shape
        if kind not in plain:
            plain[kind] = _is_plain(module)
        found += [module] if plain[kind] else []
    return found


@contextmanager
def fused(norms: Sequence[nn.Module]) -> Iterator[None]:
    """Inside, these modules compute in one kernel; afterwards as before."""
    for norm in norms:
        norm.forward = partial(_norm, norm)
    try:
        yield
    finally:
        for norm in norms:
            del norm.forward


def _norm(module: Any, states: Tensor) -> Tensor:
    return nn.functional.rms_norm(states, module.weight.shape, module.weight, _epsilon(module))


def _epsilon(module: nn.Module) -> float | None:
    return getattr(module, "variance_epsilon", getattr(module, "eps", None))


def _is_plain(module: Any) -> bool:
    rng = torch.Generator().manual_seed(0)
    states = torch.randn(4, *module.weight.shape, generator=rng).to(module.weight)
    try:
        with torch.no_grad():
            return torch.allclose(module(states).float(), _norm(module, states).float(), rtol=0.02, atol=0.02)
    except (RuntimeError, TypeError):  # it takes more than states, or its weight is no vector
        return False
