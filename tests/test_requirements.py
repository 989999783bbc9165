"""A test that this machine cannot run is listed with its reason, and fails where everything must run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NEEDS_THE_KERNEL = "tests/envs/grid/test_vector.py::test_compiled_and_numpy_kernels_agree_to_the_bit"


def without_the_kernel(*options: str) -> tuple[int, str]:
    """Run a test that needs the compiled kernel as on a machine without one: status and output."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", NEEDS_THE_KERNEL, *options]
    variables = {**os.environ, "AGENTRL_KERNEL": "numpy"}
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout


def test_a_missing_requirement_skips_a_test_and_is_listed() -> None:
    status, output = without_the_kernel()
    assert status == 0 and "1 skipped" in output
    assert "1 tests skipped: each needs the compiled kernels (a C compiler at installation)" in output


def test_a_missing_requirement_fails_where_everything_must_run() -> None:
    status, output = without_the_kernel("--require-all")
    assert status == 1 and "1 error" in output
    assert "needs the compiled kernels" in output


def test_every_environment_with_an_extra_has_a_marker(pytestconfig) -> None:
    from agentrl.registry import TABLE

    registered = {line.partition(":")[0] for line in pytestconfig.getini("markers")}
    assert {f"extra_{entry.extra}" for entry in TABLE if entry.extra} <= registered
