"""Trajectories as token sequences: what was sampled, in the order the model read it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from agentrl.core.errors import ConfigError
from agentrl.models.loading import LoadedModel, load_model
from agentrl.policies.hf import HFPolicy
from agentrl.rollout.collect import Collector, EnvSpec, Start
from agentrl.rollout.token_rows import conversation_row, token_rows
from agentrl.rollout.trajectory import Step, Trajectory

LAKE = EnvSpec("agentrl/FrozenLake-Text-v0", {"max_turns": 3})


@pytest.fixture(scope="module")
def engine():
    return load_model("tiny-text", device="cpu")


def played(policy, count=6, style="conversation"):
    collector = Collector([LAKE], policy, prompt_style=style)
    found = collector.collect([Start(seed) for seed in range(count)]).trajectories
    collector.close()
    return found


def step(prompt, response):
    return Step(prompt_ids=prompt, response_ids=response, logprobs=[-0.5] * len(response), reward=1.0)


# ---------------------------------------------------------------------- by hand


def test_a_conversation_is_one_sequence():
    steps = [step([1, 2], [3, 9]), step([1, 2, 3, 9, 4, 5], [6]), step([1, 2, 3, 9, 4, 5, 6, 9, 7], [8, 9])]
    row = conversation_row(Trajectory(steps=steps))
    assert row.prompt_ids == [1, 2]
    assert row.completion_ids == [3, 9, 4, 5, 6, 9, 7, 8, 9]  # the second answer was cut: the template ended it
    assert row.mask == [1, 1, 0, 0, 1, 0, 0, 1, 1]
    assert row.logprobs == [-0.5, -0.5, 0.0, 0.0, -0.5, 0.0, 0.0, -0.5, -0.5]
    assert row.reward == 3.0 and row.ids == [*steps[-1].prompt_ids, 8, 9]


def test_an_answer_that_the_template_ended_anew_stays_in_the_sequence():
    # 0 and 9 are special: the model ended its first answer with 0, the next prompt shows 9.
    steps = [step([1, 2], [3, 0]), step([1, 2, 3, 9, 4], [5, 9])]
    row = conversation_row(Trajectory(steps=steps))
    assert row.ids == [1, 2, 3, 9, 4, 5, 9]
    assert row.mask == [1, 0, 0, 1, 1] and row.logprobs == [-0.5, 0.0, 0.0, -0.5, -0.5]


def test_an_answer_of_one_special_token_is_replaced_too():
    row = conversation_row(Trajectory(steps=[step([1], [0]), step([1, 9, 4], [5])]))
    assert (row.prompt_ids, row.completion_ids, row.mask) == ([1], [9, 4, 5], [0, 0, 1])


@pytest.mark.parametrize("second", [[1, 7, 3, 9, 4], [1, 2], [5], [1, 2, 4, 9]])
def test_prompts_that_do_not_continue_have_a_sequence_of_their_own(second):
    found = token_rows(Trajectory(steps=[step([1, 2], [3, 9]), step(second, [6])]))
    assert [row.ids for row in found] == [[1, 2, 3, 9], [*second, 6]]
    with pytest.raises(ConfigError, match="prompt_style='conversation'"):
        conversation_row(Trajectory(steps=[step([1, 2], [3, 9]), step(second, [6])]))


def test_what_has_no_tokens_is_refused():
    with pytest.raises(ConfigError, match="must hold token ids"):
        token_rows(Trajectory(steps=[Step(prompt_ids=[1], response_ids=[2])]))
    with pytest.raises(ConfigError, match="before the first turn"):
        conversation_row(Trajectory())


# ---------------------------------------------------------------------- of a model


@pytest.fixture
def hasty(engine):
    """The model ends its answers early, with whatever special token: most are ended anew by the template."""

    def favour(model, arguments, found):
        found.logits[..., sorted(engine.stops)] += 5.0
        return found

    hook = engine.model.register_forward_hook(favour)
    yield engine
    hook.remove()


def test_every_token_is_scored_as_it_was_sampled(hasty):
    engine, policy = hasty, HFPolicy(hasty, max_new_tokens=12, seed=1)
    trajectories = played(policy)
    steps = [step for one in trajectories for step in one.steps[:-1]]
    replaced = [
        step
        for step in steps
        if step.finish_reason == "stop" and step.response_ids[-1] != engine.tokenizer.eos_token_id
    ]
    assert len(replaced) > 3
    rows = [conversation_row(one) for one in trajectories]
    written = sum(len(step.response_ids) for one in trajectories for step in one.steps)
    assert sum(sum(row.mask) for row in rows) == written - len(replaced)
    for row, one in zip(rows, trajectories, strict=True):
        assert row.ids == one.steps[-1].prompt_ids + one.steps[-1].response_ids
        assert len(row.logprobs) == len(row.mask) == len(row.completion_ids)
        with torch.no_grad():
            logits = engine.model(input_ids=torch.tensor([row.ids])).logits[0, len(row.prompt_ids) - 1 : -1]
        scores = torch.log_softmax(logits.float(), -1).gather(-1, torch.tensor(row.completion_ids)[:, None])[:, 0]
        written = np.array(row.mask, bool)
        assert written.any() and np.allclose(scores.numpy()[written], np.array(row.logprobs)[written], atol=1e-4)
    assert len(token_rows(played(policy, 1, "step")[0])) == 3


# ---------------------------------------------------------------------- a live model


def test_a_live_model_plays_with_its_present_weights(engine):
    copied = load_model("tiny-text", device="cpu")
    live = HFPolicy(LoadedModel.from_live(copied.model, copied.tokenizer), max_new_tokens=8, greedy=True)
    asked = [[{"role": "user", "content": "Up"}]]
    assert live.act(asked)[0].logprobs == HFPolicy(engine, max_new_tokens=8, greedy=True).act(asked)[0].logprobs
    before = live.act(asked)[0].logprobs
    with torch.no_grad():
        next(copied.model.parameters()).mul_(2)
    assert live.act(asked)[0].logprobs != before and not copied.model.training


def test_a_live_model_that_sees_needs_its_processor():
    seeing = load_model("tiny-vlm", device="cpu")
    with pytest.raises(ConfigError, match="image_processor"):
        LoadedModel.from_live(seeing.model, seeing.tokenizer)
    processor = SimpleNamespace(tokenizer=seeing.tokenizer, image_processor=seeing.encoder.image_processor)
    policy = HFPolicy(LoadedModel.from_live(seeing.model, processor), max_new_tokens=4, greedy=True)
    shown = [{"role": "user", "content": "<image>", "images": [np.zeros((64, 64, 3), np.uint8)]}]
    assert policy.act([shown])[0].token_ids == HFPolicy(seeing, max_new_tokens=4, greedy=True).act([shown])[0].token_ids
