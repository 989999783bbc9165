"""The comparison that all adapters share: it covers what it should, and it sees what differs."""

from __future__ import annotations

from dataclasses import replace

import gymnasium as gym
import pytest

from agentrl.models.chat import PromptEncoder
from agentrl.models.tokenizer import tiny_tokenizer
from agentrl.rollout.prompts import rules_of
from tests.adapters import library_check
from tests.adapters.library_check import ANSWERS, CUT, ENV_KWARGS, SEEDS, TEXT, VISUAL, answer_ids, compare, play

EVERYTHING = frozenset(library_check.Episode.__dataclass_fields__)


@pytest.fixture(scope="module")
def encoder():
    return PromptEncoder(tiny_tokenizer())


@pytest.fixture(scope="module")
def ours(encoder):
    return play(TEXT, encoder)


def test_the_episodes_end_in_every_way_and_hold_valid_and_invalid_answers(ours):
    ends = {(one.terminated, one.truncated, one.success) for one in ours}
    assert ends == {(True, False, True), (True, False, False), (False, True, False)}
    assert [tuple(one.actions) for one in ours] == [ANSWERS[seed] for seed in SEEDS]
    assert {-0.1, -0.2, 9.9} <= {round(reward, 6) for one in ours for reward in one.rewards}
    assert ours[7].success and len(ours[7].actions) == ENV_KWARGS["max_turns"]


def test_the_tokens_are_those_of_the_chat_template(ours, encoder):
    rules = {"role": "system", "content": rules_of(gym.make(TEXT, **ENV_KWARGS))}
    for one in ours:
        chat = [rules]
        for seen, said in zip(one.shown, one.actions, strict=True):
            chat += [{"role": "user", "content": seen}, {"role": "assistant", "content": said}]
        assert one.prompt_ids + one.completion_ids == encoder.tokenizer.apply_chat_template(chat)["input_ids"]
        written = [token for token, mine in zip(one.completion_ids, one.mask, strict=True) if mine]
        turns = range(len(one.actions))
        assert written == [token for turn in turns for token in answer_ids(encoder, one.seed, turn)]
    assert all(one_cut[1] < len(ANSWERS[one_cut[0]]) - 1 for one_cut in CUT)  # a template closes them


def test_pictures_are_compared_by_their_pixels():
    shown = [name for one in play(VISUAL) for name in one.shown]
    assert all("<image " in name for name in shown) and len(set(shown)) > len(SEEDS)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("actions", ["Down, Down, Down", "Right"]),
        ("reward", 9.5),
        ("rewards", [-0.3, 9.8]),
        ("terminated", False),
        ("truncated", True),
        ("success", False),
        ("shown", []),
        ("prompt_ids", [1]),
        ("completion_ids", None),
        ("mask", [1]),
    ],
)
def test_every_difference_is_named(ours, name, value):
    assert compare(library_check.from_json(library_check.to_json(ours)), ours) == EVERYTHING
    with pytest.raises(AssertionError, match=f"seed 0: {name} must be"):
        compare([replace(ours[0], **{name: value}), *ours[1:]], ours)


def test_a_missing_episode_is_seen_and_a_field_that_a_library_lacks_is_left_out(ours):
    with pytest.raises(AssertionError):
        compare(ours[1:], ours)
    assert compare([replace(one, mask=None) for one in ours], ours) == EVERYTHING - {"mask"}


def test_a_row_says_what_was_compared_and_is_checked_and_written(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{library_check.BEGIN}{library_check.END}after\n")
    found = {"text": EVERYTHING, "pictures": EVERYTHING - {"rewards"}, "page": page}
    with pytest.raises(AssertionError, match="must say '\\| b \\| 1"):
        library_check.check_row("b", "1", **found)
    monkeypatch.setenv("AGENTRL_WRITE_LIBRARIES", "1")
    library_check.check_row("b", "1", **found)
    library_check.check_row("A", "2", text=frozenset({"reward"}), remarks={"turn rewards": "the sum"}, page=page)
    monkeypatch.delenv("AGENTRL_WRITE_LIBRARIES")
    library_check.check_row("b", "1", **found)
    assert page.read_text().splitlines()[2:-2] == [
        "| library | version | text | pictures | turn rewards | exact tokens |",
        "|---|---|---|---|---|---|",
        "| A | 2 | yes | no | no (the sum) | no |",
        "| b | 1 | yes | yes | yes | yes |",
    ]
    with pytest.raises(AssertionError, match="must say"):
        library_check.check_row("b", "2", **found)
