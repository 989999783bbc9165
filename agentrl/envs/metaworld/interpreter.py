"""A virtual environment for Meta-World's package, which wants an older MuJoCo than others (MuJoCo Warp)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentrl.core.errors import DISTRIBUTION
from agentrl.core.interpreter import InterpreterSpec, set_up_interpreter
from agentrl.core.measure import CHECKOUT, IN_CHECKOUT

INTERPRETER = InterpreterSpec(
    package="metaworld",
    variable="AGENTRL_METAWORLD_PYTHON",
    folder=".venv-metaworld",
    setup="agentrl setup metaworld",
    install="agentrl setup metaworld",
)


def setup(say: Callable[[str], None], folder: str | None = None) -> dict[str, Any]:
    """What `agentrl setup metaworld` does."""
    package = f"{CHECKOUT}[metaworld]" if IN_CHECKOUT else f"{DISTRIBUTION}[metaworld]"
    return set_up_interpreter(INTERPRETER, [package], say, folder)
