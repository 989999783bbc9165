"""The example scripts for robots run from end to end; what they learn in minutes is measured in docs/results."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.extra_robots


def example(name: str) -> ModuleType:
    path = Path(__file__).parents[2] / "examples" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_sac_trains_and_is_evaluated_on_unseen_starts(capsys: pytest.CaptureFixture[str]) -> None:
    sac = example("sac_reach")
    result = sac.run(sac.Arguments(steps=20, every=20, dev_episodes=1, test_episodes=1))
    assert result["steps"] == 20 and 0 <= result["test_success"] <= 1
    assert "step 20: " in capsys.readouterr().out
