"""Weights in memory that trainer and engine both map: of the GPU by CUDA IPC, of the machine for those on a processor.

The block is allocated at the first update and stays, so that an update is a copy within that memory and a short
message. It costs the trainer's device one more set of weights. Its content is the newest set: an engine that is started
again takes it from there.
"""

from __future__ import annotations

import base64
import json
import os
import tempfile
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentrl.core.errors import EngineFault
from agentrl.policies.vllm.weights import roomiest

if TYPE_CHECKING:
    import torch

ALIGNMENT = 256  # bytes: every weight begins where GPUs like to read
Layout = list[list[Any]]  # name, type, shape and first byte of each weight


class SharedWeights:
    """The block, and the ticket with which the engine finds it."""

    def __init__(self) -> None:
        self.newest: str | None = None
        self._block: torch.Tensor | None = None
        self._layout: Layout = []
        self._ticket = ""

    def write(self, weights: Mapping[str, torch.Tensor]) -> str:
        """Copy all weights into the block; the ticket, which stays the same as long as their shapes do."""
        device = next(iter(weights.values())).device
        layout, size = layout_of(weights)
        if self._block is None or layout != self._layout or self._block.device != device:
            self.close()
            self._allocate(device, layout, size)
        assert self._block is not None
        for tensor, (_, _, shape, start) in zip(weights.values(), layout, strict=True):
            place = self._block[start : start + tensor.nbytes].view(tensor.dtype).view(shape)
            place.copy_(tensor.detach())
        _finish(device)
        return self._ticket

    def keep(self, ticket: str) -> None:
        """What it leads to is in the engine now."""
        self.newest = ticket

    def discard(self, ticket: str) -> None:
        """The engine did not take it; the next update writes over it."""

    def close(self) -> None:
        """Give the memory back."""
        if self._block is not None and self._block.device.type == "cpu":
            self._remove()
        self._block = self.newest = None

    def _allocate(self, device: torch.device, layout: Layout, size: int) -> None:
        facts: dict[str, Any] = {"layout": layout, "bytes": size}
        try:
            if device.type == "cuda":
                import torch

                self._block = torch.empty(size, dtype=torch.uint8, device=device)
                facts["cuda"] = _handle(self._block)
            else:
                self._block, path = _mapped_file(size)
                self._remove = weakref.finalize(self, Path(path).unlink, missing_ok=True)
                facts["path"] = path
        except (OSError, RuntimeError) as error:
            raise EngineFault(f"the weights cannot be shared with the engine: {error}; transfer=file can") from error
        self._layout, self._ticket = layout, json.dumps(facts)


def layout_of(weights: Mapping[str, torch.Tensor]) -> tuple[Layout, int]:
    """Where each weight lies in one block of bytes, and how many those are."""
    found, end = [], 0
    for name, tensor in weights.items():
        found.append([name, str(tensor.dtype).removeprefix("torch."), list(tensor.shape), end])
        end += -(-tensor.nbytes // ALIGNMENT) * ALIGNMENT
    return found, max(end, 1)


def _handle(block: torch.Tensor) -> dict[str, Any]:
    """What another process needs to map it: which GPU, and what torch's own `multiprocessing` would hand over."""
    import torch

    _, *rest = block.untyped_storage()._share_cuda_()  # the first is the number of the GPU in this process
    words = [base64.b64encode(one).decode() if isinstance(one, bytes) else one for one in rest]
    return {"gpu": str(torch.cuda.get_device_properties(block.device).uuid), "handle": words}


def _mapped_file(size: int) -> tuple[torch.Tensor, str]:
    import torch

    number, path = tempfile.mkstemp(prefix="agentrl-weights-", dir=roomiest(size))  # nobody else's to read
    try:
        os.posix_fallocate(number, 0, size)  # full memory says so here, and kills nobody later
    except OSError:
        os.unlink(path)
        raise
    finally:
        os.close(number)
    return torch.from_file(path, shared=True, size=size, dtype=torch.uint8), path


def _finish(device: torch.device) -> None:
    if device.type == "cuda":
        import torch

        torch.cuda.synchronize(device)  # the engine's process knows nothing of what is under way in this one
