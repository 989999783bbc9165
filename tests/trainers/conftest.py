"""Models that many tests share, and one thread for all of them: the tests are about numbers, not about speed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import agentrl  # noqa: F401
from agentrl.trainers.algorithms import sft
from tests.trainers import toys
from tests.trainers.warm import WarmProcess


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def nano(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained model of a few thousand weights."""
    return toys.write_nano_model(tmp_path_factory.mktemp("models") / "nano")


@pytest.fixture(scope="session")
def warm(nano: Path) -> Iterator[WarmProcess]:
    """A process whose forks train at once."""
    process = WarmProcess(nano)
    yield process
    process.close()


@pytest.fixture(scope="session")
def undecided(nano: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same model, taught to say one of the two words of the toy, about equally often."""
    output = tmp_path_factory.mktemp("imitation") / "run"
    many = {"turns": 3}

    args = toys.sft(nano, output, mistake_rate=1.0, iterations=6, demonstrations=64, env_kwargs=many, save_every=6)
    return sft.train(args) / "checkpoints" / "step_6" / "policy"
