"""Weights on their way to the engine.

* `WeightFiles`: safetensors files in memory shared by all processes of this machine.
* `SharedWeights`: memory that trainer and engine both map: of the GPU by CUDA IPC, of the machine for those on a
  processor. The block is allocated at the first update and stays, so that an update is a copy within that memory and a
  short message. It costs the trainer's device one more set of weights. Its content is the newest set: an engine that is
  started again takes it from there.
* `DeviceTransfer`: from GPU to GPU by vLLM's own transfer through nccl, for a server on other GPUs than the trainer's.
  NOT TESTED: it needs two GPUs, and no such machine was at hand. Written after the interfaces of vLLM 0.32; whoever
  runs it first should compare log-probabilities after an update, as the tests of the other transfers do. It needs vLLM
  in the trainer's own interpreter, because the trainer's side of the transfer is vLLM's code.
"""

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentrl.core.errors import EngineFault

if TYPE_CHECKING:
    import torch


import base64
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false


import logging
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from agentrl.core.interpreter import MissingInterpreter
from agentrl.policies.vllm.backend import VLLM
from agentrl.policies.vllm.server import Client, free_port

if TYPE_CHECKING:
    import torch

log = logging.getLogger(__name__)

SHARED = Path("/dev/shm")
ALIGNMENT = 256  # bytes: every weight begins where GPUs like to read
Layout = list[list[Any]]  # name, type, shape and first byte of each weight
Kind = Literal["file", "ipc", "nccl"]
KINDS = ("file", "ipc", "nccl")
HERE = "127.0.0.1"


def checkpoint_weights(model: Any) -> dict[str, torch.Tensor]:
    """The weights of a transformers model under the names of its checkpoint files, which are those vLLM reads.

    A weight that two layers share is there once.
    """
    from transformers import core_model_loading

    weights = {name: parameter.detach() for name, parameter in model.named_parameters()}
    revert = getattr(core_model_loading, "revert_weight_conversion", None)
    return weights if revert is None else revert(model, weights)


def roomiest(size: int) -> Path:
    """Memory that processes share, if two sets of weights fit into it with room to spare; the disk otherwise."""
    if SHARED.is_dir() and os.access(SHARED, os.W_OK) and shutil.disk_usage(SHARED).free > 4 * size:
        return SHARED
    return Path(tempfile.gettempdir())


class WeightFiles:
    """Keeps the newest whole set of weights, so that an engine that is started again can have it."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._written = 0
        self.newest: str | None = None

    def write(self, weights: Mapping[str, torch.Tensor]) -> str:
        """Into a file of its own, whose path is returned; `EngineFault` where there is no room."""
        from safetensors import SafetensorError
        from safetensors.torch import save_file

        ready = {name: tensor.detach().to("cpu").contiguous() for name, tensor in weights.items()}
        size = sum(tensor.nbytes for tensor in ready.values())
        self._written += 1
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="agentrl-weights-", dir=roomiest(size)))
            self._finalizer = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        path = self._folder / f"{self._written}.safetensors"
        try:
            save_file(ready, path)
        except (OSError, SafetensorError) as error:
            path.unlink(missing_ok=True)
            raise EngineFault(f"the weights for the engine cannot be written to {path.parent}: {error}") from error
        return str(path)

    def keep(self, path: str) -> None:
        """This one is in the engine now; the one before is not needed any more."""
        if self.newest is not None and self.newest != path:
            Path(self.newest).unlink(missing_ok=True)
        self.newest = path

    def discard(self, path: str) -> None:
        """The engine did not take it."""
        if path != self.newest:
            Path(path).unlink(missing_ok=True)

    def close(self) -> None:
        """Remove everything."""
        if self._folder is not None:
            self._finalizer()
        self._folder = self.newest = None


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
        if device.type == "cuda":
            import torch

            torch.cuda.synchronize(device)  # the engine's process knows nothing of what is under way in this one
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
        import torch

        facts: dict[str, Any] = {"layout": layout, "bytes": size}
        try:
            if device.type == "cuda":
                self._block = torch.empty(size, dtype=torch.uint8, device=device)
                facts["cuda"] = _handle(self._block)
            else:
                number, path = tempfile.mkstemp(prefix="agentrl-weights-", dir=roomiest(size))  # nobody else's to read
                try:
                    os.posix_fallocate(number, 0, size)  # full memory says so here, and kills nobody later
                except OSError:
                    os.unlink(path)
                    raise
                finally:
                    os.close(number)
                self._block = torch.from_file(path, shared=True, size=size, dtype=torch.uint8)
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


class DeviceTransfer:
    """The sender: the trainer's rank 0, towards one server."""

    def __init__(self, client: Client) -> None:
        log.warning(
            "weight transfer by nccl, which needs two GPUs, has not been tested; compare log-probabilities after the "
            "first update, or use transfer=file"
        )
        self._client = client
        self._weights: Mapping[str, torch.Tensor] = {}
        self._sender: Any = None

    def send(self, weights: Mapping[str, torch.Tensor]) -> None:
        """Replace the server's weights, while it is paused."""
        self._weights = weights
        if self._sender is None:
            self._sender = self._connect()
        self._sender.send_weights()
        self._weights = {}

    def _connect(self) -> Any:
        """Meet the server's workers; the source is read anew for every update."""
        try:
            from vllm.distributed.weight_transfer import (
                HTTPVLLMWeightSyncClient,
                ParamMeta,
                WeightSource,
                WeightTransferTrainerFactory,
            )
            from vllm.distributed.weight_transfer.nccl_engine import NCCLTrainerInitInfo
        except ImportError as error:
            raise MissingInterpreter(VLLM, sys.executable) from error
        client, transfer = self._client, self

        class Control(HTTPVLLMWeightSyncClient):  # vLLM's client for these routes, with our key
            def _post(self, path: str, json: dict[str, Any] | None = None) -> None:
                client.post(f"/{path}", json)

        class Source(WeightSource):
            def metadata(self) -> list[Any]:
                found = transfer._weights.items()
                return [ParamMeta(name, tensor.dtype, tuple(tensor.shape)) for name, tensor in found]

            def __iter__(self) -> Iterator[tuple[str, Any]]:
                yield from transfer._weights.items()

        workers = int(client.get("/get_world_size")["world_size"])
        meeting = NCCLTrainerInitInfo(rank=0, master_address=HERE, master_port=free_port(0), world_size=workers + 1)
        return WeightTransferTrainerFactory.trainer_init(meeting, client=Control(client.address), source=Source())
