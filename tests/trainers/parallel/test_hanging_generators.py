"""Generators of a cluster that hang: ended in bounded time, replaced, asked again; on a little Ray of processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentrl.core.errors import ConfigError
from tests.trainers import toys
from tests.trainers.runs import assert_equal_runs, lines
from tests.trainers.warm import WarmProcess

DRIVER = "tests.trainers.parallel.hanging_driver"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hanging")


@pytest.fixture(scope="module")
def told(undecided: Path, root: Path, warm: WarmProcess) -> dict[str, Any]:
    return warm.run(DRIVER, str(undecided), str(root))


def test_a_run_whose_generator_hangs_ends_with_the_bits_of_one_where_none_does(told, root) -> None:
    assert_equal_runs(root / "sync", root / "hanging", 3)
    assert told["actors"] == 3
    found = [line["async"]["restarts"] for line in lines(root / "hanging", "train")]
    assert found[-1] == {"hosts": 0, "generators": 1, "hung_generators": 1}
    assert found[0]["hung_generators"] == 0  # so there were new weights to take


def test_generators_that_hang_one_after_the_other_end_the_run_with_a_word(told) -> None:
    assert "raise generator_timeout (now 0.5 s)" in told["problem"]


def test_a_generator_must_have_time(nano: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="generator_timeout must be above 0"):
        toys.grpo(nano, tmp_path, generator_timeout=0.0)
