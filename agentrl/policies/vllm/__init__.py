"""The policy that vLLM computes: in a process of ours, a server of ours, or a server that runs already.

vLLM and the trainer want different versions of the same libraries, so the engine lives in another virtual environment
and this package imports nothing of it. `engine` keeps it alive and its weights whole, `policy` talks through it.
"""

from __future__ import annotations

from agentrl.policies.vllm.engine import VLLMEngine
from agentrl.policies.vllm.policy import VLLMPolicy

__all__ = ["VLLMEngine", "VLLMPolicy"]
