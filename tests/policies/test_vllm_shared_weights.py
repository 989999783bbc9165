"""Weights in memory shared with the engine: what is written is what the engine's own code reads, and nothing stays."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from agentrl.core.errors import EngineFault
from agentrl.policies.vllm import weights as shared_weights
from agentrl.policies.vllm.backend import INSIDE
from agentrl.policies.vllm.weights import ALIGNMENT, SharedWeights, layout_of

READ = """
import json, sys
from agentrl_vllm_weights import found_weights
with found_weights(sys.stdin.read()) as weights:
    print(json.dumps({name: [str(one.dtype), one.float().tolist()] for name, one in weights}))
"""


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The engine's side, which needs torch and nothing else."""
    monkeypatch.syspath_prepend(str(INSIDE))
    import agentrl_vllm_weights  # pyright: ignore[reportMissingImports]

    yield agentrl_vllm_weights
    agentrl_vllm_weights._mapped.clear()
    sys.modules.pop("agentrl_vllm_weights")


def weights(add: float = 0.0) -> dict[str, torch.Tensor]:
    """Of several types and shapes, one of them not contiguous, one of them empty."""
    return {
        "matrix": (torch.arange(6.0).view(2, 3) + add).t(),
        "narrow": torch.tensor([1.5, -2.0], dtype=torch.bfloat16) + add,
        "number": torch.tensor(7.0 + add),
        "nothing": torch.zeros(0, 4),
        "last": torch.full((5,), 3.0 + add),
    }


def read(inside: Any, ticket: str) -> dict[str, torch.Tensor]:
    with inside.found_weights(ticket) as found:
        return {name: tensor.clone() for name, tensor in found}


def test_what_was_written_is_read_and_an_update_needs_no_new_ticket(inside: Any) -> None:
    store = SharedWeights()
    ticket = store.write(weights())
    block = inside.shared_block(ticket)
    for add in (0.0, 1.0, -4.0):
        assert store.write(weights(add)) == ticket
        found = read(inside, ticket)
        assert list(found) == list(weights())
        for name, wanted in weights(add).items():
            assert found[name].dtype == wanted.dtype and torch.equal(found[name], wanted)
    assert inside.shared_block(ticket) is block, "mapped once"
    store.close()


def test_another_process_reads_it() -> None:
    store = SharedWeights()
    ticket = store.write(weights())
    program = [sys.executable, "-c", READ]
    environment = {**os.environ, "PYTHONPATH": str(INSIDE)}
    done = subprocess.run(program, input=ticket, capture_output=True, text=True, env=environment, check=True)
    found = json.loads(done.stdout)
    assert found["matrix"] == ["torch.float32", [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]]
    assert found["narrow"] == ["torch.bfloat16", [1.5, -2.0]] and found["number"][1] == 7.0
    store.close()


def test_other_shapes_get_another_block_and_the_old_one_goes() -> None:
    store = SharedWeights()
    first = store.write(weights())
    store.keep(first)
    path = Path(json.loads(first)["path"])
    assert path.stat().st_mode & 0o077 == 0, "nobody else's to read"
    second = store.write({"other": torch.ones(3)})
    assert second != first and not path.exists() and store.newest is None
    store.keep(second)
    store.close()
    assert not Path(json.loads(second)["path"]).exists() and store.newest is None


def test_a_store_that_is_forgotten_leaves_nothing() -> None:
    store = SharedWeights()
    path = Path(json.loads(store.write(weights()))["path"])
    del store
    assert not path.exists()


def test_weights_begin_at_even_places() -> None:
    layout, size = layout_of(weights())
    assert all(start % ALIGNMENT == 0 for *_, start in layout) and size == 4 * ALIGNMENT
    assert layout_of({})[1] > 0


def test_memory_that_is_full_is_a_fault_that_names_the_other_way(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shared_weights, "roomiest", lambda size: tmp_path)
    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(EngineFault, match="No space left on device; transfer=file can"):
        SharedWeights().write(weights())
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------------- a GPU, without one


class Properties:
    """Of the only GPU of these tests."""

    uuid = "GPU-1"


def test_the_handle_of_a_gpu_travels_whole(inside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """torch's own two functions, which need a GPU, are replaced: one hands out what the other must get."""
    secret = (3, b"\x00handle\xff", 64, 512, b"counter", 7, b"event", True)
    opened: list[Any] = []

    class Storage:
        def _share_cuda_(self) -> tuple:
            return secret

    class Block:
        device = torch.device("cuda", 3)

        def untyped_storage(self) -> Storage:
            return Storage()

    class Opened(torch.UntypedStorage):
        @classmethod
        def _new_shared_cuda(cls, *given: Any) -> Any:
            opened.append(given)
            raise RuntimeError("no GPU here")

    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: Properties)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch, "UntypedStorage", Opened)
    sent = json.loads(json.dumps(shared_weights._handle(Block())))  # type: ignore[arg-type]
    assert sent["gpu"] == "GPU-1" and base64.b64decode(sent["handle"][0]) == secret[1]
    with pytest.raises(RuntimeError, match="no GPU here"):
        inside.shared_block(json.dumps({"cuda": sent, "layout": [], "bytes": 64}))
    assert opened == [(0, *secret[1:])], "under the number that the GPU has there"


def test_weights_on_another_gpu_are_refused(inside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: Properties)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    with pytest.raises(ValueError, match="ipc works on one GPU, file on all"):
        inside.shared_block(json.dumps({"cuda": {"gpu": "GPU-2", "handle": []}, "layout": [], "bytes": 1}))
