"""What a run of the test kit found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Status = Literal["ok", "failed", "unavailable"]


class CheckFailed(AssertionError):
    """A check found what it was looking for; the message becomes its detail."""


class CheckSkipped(Exception):
    """The environment does not offer what a check is about; the message becomes its detail."""


def require(condition: Any, detail: str) -> None:
    """Fail the running check unless the condition holds."""
    if not condition:
        raise CheckFailed(detail)


@dataclass(frozen=True)
class Check:
    """The result of one named check; `detail` says what was covered, what is wrong, or why the check was skipped."""

    name: str
    passed: bool  # a check that was skipped found nothing wrong either
    detail: str
    skipped: bool = False

    @property
    def verdict(self) -> str:
        """In one word, as the report prints it."""
        return "skipped" if self.skipped else "pass" if self.passed else "FAIL"

    def to_json(self) -> dict[str, Any]:
        """The entry in a report's `checks`."""
        return {"name": self.name, "pass": self.passed, "skipped": self.skipped, "detail": self.detail}


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

    @property
    def skipped(self) -> tuple[Check, ...]:
        """The checks of something that the environment does not offer."""
        return tuple(check for check in self.checks if check.skipped)

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
        verdicts = max((len(check.verdict) for check in self.checks), default=0)
        lines = [f"{self.id}: {self.status} ({len(self.checks)} checks, {self.seconds:.1f} s)"]
        for check in self.checks:
            detail = check.detail.replace("\n", "\n" + " " * (width + verdicts + 5))
            lines.append(f"  {check.verdict:<{verdicts}}  {check.name:<{width}}  {detail}".rstrip())
        return "\n".join(lines)
