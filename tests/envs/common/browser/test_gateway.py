"""The proxy of a window tells sites that do not answer from those that it is just asking."""

from __future__ import annotations

import asyncio

import pytest

from agentrl.envs.common.browser import gateway
from agentrl.envs.common.browser.gateway import Fence, Gateway

SITE = "http://127.0.0.1:9999"


def test_a_site_is_down_when_it_refuses_and_not_while_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        asked, refused = asyncio.Event(), asyncio.Event()

        async def refuse(*_: object) -> None:
            asked.set()
            await refused.wait()
            raise ConnectionRefusedError

        monkeypatch.setattr(asyncio, "open_connection", refuse)
        proxy = Gateway(Fence([SITE]))
        asking = asyncio.ensure_future(proxy._connect("127.0.0.1", 9999))
        await asked.wait()
        assert not proxy.is_down(f"{SITE}/page")
        refused.set()
        with pytest.raises(OSError):
            await asking
        assert proxy.is_down(f"{SITE}/page")

    asyncio.run(story())


def test_a_site_that_takes_no_connection_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    async def hang(*_: object) -> None:
        await asyncio.Event().wait()

    async def story() -> None:
        proxy = Gateway(Fence([SITE]))
        with pytest.raises(OSError):
            await proxy._connect("127.0.0.1", 9999)
        assert proxy.is_down(SITE)

    monkeypatch.setattr(asyncio, "open_connection", hang)
    monkeypatch.setattr(gateway, "CONNECT_SECONDS", 0.01)
    asyncio.run(story())
