"""Weights on their way to the engine: safetensors files in memory shared by all processes of this machine."""

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

SHARED = Path("/dev/shm")


def checkpoint_weights(model: Any) -> dict[str, torch.Tensor]:
    """The weights of a transformers model under the names of its checkpoint files, which are those vLLM reads.

    A weight that two layers share is there once.
    """
    from transformers import core_model_loading

    weights = {name: parameter.detach() for name, parameter in model.named_parameters()}
    revert = getattr(core_model_loading, "revert_weight_conversion", None)
    return weights if revert is None else revert(model, weights)


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
        path = self._place(size) / f"{self._written}.safetensors"
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

    def _place(self, size: int) -> Path:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="agentrl-weights-", dir=roomiest(size)))
            self._finalizer = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder


def roomiest(size: int) -> Path:
    """Memory that processes share, if two sets of weights fit into it with room to spare; the disk otherwise."""
    if SHARED.is_dir() and os.access(SHARED, os.W_OK) and shutil.disk_usage(SHARED).free > 4 * size:
        return SHARED
    return Path(tempfile.gettempdir())
