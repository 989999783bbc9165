"""ReAct-style prompting around any policy that reads conversations: think aloud, then act.

The instructions are the same for every environment. The examples are episodes that the environment's own oracle plays
on fixed tasks of the train split, with thoughts made of the environment's own description of its state; so nothing is
written by hand for any environment, and nothing of the tasks that are evaluated is shown.
"""

from __future__ import annotations

import copy
import logging
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

from agentrl.core.arguments import whole_number
from agentrl.core.errors import AgentRLError, ConfigError
from agentrl.core.policy import Conversation, Generation, Message, Policy
from agentrl.policies import load_policy

log = logging.getLogger(__name__)

INSTRUCTIONS = """
How to reply, whatever else was said about it: in exactly two parts, each beginning on a line of its own.
Thought: what you see, where you are, and what should happen next, in one to three sentences.
Action: the action of this turn and nothing else.
Stop after the action; the next observation comes from the environment, do not write it yourself."""
FACTS_TOLD = 3  # of a state with many facts, the first ones are about what matters
EXAMPLE_SEEDS = range(70_001, 71_000)  # of the train split
TRIES_PER_EXAMPLE = 10


class ReActPolicy:
    """`react:POLICY`: adds instructions and examples, and takes the action out of the reply.

    `inner` is a policy or its name ("openai:MODEL", "hf:DIR"), which is then loaded with `options`. `examples` is how
    many solved episodes are shown; they need the environments (`act(conversations, envs)`) and an oracle, and are left
    out where there is none. The text of a generation stays the model's own; its `action` is what was read from it.
    """

    name = "react"

    def __init__(self, inner: str | Policy, *, examples: int = 2, seed: int = 0, **options: Any) -> None:
        if isinstance(inner, str):
            inner = load_policy(inner, seed=seed, **options)
        elif options:
            raise ConfigError(f"options of a ready policy cannot be changed: {', '.join(options)}")
        self.inner: Policy = inner
        self.needs_text = True
        self.batched = bool(getattr(inner, "batched", False))
        self.examples = whole_number("examples", examples, at_least=0, at_most=20)
        self.tokenizer_hash = getattr(inner, "tokenizer_hash", None)
        self.replies: Counter[str] = Counter()  # how replies were read: "clean", "repaired", "unread"
        self._shown: dict[str, list[Message]] = {}

    def act(self, conversations: Sequence[Conversation], envs: Sequence[gym.Env] | None = None) -> list[Generation]:
        """One answer to each conversation."""
        behind: Sequence[gym.Env | None] = [None] * len(conversations) if envs is None else envs
        asked = [self.prompt(*pair) for pair in zip(conversations, behind, strict=True)]
        answers = self.inner.act(asked, envs)
        found = []
        for answer, env in zip(answers, behind, strict=True):
            action, how = read_reply(answer.text, Grammar.of(env))
            self.replies[how] += 1
            found.append(replace(answer, action=action))
        return found

    def prompt(self, conversation: Conversation, env: gym.Env | None = None) -> list[Message]:
        """The conversation with instructions and examples in front."""
        messages = list(conversation)
        rules = messages.pop(0)["content"] if messages and messages[0]["role"] == "system" else ""
        system: Message = {"role": "system", "content": f"{rules}\n{INSTRUCTIONS}".strip()}
        if env is None or not self.examples:
            return [system, *messages]
        if env.has_wrapper_attr("gold") or getattr(env.unwrapped, "reply_format", ""):
            raise ConfigError("react sets its own reply format; remove the wrapper or option that asks for another")
        # The same for environments that get the same examples.
        key = repr(env.spec) if env.spec is not None else type(env.unwrapped).__name__
        if key not in self._shown:
            try:
                self._shown[key] = solved_episodes(env, self.examples)
            except (AgentRLError, gym.error.Error, TypeError, ValueError) as error:
                log.warning("no ReAct examples for %s: %s", key[:80], error)
                self._shown[key] = []
        return [system, *self._shown[key], *messages]

    def metrics(self) -> dict[str, float]:
        """How many replies were read as they stood, repaired, or not understood; and what the inner policy counts."""
        counted = getattr(self.inner, "metrics", dict)()
        return {**counted, **{name: self.replies[name] for name in ("clean", "repaired", "unread")}}

    def close(self) -> None:
        """Close the inner policy, where that means something."""
        getattr(self.inner, "close", lambda: None)()


