"""The name by which verifiers finds agentrl: `vf-eval agentrl-verifiers` (see `agentrl.adapters.verifiers`)."""

from agentrl.adapters.verifiers import AgentRLEnv, AgentRLTaskset

__all__ = ["AgentRLEnv", "AgentRLTaskset"]
