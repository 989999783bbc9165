"""The loop on a thread of its own leaves nothing open when it ends."""

from __future__ import annotations

import asyncio
import gc
import socket
import warnings

from agentrl.core.background import BackgroundLoop


def test_a_connection_that_nobody_closed_is_closed_with_the_loop() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    background = BackgroundLoop("test-loop")

    async def connect() -> None:
        await asyncio.get_running_loop().create_connection(asyncio.Protocol, *listener.getsockname())

    background.wait(connect())
    peer, _ = listener.accept()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        background.close()
        gc.collect()
    peer.settimeout(20)
    assert peer.recv(1) == b""  # the other side sees the end
    assert [str(each.message) for each in said if issubclass(each.category, ResourceWarning)] == []
    peer.close()
    listener.close()
