"""Eight fixed episodes by which every adapter is compared with our own collector, and the table that says so.

    ours = play("agentrl/FrozenLake-Text-v0")
    theirs = [Episode(seed=seed, actions=..., reward=..., shown=shown_in(messages), ...) for seed in SEEDS]
    text = compare(theirs, ours)                          # AssertionError where anything that they gave differs
    check_row("skyrl-gym", version, text=text, pictures=compare(theirs_visual, ours_visual))

The answers are fixed by seed and turn (`answer`, `answer_ids`). A field that a library does not have stays None and is
not compared; the row in docs/libraries.md says which were. `AGENTRL_WRITE_LIBRARIES=1 pytest ...` writes the rows.

This module needs agentrl alone, so that a script in another virtual environment can import it (with the checkout in
PYTHONPATH), print `to_json(episodes)` and leave the rest to the test, which calls `from_json`.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

from agentrl.adapters.chat import picture_in
from agentrl.core.policy import Conversation, Generation
from agentrl.rollout.collect import Collector, EnvSpec, Start
from agentrl.rollout.token_rows import conversation_row
from agentrl.rollout.trajectory import Trajectory, picture_hash

TEXT, VISUAL = "agentrl/FrozenLake-Text-v0", "agentrl/FrozenLake-Visual-v0"
ENV_KWARGS = {"max_turns": 4}  # of every episode
SEEDS = range(8)
ANSWERS = {
    0: ("Down, Down, Down", "<answer>Right, Right</answer>"),  # solved
    1: ("Left, Up, Up", "north", "Right, Up"),  # solved after an answer that says nothing
    2: ("Up", "Left, Up"),  # into a hole
    3: ("Jump", "<answer>Up</answer><answer>Left</answer>", "Up, Jump, Left", "Right"),  # out of turns
    4: ("<think>Around the hole.</think><answer>Down, Left, Left</answer>", "up, UP"),  # solved
    5: ("<think>Left is ice.</think><answer>Left", "Left", "Left", "Right"),  # out of turns
    6: ("Up, Up, Left, Down", 'Go "north" \\ nördlich', "Up", "Left, Left"),  # solved; surplus, then invalid
    7: ("Right", "Up", "Right", "Up, Up"),  # solved in the last turn
}
CUT = {(3, 2), (5, 0)}  # answers (seed, turn) that end at the limit of tokens, without the token that ends a message
TOKENS = ("prompt_ids", "completion_ids", "mask")


@dataclass(kw_only=True)
class Episode:
    """What is compared; None for what a library does not have."""

    seed: int
    actions: list[Any]  # what env.step got
    reward: float  # the sum
    rewards: list[float] | None = None  # of each turn
    terminated: bool | None = None
    truncated: bool | None = None
    success: bool | None = None
    shown: list[str] | None = None  # the observation before each answer; `<image HASH>` where a picture stands
    prompt_ids: list[int] | None = None
    completion_ids: list[int] | None = None
    mask: list[int] | None = None  # 1 where the model wrote


# ---------------------------------------------------------------------- the scripted model


def answer(seed: int, turn: int) -> str:
    """What is answered in this turn (from 0) of the episode of this seed."""
    return ANSWERS[seed][turn]


def answer_ids(encoder: Any, seed: int, turn: int) -> list[int]:
    """The same as the tokens that a model would have sampled (`encoder` is a `PromptEncoder`)."""
    end = [] if (seed, turn) in CUT else [encoder.tokenizer.eos_token_id]
    return [*encoder.text_ids(answer(seed, turn)), *end]


class ScriptedPolicy:
    """Plays `ANSWERS`; with an encoder it knows tokens, too."""

    name = "scripted"

    def __init__(self, encoder: Any = None) -> None:
        self.encoder = encoder

    def act(self, conversations: Sequence[Conversation], envs: Sequence[gym.Env] | None = None) -> list[Generation]:
        """The answer of the seed and turn that each environment and its conversation show."""
        return [self._answer(conversation, env) for conversation, env in zip(conversations, envs or [], strict=True)]

    def _answer(self, conversation: Conversation, env: gym.Env) -> Generation:
        seed = int(env.unwrapped.np_random_seed or 0)
        turn = sum(message["role"] == "assistant" for message in conversation)
        said, why = answer(seed, turn), "length" if (seed, turn) in CUT else "stop"
        if self.encoder is None:
            return Generation(said, said, finish_reason=why)
        ids, prompt = answer_ids(self.encoder, seed, turn), self.encoder.encode(conversation).ids
        return Generation(said, said, ids, [-1.0] * len(ids), why, prompt_ids=prompt)


def play(env_id: str = TEXT, encoder: Any = None) -> list[Episode]:
    """The eight episodes as our own collector plays them; with an encoder also their tokens."""
    collector = Collector([EnvSpec(env_id, dict(ENV_KWARGS))], ScriptedPolicy(encoder))
    played = collector.collect([Start(seed) for seed in SEEDS]).trajectories
    collector.close()
    return [episode_of(trajectory, tokens=encoder is not None) for trajectory in played]


def episode_of(trajectory: Trajectory, tokens: bool = False) -> Episode:
    """A record of our own as an episode to compare."""
    assert trajectory.fault is None and trajectory.seed is not None, trajectory.fault
    steps = trajectory.steps
    found = Episode(
        seed=trajectory.seed,
        actions=[step.action for step in steps],
        reward=math.fsum(step.reward for step in steps),
        rewards=[step.reward for step in steps],
        terminated=trajectory.terminated,
        truncated=trajectory.truncated,
        success=trajectory.success,
        shown=[_marked(step.observation, step.images) for step in steps],
    )
    if tokens:
        row = conversation_row(trajectory)
        found.prompt_ids, found.completion_ids, found.mask = row.prompt_ids, row.completion_ids, row.mask
    return found


# ---------------------------------------------------------------------- what an adapter gave


def shown_in(messages: Iterable[Mapping[str, Any]]) -> list[str]:
    """What the user's messages of a chat in OpenAI's form show, as `Episode.shown`."""
    return [shown_by(message["content"]) for message in messages if message["role"] == "user"]


def shown_by(content: str | Sequence[Mapping[str, Any]]) -> str:
    """One content of a message: a text, or parts with pictures as data URLs."""
    if isinstance(content, str):
        return content
    parts = ((part["type"], part.get("text"), part.get("image_url", {}).get("url")) for part in content)
    return "".join(text if kind == "text" else f"<image {hash_of_url(url)}>" for kind, text, url in parts)


def hash_of_url(url: str) -> str:
    """The name of the picture in a data URL."""
    return picture_hash(np.asarray(picture_in(url)))


def _marked(text: str, names: Iterable[str]) -> str:
    for name in names:
        text = text.replace("<image>", f"<image {name}>", 1)
    return text


def to_json(episodes: Iterable[Episode]) -> str:
    """One line, for a script to print."""
    return json.dumps([asdict(episode) for episode in episodes])


def from_json(line: str) -> list[Episode]:
    """Inverse of `to_json`."""
    return [Episode(**fields) for fields in json.loads(line)]


def compare(theirs: Iterable[Episode], ours: Iterable[Episode]) -> frozenset[str]:
    """The fields that all episodes of a library have, each equal to our own; `AssertionError` names what differs."""
    theirs, ours = (sorted(episodes, key=lambda one: one.seed) for episodes in (theirs, ours))
    assert [one.seed for one in theirs] == [one.seed for one in ours]
    pairs = [(vars(one), vars(other)) for one, other in zip(theirs, ours, strict=True)]
    given = {name for name in pairs[0][0] if any(one[name] is not None for one, _ in pairs)}
    for one, other in pairs:
        for name in sorted(given):
            where = f"seed {other['seed']}: {name} must be {other[name]!r}; got {one[name]!r}"
            assert _same(one[name], other[name]), where
    return frozenset(given)


def _same(one: Any, other: Any) -> bool:
    """Equal; numbers of 32 bits may have lost the digits that they cannot hold."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, float) or isinstance(other, float):
        return isinstance(one, (int, float)) and math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-7)
    return type(one) is type(other) and one == other


