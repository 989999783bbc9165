"""Weights in pieces: each process of a run holds its share of every parameter, gradient and optimiser state (FSDP2).

A layer's weights are gathered when it is reached and freed after it, forwards and backwards. What lies outside of the
layers (embeddings, norms, the output layer, which may be one weight with the embeddings) is gathered by an `Entry`:
trainers call a model's parts one by one, so all of that happens inside of one. `Shards` is what a learner sees of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor
from torch.utils import _pytree as pytree

from agentrl.trainers.parallel.ranks import ProcessGroup


class Entry(nn.Module):
    """The entry to a sharded module: work done in its `forward` finds whole weights."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, work: Callable[[], Any]) -> tuple[Any, Tensor | None]:
        """What `work` gives, and 0 with a gradient for all of it.

        A loss that adds this 0 goes back through everything that was computed, also where it happens to use only some
        of it (no picture in this process's rows, no place where the critic is taught): all processes must reduce the
        same gradients.
        """
        # FSDP hangs its hooks on what comes out, and a view could lose them.
        found = pytree.tree_map_only(Tensor, lambda x: x.clone() if x._is_view() else x, work())
        parts = [
            x.reshape(-1)[:1].sum() for x in pytree.tree_leaves(found) if isinstance(x, Tensor) and x.requires_grad
        ]
        if torch.is_grad_enabled():
            parts += [p.sum() for p in self.tower() if p.requires_grad]
        return found, 0.0 * torch.stack(parts).sum() if parts else None

    def tower(self) -> list[nn.Parameter]:
        """The weights that only pictures reach."""
        towers = [getattr(model.base_model, "visual", None) for model in language_models(self.module)]
        return [p for tower in towers if tower is not None for p in tower.parameters()]


class Shards:
    """The models of a learner, sharded."""

    def __init__(self, processes: ProcessGroup, models: Sequence[nn.Module | None]) -> None:
        self._anchors: list[Tensor] = []
        mesh = processes.mesh
        with processes.guard():
            self._entries = {id(model): shard(model, mesh) for model in models if model is not None}

    def within(self, module: Any, work: Callable[[], Any]) -> Any:
        """Do what needs a module's whole weights."""
        if id(module) not in self._entries:
            return work()
        found, anchor = self._entries[id(module)](work)
        self._anchors += [] if anchor is None else [anchor]
        return found

    def anchored(self, loss: Tensor, counts: bool) -> Tensor:
        """The loss with a path back through all that was computed; 0 where it does not count."""
        anchors, self._anchors = self._anchors, []
        return sum(anchors, loss if counts else 0.0 * loss)

    def put_back(self) -> None:
        """Leave only the pieces, where a forward pass has left whole weights: what is written to those is lost."""
        for entry in self._entries.values():
            for part in entry.modules():
                if isinstance(part, FSDPModule):
                    part.reshard()

    def forget(self) -> None:
        """Drop what was computed so far."""
        self._anchors.clear()

    def clear_vision_gradients(self) -> None:
        """Where no process saw a picture, an anchor's 0 is not a gradient: momentum must not move what was not used."""
        for entry in self._entries.values():
            for parameter in entry.tower():
                parameter.grad = None


def shard(module: nn.Module, mesh: Any) -> Entry:
    """Spread a language model, or a module around one, over the processes; in place."""
    for layer in [layer for model in language_models(module) for layer in decoder_layers(model)]:
        fully_shard(layer, mesh=mesh)
    entry = Entry(module)
    fully_shard(entry, mesh=mesh)
    for part in entry.modules():
        if isinstance(part, FSDPModule):
            # Losses are divided by counts over all processes, so gradients add up.
            part.set_gradient_divide_factor(1.0)
            part.set_force_sum_reduction_for_comms(True)
    return entry


def language_models(module: nn.Module) -> list[Any]:
    """The module itself, or the body that it has; none for a critic that is a head."""
    given = module if hasattr(module, "base_model") else getattr(module, "model", None)
    return [] if given is None else [given]


def decoder_layers(model: Any) -> list[nn.Module]:
    """The layers of a language model, which every row goes through."""
    decoder = getattr(model.base_model, "language_model", model.base_model)
    lists = [part for part in decoder.modules() if isinstance(part, nn.ModuleList)]
    return list(max(lists, key=lambda part: sum(p.numel() for p in part.parameters()))) if lists else []


# ---------------------------------------------------------------------- between pieces and wholes


def whole(tensor: Tensor) -> Tensor:
    """All of a tensor, gathered from all processes where it is in pieces (then all must ask)."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def piece(tensor: Tensor, like: Tensor) -> Tensor:
    """This process's part of a whole tensor, spread as `like` is; the tensor itself where that is whole."""
    if not isinstance(like, DTensor) or tensor.shape != like.shape:
        return tensor
    local = tensor.to(device=like.device, dtype=like.dtype)
    return distribute_tensor(local, like.device_mesh, like.placements, src_data_rank=None)


def whole_state(
    state: dict[str, Any], wholes: Callable[[Iterable[tuple[str, Tensor]]], dict[str, Any]]
) -> dict[str, Any]:
    """The state of an optimiser with the tensors that `wholes` makes of its own: as one process would have it."""
    return {**state, "state": {index: wholes(values.items()) for index, values in state["state"].items()}}


def state_in_pieces(state: dict[str, Any], optimiser: torch.optim.Optimizer) -> dict[str, Any]:
    """Inverse of `whole_state` for an optimiser whose parameters may be in pieces."""
    parameters = [p for group in optimiser.param_groups for p in group["params"]]
    found = {}
    for index, values in state["state"].items():
        like = parameters[index]
        found[index] = {name: piece(value, like) for name, value in values.items()}
    return {**state, "state": found}
