"""One drawing process and one set of canaries for all tests of the sandbox."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agentrl.envs.svg.sandbox.renderer import Renderer
from tests.envs.svg.canaries import Canaries


@pytest.fixture(scope="session")
def canaries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Canaries]:
    """The tripwires."""
    found = Canaries(tmp_path_factory.mktemp("canaries"))
    yield found
    found.close()


@pytest.fixture(scope="session")
def renderer() -> Iterator[Renderer]:
    """Small pictures and a short deadline: most tests care about whether, not about what."""
    with Renderer(48, deadline=4.0) as found:
        yield found
