"""Runs Triton kernels program by program with torch on the CPU: the part of the language that ours are written in.

Triton has such an interpreter, too (TRITON_INTERPRET=1), which `kernels` takes where it is installed; but its package
is of two thirds of a gigabyte, so that tests do not ask for it.
"""

from __future__ import annotations

import importlib
import os
import sys
from itertools import product
from types import ModuleType
from unittest.mock import patch

import torch

_ids, _grid = [0, 0, 0], [1, 1, 1]


def kernels() -> ModuleType:
    """`agentrl.models.triton_kernels`, to be run here."""
    name = "agentrl.models.triton_kernels"
    if os.environ.get("TRITON_INTERPRET") == "1":
        return importlib.import_module(name)
    language = ModuleType("triton.language")
    vars(language).update(LANGUAGE)
    triton = ModuleType("triton")
    vars(triton).update(jit=Kernel, language=language)
    with patch.dict(sys.modules, {"triton": triton, "triton.language": language}):
        sys.modules.pop(name, None)
        return importlib.import_module(name)


class Pointer:
    """An address, or a block of them, in the memory of a tensor."""

    def __init__(self, memory, offset):
        self.memory, self.offset = memory, offset

    def __add__(self, more):
        return Pointer(self.memory, self.offset + more)

    def __getitem__(self, index):
        return Pointer(self.memory, self.offset[index])


class Kernel:
    """`kernel[grid](...)` runs all programs of the grid, one after the other."""

    def __init__(self, function):
        self.function = function

    def __getitem__(self, grid):
        return lambda *args, num_warps=4, num_stages=2, **blocks: self.run(grid, args, blocks)

    def __call__(self, *args):
        return self.function(*args)

    def run(self, grid, args, blocks):
        given = [address(arg) if isinstance(arg, torch.Tensor) else arg for arg in args]
        _grid[: len(grid)] = grid
        for ids in product(*map(range, grid)):
            _ids[: len(ids)] = ids
            self.function(*given, **blocks)


def address(tensor):
    flat = torch.empty(0, dtype=tensor.dtype).set_(tensor.untyped_storage())
    return Pointer(flat, torch.tensor(tensor.storage_offset()))


def load(pointer, mask=None, other=0):
    if mask is None:
        return pointer.memory[pointer.offset.long()]
    offset, mask = torch.broadcast_tensors(pointer.offset, torch.as_tensor(mask))
    found = torch.full(offset.shape, other, dtype=pointer.memory.dtype)
    found[mask] = pointer.memory[offset[mask].long()]  # what is masked is not read: it may lie outside
    return found


def store(pointer, value, mask=True):
    offset, value, mask = torch.broadcast_tensors(pointer.offset, torch.as_tensor(value), torch.as_tensor(mask))
    pointer.memory[offset[mask].long()] = value[mask].to(pointer.memory.dtype)


def dot(left, right, total=0, input_precision=None):
    assert left.dtype == right.dtype and min(*left.shape, *right.shape) >= 16, (left.shape, right.shape)
    return left.float() @ right.float() + total


def where(condition, one, other):
    if isinstance(one, Pointer):
        return one if condition else other
    return torch.where(torch.as_tensor(condition), torch.as_tensor(one), torch.as_tensor(other))


LANGUAGE = {
    "constexpr": None,
    **{name: getattr(torch, name) for name in ("float32", "float64", "int32", "int64", "uint8")},
    **{name: getattr(torch, name) for name in ("exp", "exp2", "log", "log2", "rsqrt", "sigmoid")},
    "program_id": lambda axis: torch.tensor(_ids[axis], dtype=torch.int32),
    "num_programs": lambda axis: _grid[axis],
    "arange": lambda start, end: torch.arange(start, end, dtype=torch.int32),
    "zeros": lambda shape, dtype: torch.zeros(shape, dtype=dtype),
    "full": lambda shape, value, dtype: torch.full(shape, value, dtype=dtype),
    "load": load,
    "store": store,
    "dot": dot,
    "where": where,
    "static_range": range,
    "sum": lambda values, axis: values.sum(axis),
    "max": lambda values, axis: values.amax(axis),
    "argmax": lambda values, axis: values.argmax(axis),
    "cumsum": lambda values, axis: values.cumsum(axis),
    "cdiv": lambda number, size: -(-number // size),
    "minimum": lambda one, other: torch.minimum(*map(torch.as_tensor, (one, other))),
    "maximum": torch.maximum,
    "reshape": torch.reshape,
    "permute": torch.permute,
    "split": lambda values: values.unbind(-1),
    "join": lambda one, other: torch.stack([one, other], dim=-1),
}