# ---------------------------------------------------------------------- the table of docs/libraries.md

PAGE = Path(__file__).parents[2] / "docs" / "libraries.md"
BEGIN, END = "<!-- tables: libraries -->\n", "<!-- end of tables -->\n"
COLUMNS = ("library", "version", "text", "pictures", "turn rewards", "exact tokens")
Fields = frozenset[str]


def row(
    library: str, version: str, text: Fields | None, pictures: Fields | None, remarks: Mapping[str, str] | None = None
) -> str:
    """A library's row, from the fields that `compare` found equal in Text and in Visual episodes (None: not possible).

    `remarks` are put into brackets behind the word of a column.
    """
    seen = (text or frozenset()) | (pictures or frozenset())
    facts = {
        "text": text is not None,
        "pictures": pictures is not None and "shown" in pictures,
        "turn rewards": "rewards" in seen,
        "exact tokens": seen.issuperset(TOKENS),
    }
    notes = {name: f" ({remark})" for name, remark in (remarks or {}).items()}
    assert facts.keys() >= notes.keys(), notes
    words = [("yes" if fact else "no") + notes.get(name, "") for name, fact in facts.items()]
    return f"| {' | '.join([library, version, *words])} |\n"


def check_row(
    library: str,
    version: str,
    *,
    text: Fields | None = None,
    pictures: Fields | None = None,
    remarks: Mapping[str, str] | None = None,
    page: Path = PAGE,
) -> None:
    """Is the library's row in the documentation what was found? With AGENTRL_WRITE_LIBRARIES=1 it is written."""
    found, whole = row(library, version, text, pictures, remarks), page.read_text(encoding="utf-8")
    before, _, rest = whole.partition(BEGIN)
    table, _, after = rest.partition(END)
    lines = table.splitlines(keepends=True)[2:]
    if os.environ.get("AGENTRL_WRITE_LIBRARIES") != "1":
        known = [line for line in lines if line.startswith(f"| {library} |")]
        assert known == [found], f"docs/libraries.md must say {found!r}; it says {known} (AGENTRL_WRITE_LIBRARIES=1)"
        return
    others = [line for line in lines if not line.startswith(f"| {library} |")]
    head = [f"| {' | '.join(COLUMNS)} |\n", f"|{'---|' * len(COLUMNS)}\n"]
    table = "".join([*head, *sorted([*others, found], key=str.lower)])
    page.write_text(f"{before}{BEGIN}{table}{END}{after}", encoding="utf-8")
