"""What a run of the test kit found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Status = Literal["ok", "failed", "unavailable"]


class CheckFailed(AssertionError):
    """A check found what it was looking for; the message becomes its detail."""


def require(condition: Any, detail: str) -> None:
    """Fail the running check unless the condition holds."""
    if not condition:
        raise CheckFailed(detail)


@dataclass(frozen=True)
class Check:
    """The result of one named check; `detail` says what was covered, or what is wrong."""

    name: str
    passed: bool
    detail: str

    def to_json(self) -> dict[str, Any]:
        """The entry in a report's `checks`."""
        return {"name": self.name, "pass": self.passed, "detail": self.detail}


@dataclass(frozen=True)
class Report:
    """Every check of one environment. "unavailable" means that an optional dependency is missing: nothing was shown."""

    id: str
    status: Status
    seconds: float
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """True only if the environment could be made and no check failed."""
        return self.status == "ok"

    @property
    def failures(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if not check.passed)

    def to_json(self) -> dict[str, Any]:
        """One entry of `envs` in what `agentrl check --json` prints."""
        return {
            "id": self.id,
            "status": self.status,
            "pass": self.passed,
            "seconds": self.seconds,
            "checks": [check.to_json() for check in self.checks],
        }

    def raise_for_failure(self) -> None:
        """`AssertionError` with the whole report unless everything passed."""
        if not self.passed:
            raise AssertionError(f"{self}")

    def __str__(self) -> str:
        width = max((len(check.name) for check in self.checks), default=0)
        lines = [f"{self.id}: {self.status} ({len(self.checks)} checks, {self.seconds:.1f} s)"]
        for check in self.checks:
            detail = check.detail.replace("\n", "\n" + " " * (width + 9))
            lines.append(f"  {'pass' if check.passed else 'FAIL'}  {check.name:<{width}}  {detail}".rstrip())
        return "\n".join(lines)
