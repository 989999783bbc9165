"""Weights from GPU to GPU by vLLM's own transfer through nccl, for a server on other GPUs than the trainer's.

NOT TESTED: it needs two GPUs, and no such machine was at hand. Written after the interfaces of vLLM 0.32; whoever runs
it first should compare log-probabilities after an update, as the tests of the other transfers do. It needs vLLM in the
trainer's own interpreter, because the trainer's side of the transfer is vLLM's code.
"""

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import logging
import socket
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from agentrl.core.interpreter import MissingInterpreter
from agentrl.policies.vllm.client import Client
from agentrl.policies.vllm.interpreter import VLLM

if TYPE_CHECKING:
    import torch

log = logging.getLogger(__name__)

Kind = Literal["file", "ipc", "nccl"]
KINDS = ("file", "ipc", "nccl")
HERE = "127.0.0.1"


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
            from vllm.distributed.weight_transfer import WeightTransferTrainerFactory
            from vllm.distributed.weight_transfer.nccl_engine import NCCLTrainerInitInfo
        except ImportError as error:
            raise MissingInterpreter(VLLM, sys.executable) from error
        workers = int(self._client.get("/get_world_size")["world_size"])
        meeting = NCCLTrainerInitInfo(rank=0, master_address=HERE, master_port=_free_port(), world_size=workers + 1)
        return WeightTransferTrainerFactory.trainer_init(meeting, client=self._control(), source=self._source())

    def _control(self) -> Any:
        """vLLM's client for these routes, with our key."""
        from vllm.distributed.weight_transfer import HTTPVLLMWeightSyncClient

        ours = self._client

        class Control(HTTPVLLMWeightSyncClient):
            def _post(self, path: str, json: dict[str, Any] | None = None) -> None:
                ours.post(f"/{path}", json)

        return Control(ours.address)

    def _source(self) -> Any:
        from vllm.distributed.weight_transfer import ParamMeta, WeightSource

        transfer = self

        class Source(WeightSource):
            def metadata(self) -> list[Any]:
                found = transfer._weights.items()
                return [ParamMeta(name, tensor.dtype, tuple(tensor.shape)) for name, tensor in found]

            def __iter__(self) -> Iterator[tuple[str, Any]]:
                yield from transfer._weights.items()

        return Source()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HERE, 0))
        return probe.getsockname()[1]