def solved_episodes(env: gym.Env, count: int) -> list[Message]:
    """`count` episodes played by the oracle of a copy of this environment, on the train split."""
    if env.spec is None:
        raise ConfigError("it was not made by gym.make, so it cannot be made a second time")
    spec = copy.deepcopy(env.spec)
    spec.kwargs |= {"split": "train", "render_mode": None}
    example, found = gym.make(spec), []
    try:
        if not example.has_wrapper_attr("oracle"):
            raise ConfigError("it has no oracle()")
        for seed in EXAMPLE_SEEDS[: count * TRIES_PER_EXAMPLE]:
            if episode := solved_episode(example, seed):
                found.append(episode)
            if len(found) == count:
                break
    finally:
        example.close()
    if not found:
        raise ConfigError("its oracle solves none of the tasks that were tried")
    messages: list[Message] = []
    for number, (first, *rest) in enumerate(found, 1):
        messages += [{**first, "content": f"Example {number}.\n{first['content']}"}, *rest]
    return messages


def solved_episode(env: gym.Env, seed: int) -> list[Message]:
    """Observation and exemplary reply, turn by turn; empty if the oracle did not solve it."""
    observation, info = env.reset(seed=seed)
    messages: list[Message] = []
    over = False
    while not over:
        action = env.get_wrapper_attr("oracle")()
        if not isinstance(action, str):
            return []
        parts = observation if isinstance(observation, dict) else {}
        pictures = [v for v in parts.values() if isinstance(v, np.ndarray) and v.dtype == np.uint8 and v.ndim == 3]
        messages += [
            {"role": "user", "content": str(parts.get("text", "")), "images": pictures},
            {"role": "assistant", "content": exemplary_reply(env, action)},
        ]
        observation, _, terminated, truncated, info = env.step(action)
        over = terminated or truncated
    return messages if info.get("success") else []


def exemplary_reply(env: gym.Env, action: str) -> str:
    """What a good reply looks like here: what is the case, what to do about it, and the action."""
    base: Any = env.unwrapped
    facts = base.state().natural()[:FACTS_TOLD] if "natural" in getattr(base, "representations", ()) else []
    seen = " ".join(f"{fact[:1].upper()}{fact[1:]}." for fact in facts)
    return f"Thought: {seen} The way on from here is: {action}.\nAction: {action}".replace(":  ", ": ")


# ---------------------------------------------------------------------- reading replies
#
# Of the form "Thought: ... Action: ...", with the slips that models make. Repairs change the form of what was said,
# never its content: marks around it go, and where an environment names its actions, those names are found in the line
# of the action. What cannot be read goes to the environment as it stands, which then says so; no action is made up.

MAX_LENGTH = 20_000  # letters of a reply that are looked at, from its end
# No pattern here may run across lines or match one text in two ways: models write hostile repetitions by themselves.
_START = r"^[ \t>*_#`-]*"
_LABEL = re.compile(_START + r"(?:final +)?(?:action|answer)(?: ?\d+)?[*_` \t]*[:=][*_`]*[ \t]*", re.I | re.M)
_NEXT = re.compile(_START + r"(?:observation|thought|example)(?: ?\d+)?[*_` \t]*[:.]", re.I | re.M)
_MADE_UP = re.compile(_START + r"(?:observation|example \d+)[*_` \t]*[:.]", re.I | re.M)
_OPEN, _CLOSE = re.compile(r"<(?:answer|action)>", re.I), re.compile(r"</(?:answer|action)>", re.I)
_MARKS = "`*_\"' \t\r\n[](){}<>"
_PAIRS = ("**", "**"), ("`", "`"), ('"', '"'), ("'", "'"), ("[", "]"), ("(", ")")
_GLUE = re.compile(r"(?:\s|[,;|.>/&+-]|\band\b|\bthen\b|\b(?:move|go|step|walk|push)\b|\d+[.)])*", re.I)


