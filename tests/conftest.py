"""What the whole test suite shares: figures that a test measured are printed at the end of the run."""

from __future__ import annotations

from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print every `record_property("figures", ...)`; reports carry them from worker processes as well."""
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    lines = [
        f"{getattr(report, 'nodeid', '').rpartition('::')[2]}: {value}"
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if name == "figures" and getattr(report, "when", "") == "call"
    ]
    if lines:
        terminalreporter.section("figures")
        for line in sorted(lines):
            terminalreporter.write_line(line)
