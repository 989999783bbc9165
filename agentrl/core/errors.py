"""One vocabulary of failures.

Three families, told apart by who must act:

* the *user* gets a `ConfigError`, `MissingExtra`, `SnapshotError`, ...: the message says what to change;
* the *policy* never gets an exception: its bad actions are feedback and `info["fault"]`;
* the *machinery* raises a `Fault`: a collector catches it at one boundary, records it on the trajectory, retries
  or sets the trajectory aside, and never turns it into a reward.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Literal

DISTRIBUTION = "agentrl-suite"  # what pip knows the package by: "agentrl" on PyPI is somebody else's package


class AgentRLError(Exception):
    """Base of everything agentrl raises on purpose."""


class ConfigError(AgentRLError, ValueError):
    """An argument that cannot work; the message names the argument and a value that can."""


class MissingExtra(AgentRLError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed; run: {install_command(extra)}")
        self.package, self.extra = package, extra

    def __reduce__(self) -> tuple:
        return type(self), (self.package, self.extra)


class MissingLibrary(MissingExtra):
    """A library that needs a virtual environment of its own, with agentrl in it, is not in this one.

    `library` names its file in `scripts/libraries`; `requirements` are what pip needs elsewhere.
    """

    def __init__(self, library: str, requirements: str) -> None:
        venv = f".venv-{library}"
        super(MissingExtra, self).__init__(
            f"{library} is not installed here; it needs a virtual environment of its own: python3 -m venv {venv} && "
            f"{venv}/bin/pip install {requirements} {DISTRIBUTION} (in a checkout: scripts/setup.sh library:{library})"
        )
        self.package = self.extra = library
        self.requirements = requirements

    def __reduce__(self) -> tuple:
        return type(self), (self.package, self.requirements)


class UnsupportedRepresentation(AgentRLError):
    """The environment's state has no such representation (natural, symbolic, structured)."""


class SnapshotError(AgentRLError, ValueError):
    """A blob that cannot be restored here; the environment was left unchanged."""


class SnapshotUnsupported(AgentRLError):
    """Some layer of the stack has state that cannot be saved."""


class Fault(AgentRLError):
    """Something that is not the policy's doing went wrong; never a reward."""

    def to_json(self) -> dict[str, str]:
        """The record a trajectory keeps of this fault."""
        return {"kind": type(self).__name__, "detail": str(self)}


class EnvFault(Fault):
    """An environment broke, hung or lost its backend."""


class JudgeFault(Fault):
    """A judge gave no usable verdict."""


class EngineFault(Fault):
    """The model that generates actions failed."""


WorkerReason = Literal["start", "died", "deadline", "memory", "raised", "protocol"]


class WorkerFault(Fault):
    """A supervised process could not start, died, missed its deadline, ran out of memory, raised or spoke nonsense.

    `reason` tells these apart. After "start" another try is pointless. After "raised" the process and its state are
    still there, after "protocol" perhaps; after the others a fresh process answers the next call.
    """

    def __init__(self, message: str, reason: WorkerReason) -> None:
        super().__init__(message)
        self.reason: WorkerReason = reason

    def to_json(self) -> dict[str, str]:
        """The record a trajectory keeps of this fault, with its reason."""
        return {**super().to_json(), "reason": self.reason}

    def __reduce__(self) -> tuple:
        return type(self), (str(self), self.reason)


def install_command(extra: str) -> str:
    """What adds an extra to an installed agentrl, however it was installed: from a checkout, a wheel or an index."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`' Did you mean "x"?'`, or nothing when no known word is close."""
    folded = {name.casefold(): name for name in known}
    close = difflib.get_close_matches(word.casefold(), folded, n=1, cutoff=0.5)
    return f' Did you mean "{folded[close[0]]}"?' if close else ""
