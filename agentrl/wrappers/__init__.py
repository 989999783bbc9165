"""Wrappers, one concern each; loaded when first used.

Recommended order, from the environment outwards: `ToolCalls`, `Reasoning`, `ReasoningReward`, `RepetitionPenalty`,
`OutcomeReward`, `History`, `RecordEpisode` for language models (trainers put `GoldInfo` around all of them);
`DiscreteActions`, `ImageObservation` for classic RL libraries; `ActionChunks`, `RecordEpisode` for continuous control,
there with `StateObservation` for classic RL libraries.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentrl.wrappers.action_chunks import ActionChunks as ActionChunks
    from agentrl.wrappers.discrete_actions import DiscreteActions as DiscreteActions
    from agentrl.wrappers.gold_info import GoldInfo as GoldInfo
    from agentrl.wrappers.history import History as History
    from agentrl.wrappers.image_observation import ImageObservation as ImageObservation
    from agentrl.wrappers.outcome_reward import OutcomeReward as OutcomeReward
    from agentrl.wrappers.reasoning import Reasoning as Reasoning
    from agentrl.wrappers.reasoning_reward import ReasoningReward as ReasoningReward
    from agentrl.wrappers.record_episode import RecordEpisode as RecordEpisode
    from agentrl.wrappers.repetition_penalty import RepetitionPenalty as RepetitionPenalty
    from agentrl.wrappers.state_observation import StateObservation as StateObservation
    from agentrl.wrappers.tool_calls import ToolCalls as ToolCalls

_LAZY = {
    "ActionChunks": "agentrl.wrappers.action_chunks",
    "DiscreteActions": "agentrl.wrappers.discrete_actions",
    "GoldInfo": "agentrl.wrappers.gold_info",
    "History": "agentrl.wrappers.history",
    "ImageObservation": "agentrl.wrappers.image_observation",
    "OutcomeReward": "agentrl.wrappers.outcome_reward",
    "Reasoning": "agentrl.wrappers.reasoning",
    "ReasoningReward": "agentrl.wrappers.reasoning_reward",
    "RecordEpisode": "agentrl.wrappers.record_episode",
    "RepetitionPenalty": "agentrl.wrappers.repetition_penalty",
    "StateObservation": "agentrl.wrappers.state_observation",
    "ToolCalls": "agentrl.wrappers.tool_calls",
}
__all__ = [
    "ActionChunks",
    "DiscreteActions",
    "GoldInfo",
    "History",
    "ImageObservation",
    "OutcomeReward",
    "Reasoning",
    "ReasoningReward",
    "RecordEpisode",
    "RepetitionPenalty",
    "StateObservation",
    "ToolCalls",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'agentrl.wrappers' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_LAZY])