class Grammar(NamedTuple):
    """The names of an environment's actions, and how it joins several; no names: anything may be an action."""

    names: tuple[str, ...] = ()
    separator: str = ", "

    @classmethod
    def of(cls, env: gym.Env | None) -> Grammar:
        """What an environment says about itself."""
        base: Any = None if env is None else env.unwrapped
        return cls(tuple(getattr(base, "action_names", ())), str(getattr(base, "action_separator", ", ")))


ANYTHING = Grammar()


def read_reply(text: str, grammar: Grammar = ANYTHING) -> tuple[str, str]:
    """(the action, how it was read: "clean", "repaired" or "unread")."""
    said = text[-MAX_LENGTH:]
    first = _LABEL.search(said)
    # Where a model goes on to play the environment too, nothing behind that was an answer to a real observation.
    if first and (made_up := _MADE_UP.search(said, first.end())):
        said = said[: made_up.start()]
    line, labelled = _last_action(said)
    if line is None:
        return text, "unread"
    action = _by_names(line, grammar) if grammar.names else _unwrapped(line)
    if not action:
        return (line.strip() or text), "unread"
    clean = labelled and said == text and text.rstrip().endswith(f"Action: {action}")
    return action, "clean" if clean else "repaired"


def _last_action(text: str) -> tuple[str | None, bool]:
    """What stands behind the last label; or inside the last tags; or on the only line. And: was it labelled?"""
    if labels := list(_LABEL.finditer(text)):
        rest = text[labels[-1].end() :]
        rest = rest[: following.start()] if (following := _NEXT.search(rest)) else rest
        inside = _inside_tags(rest)
        if inside is not None:
            return inside, False
        # A label alone on its line is followed by the action's line.
        return next((line for line in rest.splitlines() if line.strip(_MARKS)), ""), True
    if (inside := _inside_tags(text)) is not None:
        return inside, False
    lines = text.strip().splitlines()
    return (lines[0], False) if len(lines) == 1 else (None, False)


def _inside_tags(text: str) -> str | None:
    """What stands inside the last closed pair of tags."""
    closed = list(_CLOSE.finditer(text))
    opened = [tag for tag in _OPEN.finditer(text) if closed and tag.end() <= closed[-1].start()]
    return text[opened[-1].end() : closed[-1].start()] if opened else None


def _unwrapped(line: str) -> str:
    """Without marks that stand around the whole; those inside may be part of the action."""
    line, before = line.strip(), None
    while line != before:
        before = line
        for left, right in _PAIRS:
            if len(line) > len(left) + len(right) and line.startswith(left) and line.endswith(right):
                inner = line[len(left) : -len(right)]
                # click('a') and type('b'): the first quote and the last are not a pair.
                line = line if left in inner or right in inner else inner.strip()
    return line


def _by_names(line: str, grammar: Grammar) -> str | None:
    """The actions named in a line that holds little else; None where it is a sentence or nothing of the kind."""
    names = {name.casefold(): name for name in grammar.names}
    pattern = re.compile(
        "|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in sorted(names, key=len, reverse=True)), re.I
    )
    found, rest = [], []
    start = 0
    for match in pattern.finditer(line):
        found.append(names[match[0].casefold()])
        rest.append(line[start : match.start()])
        start = match.end()
    rest.append(line[start:])
    plain = all(_GLUE.fullmatch(piece.strip(_MARKS)) for piece in rest)
    return grammar.separator.join(found) if found and plain else None
