"""Arbitrary trajectories for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from agentrl.rollout.trajectory import Step, Trajectory

TEXTS = st.text(st.characters(), max_size=8)  # half characters included
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
WHOLE = st.integers(-(2**80), 2**80)
JSON = st.recursive(
    st.none() | st.booleans() | WHOLE | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
TOKENS = st.lists(st.integers(0, 3) | st.integers(-(2**33), 2**33), max_size=30)
OBJECTS = st.dictionaries(TEXTS, JSON, max_size=2)


@st.composite
def prompts(draw: st.DrawFn, count: int) -> list[tuple[list[int] | None, list[int] | None]]:
    """Prompts and responses that grow as in a conversation, share a head as in step style, or have nothing to do."""
    found: list[tuple[list[int] | None, list[int] | None]] = []
    for _ in range(count):
        before = (found[-1][0] or []) + (found[-1][1] or []) if found else []
        kept = draw(st.sampled_from([0, len(before)]) | st.integers(0, len(before)))
        prompt = draw(st.none() | st.just(before[:kept]) | TOKENS.map(lambda new, b=before, k=kept: b[:k] + new))
        found.append((prompt, draw(st.none() | TOKENS)))
    return found


@st.composite
def steps(draw: st.DrawFn, prompt: list[int] | None, response: list[int] | None) -> Step:
    """One step around given tokens."""
    return Step(
        observation=draw(TEXTS),
        images=draw(st.lists(TEXTS, max_size=2)),
        proprio=draw(st.none() | st.lists(NUMBERS, max_size=3)),
        state=draw(st.none() | st.lists(NUMBERS, max_size=3)),
        action=draw(JSON),
        response=draw(st.none() | TEXTS),
        prompt_ids=prompt,
        response_ids=response,
        logprobs=draw(st.none() | st.lists(NUMBERS, max_size=3)),
        sampling=draw(OBJECTS),
        version=draw(WHOLE),
        reward=draw(NUMBERS),
        reward_terms=draw(st.dictionaries(TEXTS, NUMBERS, max_size=2)),
        pending=draw(st.lists(TEXTS, max_size=2)),
        info=draw(OBJECTS),
    )


@st.composite
def trajectories(draw: st.DrawFn) -> Trajectory:
    """A whole record."""
    tokens = draw(prompts(draw(st.integers(0, 4))))
    final, _ = draw(prompts(1))[0]
    return Trajectory(
        id=draw(TEXTS),
        group_id=draw(st.none() | TEXTS),
        steps=[draw(steps(prompt, response)) for prompt, response in tokens],
        seed=draw(st.none() | WHOLE),
        spec=draw(st.none() | OBJECTS),
        system_prompt=draw(TEXTS),
        terminated=draw(st.booleans()),
        final_images=draw(st.lists(TEXTS, max_size=2)),
        final_prompt_ids=final if not tokens or draw(st.booleans()) else (tokens[-1][0] or []) + (tokens[-1][1] or []),
        fault=draw(st.none() | st.dictionaries(TEXTS, TEXTS, max_size=1)),
        reward=draw(st.none() | NUMBERS),
    )
