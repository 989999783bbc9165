"""An episode as a judge of its outcome sees it: what was asked, what was done, where it ended, what was answered.

Whoever decides an outcome must not be told it. So nothing here reads `success`, rewards or the state, but for the two
things in a state that the agent has read or written itself, and what the environment says about the last turn is taken
out of the last page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentrl.core.parsing import quote
from agentrl.wrappers.base import clean_text
from agentrl.wrappers.history import what_was_done

MAX_CHARS = 100_000  # of one part; judges cut further
OWN_WORDS = ("instruction", "answer")  # of a state: what the agent was told, and what it said

Turns = Sequence[tuple[Any, Mapping[str, Any]]]  # the action of each turn, and `info` after it


def outcome_state(rules: str, first: str, turns: Turns, last: str) -> tuple[dict[str, Any], str]:
    """The state of a judge's request for the purpose "outcome", and its text.

    `rules` are the system prompt, `first` and `last` the texts of the first and the last observation. The instruction
    is `info["instruction"]` or the one in the state; where an environment has none, the rules and the first
    observation are what the agent was told. `info["outcome_page"]` (`AgentEnv.outcome_page`) replaces a last
    observation that tells the result.
    """
    info = turns[-1][1] if turns else {}
    told = own_words(info, "instruction")
    instruction = told or "\n".join(part for part in (rules, first) if part)
    page = info.get("outcome_page")
    page = page if isinstance(page, str) else without_instruction(without_feedback(last, info), told)
    state = {
        "instruction": clean_text(instruction, MAX_CHARS),
        "actions": [action_line(action, info) for action, info in turns],
        "page": clean_text(page, MAX_CHARS),
    }
    return state, clean_text(own_words(info, "answer"), MAX_CHARS)


def own_words(info: Mapping[str, Any], name: str) -> str:
    """The instruction or the answer of an episode; empty where there is none."""
    state = info.get("state")
    for place in (info, state if isinstance(state, Mapping) and name in OWN_WORDS else {}):
        if isinstance(place.get(name), str):
            return place[name]
    return ""


def without_feedback(text: str, info: Mapping[str, Any]) -> str:
    """The last observation without the environment's remark on the last turn, which tells how the episode ended."""
    feedback = info.get("feedback")
    if not isinstance(feedback, str) or not feedback.strip():
        return text
    # The last occurrence: earlier ones may be history, or the page's own.
    before, found, after = text.rpartition(feedback)
    return before.rstrip(" ") + after.lstrip() if found else text


def without_instruction(text: str, instruction: str) -> str:
    """The last observation without the line that repeats the instruction, which a judge is told anyway."""
    line = f"Instruction: {instruction.replace('<', '(')}\n"
    return text.replace(line, "", 1) if instruction else text


def action_line(action: Any, info: Mapping[str, Any]) -> str:
    """A turn on one line: in the environment's words (`info["told_actions"]`) where it has some."""
    told = info.get("told_actions")
    if isinstance(told, (list, tuple)) and told and all(isinstance(each, str) for each in told):
        return quote_line(", ".join(told) + ("" if info.get("valid", True) else " (invalid)"))
    return quote_line(what_was_done(action, dict(info)))


def quote_line(text: str) -> str:
    """On one line, so that no action can pass for two."""
    return " ".join(clean_text(text, 2000).split()) or quote("")
