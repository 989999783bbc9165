"""From trajectories to rows: every token once, nothing earned is lost, and both layouts hold the same numbers."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from agentrl.core.errors import ConfigError
from agentrl.rollout.trajectory import Step, Trajectory
from agentrl.trainers.update.batch import Batch, Row, micro_batches, padded, padding_share, rows_of, shuffled_parts
from tests.trainers.episodes import conversation, episode

TOKENS = st.lists(st.integers(0, 5), max_size=4)


@st.composite
def trajectories(draw: st.DrawFn) -> Trajectory:
    """Prompts that continue what was said, break off or begin anew; replies of any length, none included."""
    turns: list[tuple[list[int], list[int]]] = []
    for _ in range(draw(st.integers(1, 4))):
        before = [*turns[-1][0], *turns[-1][1]] if turns else []
        kept = before[: draw(st.sampled_from([0, max(0, len(before) - 1), len(before)]))]
        turns.append(([*kept, 9, *draw(TOKENS)], draw(TOKENS)))
    rewards = [draw(st.integers(-4, 4)) / 4 for _ in turns]
    return episode(turns, rewards)


def acted(row: Row) -> list[tuple[int, int, float]]:
    chosen = zip(row.targets, row.acted, row.steps, row.logprobs, strict=True)
    return [(step, row.ids[place], logprob) for place, own, step, logprob in chosen if own]


def said(trajectory: Trajectory) -> list[tuple[int, int, float]]:
    steps = enumerate(trajectory.steps)
    return [(n, *pair) for n, step in steps for pair in zip(step.response_ids, step.logprobs, strict=True)]  # pyright: ignore


@given(trajectories(), st.booleans())
def test_every_action_token_stands_in_exactly_one_row_behind_its_very_prompt(trajectory, observations) -> None:
    rows = rows_of(trajectory, observations=observations)
    assert [token for row in rows for token in acted(row)] == said(trajectory)
    for row in rows:
        for index, step in enumerate(trajectory.steps):
            places = [p for p, s, own in zip(row.targets, row.steps, row.acted, strict=True) if s == index and own]
            if places:
                assert row.ids[: places[0]] == step.prompt_ids
                assert places == list(range(places[0], places[0] + len(step.response_ids)))  # pyright: ignore
        ends = [(s, own) for s, own, end in zip(row.steps, row.acted, row.turn_ends, strict=True) if end]
        assert all(own for _, own in ends) and len({s for s, _ in ends}) == len(ends)


def test_a_conversation_is_one_row_and_step_style_has_a_row_for_each_step() -> None:
    whole = rows_of(conversation([[4, 5], [6]]))
    assert len(whole) == 1
    assert whole[0].ids == [1, 2, 3, 4, 5, 7, 8, 6] and whole[0].targets == [3, 4, 7]
    assert whole[0].turn_ends == [False, True, True] and whole[0].steps == [0, 0, 1]
    apart = rows_of(episode([([1, 2], [4, 5]), ([1, 3], [6])], prompt_style="step"))
    assert [row.ids for row in apart] == [[1, 2, 4, 5], [1, 3, 6]]
    assert [row.targets for row in apart] == [[2, 3], [2]]


def test_a_reply_that_the_template_ends_with_another_token_begins_a_new_row_with_all_pictures_so_far() -> None:
    # The reply ended with token 0; the template writes 9 in its place.
    trajectory = episode([([1, 2], [4, 0]), ([1, 2, 4, 9, 7], [5, 9])])
    trajectory.steps[0].images, trajectory.steps[1].images = ["a"], ["b"]
    trajectory.pictures = {"a": "picture a", "b": "picture b"}
    rows = rows_of(trajectory)
    assert [row.ids for row in rows] == [[1, 2, 4, 0], [1, 2, 4, 9, 7, 5, 9]]
    assert [row.images for row in rows] == [["picture a"], ["picture a", "picture b"]]
    trajectory.prompt_style = "step"
    assert [row.images for row in rows_of(trajectory)] == [["picture a"], ["picture b"]]


def test_one_row_shows_the_pictures_of_all_its_steps_in_order() -> None:
    trajectory = conversation([[4], [5], [6]])
    for step, name in zip(trajectory.steps, "abc", strict=True):
        step.images = [name]
    trajectory.pictures = dict(zip("abc", "ABC", strict=True))
    assert [row.images for row in rows_of(trajectory)] == [["A", "B", "C"]]


def test_vanilla_looks_at_observations_between_turns_and_at_nothing_of_the_first_prompt() -> None:
    (row,) = rows_of(conversation([[4, 5], [6]]), observations=True)
    assert row.targets == [3, 4, 5, 6, 7]
    assert row.acted == [True, True, False, False, True]
    assert row.turn_ends == [False, True, False, False, True]
    assert row.logprobs[2:4] == [0.0, 0.0]


def test_a_trajectory_without_tokens_is_refused_and_one_without_replies_is_left_out() -> None:
    with pytest.raises(ConfigError, match="must hold token ids"):
        rows_of(Trajectory(id="x", steps=[Step(action="Left")]))
    silent, speaking = conversation([[], []], [1.0, 2.0]), conversation([[4]], [3.0])
    batch = Batch([silent, speaking], observations=True)
    assert len(batch) == 1 and batch.trajectories == [speaking] and batch.scores().tolist() == [3.0]
    assert len(Batch([silent])) == 0 and Batch([]).rows == []


@given(st.lists(trajectories(), min_size=1, max_size=3), st.sampled_from([1.0, 0.5]))
def test_empty_replies_lose_no_reward(given_trajectories, scale) -> None:
    batch = Batch(given_trajectories)
    if not len(batch):
        return
    rewards = batch.turn_rewards(scale)
    assert torch.equal(rewards.sum(1), batch.scores(scale))
    assert not bool((rewards != 0)[~batch.turn_ends].any())


def test_the_reward_of_an_empty_turn_goes_to_the_turn_before_it_or_to_the_first() -> None:
    batch = Batch([conversation([[], [4, 5], [], [6]], [1.0, 2.0, 4.0, 8.0])])
    assert batch.turn_rewards().tolist() == [[0.0, 1.0 + 2.0 + 4.0, 8.0]]


@given(st.lists(trajectories(), min_size=1, max_size=4), st.booleans())
def test_by_row_and_by_trajectory_are_inverse(given_trajectories, observations) -> None:
    batch = Batch(given_trajectories, observations=observations)
    numbers = [torch.arange(len(row.targets)) + 100.0 * index for index, row in enumerate(batch.rows, 1)]
    laid_out = batch.by_trajectory(numbers)
    assert laid_out.shape == batch.token_mask.shape
    table = padded(numbers) if numbers else torch.zeros(0, 0)
    assert torch.equal(batch.by_row(laid_out), table)
    assert torch.equal(batch.by_row(laid_out)[batch.row_mask], torch.cat(numbers) if numbers else torch.zeros(0))
    for some in (range(0, len(numbers), 2), range(len(numbers) - 1, -1, -1)):  # narrower, and in another order
        assert torch.equal(batch.by_row(laid_out, some), padded([numbers[row] for row in some]) if some else table)
    assert not bool(laid_out[~batch.token_mask].any())
    assert batch.token_mask.sum(1).tolist() == batch.lengths
    assert int(batch.action_mask.sum()) == sum(len(said(one)) for one in batch.trajectories)
    assert not bool((batch.action_mask & ~batch.token_mask).any())


@given(st.lists(st.integers(1, 50), max_size=40), st.integers(1, 120))
def test_micro_batches_hold_every_row_once_within_the_budget(lengths, budget) -> None:
    batches = micro_batches(lengths, budget)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or max(lengths[index] for index in batch) * len(batch) <= budget
    assert 0 <= padding_share(lengths, batches) < 1


def test_padding_is_what_the_model_reads_in_vain() -> None:
    assert micro_batches([10, 4, 10, 4], 20) == [[1, 3], [0, 2]]
    assert padding_share([10, 4, 10, 4], [[1, 3], [0, 2]]) == 0.0
    assert padding_share([10, 4], [[0, 1]]) == pytest.approx(6 / 20)
    assert padding_share([], []) == 0.0


def test_parts_are_shuffled_whole_and_of_nearly_equal_size() -> None:
    parts = shuffled_parts(10, 3, torch.Generator().manual_seed(1))
    assert sorted(index for part in parts for index in part) == list(range(10))
    assert sorted(map(len, parts)) == [3, 3, 4]
    assert parts == shuffled_parts(10, 3, torch.Generator().manual_seed(1))
    assert parts != shuffled_parts(10, 3, torch.Generator().manual_seed(2))
    assert shuffled_parts(2, 5, torch.Generator()) in ([[0], [1]], [[1], [0]])
