"""What all tests share: markers for what a test needs of its machine, and a summary of what was skipped and measured.

A test that some machines cannot run has one of the markers below (`pytest --markers` lists them). Where its requirement
is missing it is skipped, and the summary says why; with `--require-all`, as in `make test`, it fails instead.
"""

from __future__ import annotations

import gc
from collections import Counter
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from agentrl.core.errors import AgentRLError
from agentrl.core.interpreter import CHECKOUT
from agentrl.registry import FAMILIES, TABLE, is_available

FAMILY_TESTS = Path(__file__).parent / "envs"
# The extras of the table of environments: a test with the marker extra_NAME needs the extra NAME.
EXTRAS = {f"extra_{entry.extra}": entry for entry in TABLE if entry.extra}
REQUIREMENTS = {
    "vllm": "needs vLLM in an environment of its own (scripts/setup.sh vllm)",
    "lerobot": "needs lerobot in an environment of its own (scripts/setup.sh lerobot)",
    "warp": "needs MuJoCo Warp in an environment of its own (scripts/setup.sh warp)",
    "browser": "needs Playwright (the extra browser) and Chromium (Debian: chromium)",
    "c_kernel": "needs the compiled kernels (a C compiler at installation)",
    **{marker: f"needs the extra {entry.extra}" for marker, entry in EXTRAS.items()},
}
LIBRARY = "needs another library in an environment of its own (scripts/setup.sh library:{})"

# A shared machine may stop for seconds at any time: how long an example takes says nothing.
settings.register_profile("agentrl", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("agentrl")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let `make test` refuse a machine that cannot run everything."""
    parser.addoption("--require-all", action="store_true", help="fail tests whose requirements are missing")


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers."""
    for name, what in REQUIREMENTS.items():
        config.addinivalue_line("markers", f"{name}: {what}")
    config.addinivalue_line("markers", f"library(name): {LIBRARY.format('NAME')}; only `make test-libraries` runs it")
    config.addinivalue_line("markers", "long: the same once more with larger numbers; only `make test-all` runs it")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the folder of a family whose extra is missing: its files import it. The summary lists it."""
    missing = any(collection_path == FAMILY_TESTS / name for name in unavailable_families())
    return True if missing and not config.getoption("--require-all") else None


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Mark the folder of a family that needs an extra, and so all of its tests."""
    for family in FAMILIES if collector.path.parent == FAMILY_TESTS else ():
        if family.name == collector.path.name:
            for extra in sorted({entry.extra for entry in family.envs if entry.extra}):
                collector.add_marker(f"extra_{extra}")


def pytest_collection() -> None:
    """Let no garbage collection look through the thousands of tests again and again: not while they are made ..."""
    gc.disable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Half a minute of training by two processes comes first: at the end the other worker would wait for it."""
    items.sort(key=lambda item: "trainers/parallel" not in item.nodeid)


def pytest_collection_finish() -> None:
    """... and not later."""
    gc.freeze()
    gc.enable()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip, or fail, a test whose requirement is missing."""
    refuse = pytest.fail if item.config.getoption("--require-all") else pytest.skip
    for mark in item.iter_markers():
        if mark.name in REQUIREMENTS and is_missing(mark.name):
            refuse(REQUIREMENTS[mark.name])
        if mark.name == "library" and not (CHECKOUT / f".venv-{mark.args[0]}" / "bin" / "python").exists():
            refuse(LIBRARY.format(mark.args[0]))


@cache
def is_missing(marker: str) -> bool:
    """Can this machine not run tests with this marker?"""
    if marker in EXTRAS:
        return not is_available(EXTRAS[marker])
    if marker == "browser":
        return not has_browser()
    if marker == "warp":
        return find_spec("mujoco_warp") is None
    if marker == "c_kernel":
        from agentrl.envs.common.search import kernel as search
        from agentrl.envs.grid import kernel as grid

        return {search.kernel_name(), grid.kernel_name()} != {"c"}
    from agentrl.core.interpreter import find_interpreter
    from agentrl.policies.vllm.backend import VLLM
    from tests.adapters.referee import LEROBOT

    try:
        find_interpreter({"vllm": VLLM, "lerobot": LEROBOT}[marker])
    except AgentRLError:
        return True
    return False


def has_browser() -> bool:
    """Is there a Chromium and something to drive it?"""
    try:
        from agentrl.envs.common.browser import find_chromium

        find_chromium()
    except AgentRLError:
        return False
    return True


@cache
def unavailable_families() -> dict[str, str]:
    """Families without a single environment that can be made here, with the reason."""
    return {
        family.name: ", ".join(sorted({REQUIREMENTS[f"extra_{entry.extra}"] for entry in family.envs}))
        for family in FAMILIES
        if not any(is_available(entry) for entry in family.envs)
    }


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """List what this machine could not run, and every `record_property("figures", ...)`."""
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    skipped = Counter(reason for report in reports if (reason := skip_reason(report)) in REQUIREMENTS.values())
    lines = [f"{count} tests skipped: each {reason}" for reason, count in skipped.items()]
    if not terminalreporter.config.getoption("--require-all"):
        lines += [f"tests/envs/{name} left out: it {reason}" for name, reason in unavailable_families().items()]
    write_section(terminalreporter, "not run on this machine", lines)
    figures = [
        f"{getattr(report, 'nodeid', '').rpartition('::')[2]}: {value}"
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if name == "figures" and getattr(report, "when", "") == "call"
    ]
    write_section(terminalreporter, "figures", figures)


def skip_reason(report: Any) -> str | None:
    """Why a test was skipped; None if it was not."""
    reason = report.longrepr[2] if getattr(report, "skipped", False) and isinstance(report.longrepr, tuple) else None
    return reason.removeprefix("Skipped: ") if reason else None


def write_section(terminalreporter: Any, title: str, lines: list[str]) -> None:
    """A titled list, if there is anything to list."""
    if lines:
        terminalreporter.section(title)
    for line in sorted(lines):
        terminalreporter.write_line(line)
