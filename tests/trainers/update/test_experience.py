"""What a phase learns from: what is refused, and that numbers of actions find their tokens."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from agentrl.core.errors import ConfigError
from agentrl.trainers.update.off_policy import ActionTable, Experience
from tests.trainers.episodes import conversation, episode

TALK = conversation([[30, 31, 2], [32, 2]], first=[10, 11], id="talk")
STEPS = episode([([10, 12], [33, 2]), ([10, 13], []), ([10, 14], [34, 35, 2])], prompt_style="step")
SILENT = conversation([[]])


@pytest.mark.parametrize("outcome", [math.nan, -1.0, 1.01, math.inf, None, "1"])
def test_outcomes_must_be_probabilities(outcome: Any) -> None:
    with pytest.raises(ConfigError, match=r"between 0 and 1; got .* for talk"):
        Experience.of([TALK], [outcome])


def test_lists_must_go_together() -> None:
    with pytest.raises(ConfigError, match="go together; got 1 2 1"):
        Experience([TALK], [1.0, 0.0], [[True, True]])
    with pytest.raises(ConfigError, match="a flag for every step; got 1 for 2"):
        Experience([TALK], [1.0], [[True]])


def test_experiences_are_joined_and_chosen_from() -> None:
    both = Experience.of([TALK], [1.0]) + Experience([STEPS], [0.0], [[True, True, False]])
    assert (len(both), both.actions) == (2, 3)
    assert both.only([False, True]).outcomes == [0.0]
    assert both.only([False, False]).actions == 0


def test_actions_are_replies_with_tokens() -> None:
    table = ActionTable(
        Experience([TALK, SILENT, STEPS], [1.0, 1.0, 0.0], [[True, False], [True], [False, True, True]])
    )
    assert table.outcomes.tolist() == [1.0, 0.0]
    assert table.mask.tolist() == [[True, True], [True, True]]
    assert table.kept.tolist() == [[True, False], [False, True]]


def test_the_critic_reads_before_each_first_token() -> None:
    table = ActionTable(Experience.of([TALK, STEPS], [1.0, 0.0]))
    assert [(row.ids, row.targets) for row in table.states] == [
        ([10, 11, 30, 31, 2, 7, 8, 32], [2, 7]),
        ([10, 12, 33], [2]),
        ([10, 14, 34], [2]),
    ]


def test_tables_go_to_tokens_and_come_back_from_states() -> None:
    table = ActionTable(Experience.of([TALK, SILENT, STEPS], [1.0, 0.0, 0.0]))
    numbers = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert torch.equal(table.from_states(table.to_states(numbers)), numbers)
    assert [one.tolist() for one in table.to_tokens(numbers)] == [[1, 1, 1, 2, 2], [3, 3], [4, 4, 4]]


def test_one_trajectory_may_appear_twice_with_other_flags() -> None:
    table = ActionTable(Experience([TALK, TALK], [1.0, 1.0], [[True, False], [False, True]]))
    assert table.kept.tolist() == [[True, False], [False, True]]


def test_nothing_gives_an_empty_table() -> None:
    for nothing in (Experience.of([], []), Experience.of([SILENT], [1.0])):
        table = ActionTable(nothing)
        assert not table.rows and not table.mask.numel() and table.to_tokens(torch.zeros(table.mask.shape)) == []
