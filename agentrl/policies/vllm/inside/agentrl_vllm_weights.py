"""Where new weights are: in a file, or in memory that the trainer shares with this process."""

from __future__ import annotations

import base64
import contextlib
import json
import math
from collections.abc import Iterator

import torch


@contextlib.contextmanager
def found_weights(ticket: str) -> Iterator[Iterator[tuple[str, torch.Tensor]]]:
    """Names and tensors, from the path of a safetensors file, or from JSON about a block of memory shared with us."""
    if ticket.startswith("{"):
        facts = json.loads(ticket)
        block = shared_block(ticket)
        yield ((name, _place(block, *where)) for name, *where in facts["layout"])
        return
    from safetensors import safe_open

    with safe_open(ticket, "pt", device="cpu") as file:
        yield ((name, file.get_tensor(name)) for name in file.keys())  # noqa: SIM118


_mapped: dict[str, torch.Tensor] = {}  # the newest block, by its ticket: it is mapped once, not for every update


def shared_block(ticket: str) -> torch.Tensor:
    """The trainer's memory, as bytes."""
    if ticket not in _mapped:
        _mapped.clear()
        facts = json.loads(ticket)
        if "cuda" in facts:
            gpu, here = facts["cuda"]["gpu"], torch.cuda.current_device()
            if (own := str(torch.cuda.get_device_properties(here).uuid)) != gpu:
                where = f"the weights are on GPU {gpu} and this worker is on {own}"
                raise ValueError(f"{where}; ipc works on one GPU, file on all")
            words = [base64.b64decode(one) if isinstance(one, str) else one for one in facts["cuda"]["handle"]]
            storage = torch.UntypedStorage._new_shared_cuda(here, *words)
            _mapped[ticket] = torch.empty(0, dtype=torch.uint8, device=f"cuda:{here}").set_(storage)
        else:
            how = {"size": facts["bytes"], "dtype": torch.uint8, "device": "cpu"}
            _mapped[ticket] = torch.from_file(facts["path"], shared=True, **how)
    return _mapped[ticket]


def _place(block: torch.Tensor, kind: str, shape: list[int], start: int) -> torch.Tensor:
    dtype, count = getattr(torch, kind), math.prod(shape)
    return block[start : start + count * dtype.itemsize].view(dtype).view(shape)
