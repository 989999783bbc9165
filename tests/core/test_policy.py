"""The protocol of policies."""

from __future__ import annotations

import dataclasses

import pytest

from agentrl.core.policy import Generation, Policy


def test_generation_has_the_pinned_fields_and_cannot_be_changed():
    names = [field.name for field in dataclasses.fields(Generation)]
    assert names == ["text", "action", "token_ids", "logprobs", "finish_reason", "version", "prompt_ids", "sampling"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        Generation("a", "a").text = "b"  # type: ignore[misc]


def test_anything_with_act_is_a_policy_and_nothing_else():
    class Parrot:
        def act(self, conversations, envs=None):
            return [Generation("Up", "Up") for _ in conversations]

    assert isinstance(Parrot(), Policy)
    assert not isinstance(object(), Policy)
