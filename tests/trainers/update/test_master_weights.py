"""Training through a copy of the master weights: packed or padded, rounded or not, the same step; and fallbacks."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import pytest
import torch

from agentrl.core.errors import ConfigError
from agentrl.models.chat import Prompt
from agentrl.policies.hf import HFPolicy
from agentrl.trainers.arguments.run import RunArguments
from agentrl.trainers.run.checkpoint import load_checkpoint, save_checkpoint
from agentrl.trainers.update.learner import Learner
from tests.trainers.update.test_learner import gradients, loss_on, options, rows, same, weights

# Said once by processors without bf16; the numbers are right all the same.
pytestmark = pytest.mark.filterwarnings("ignore:mkldnn_matmul failed")
__all__ = ["options"]  # a fixture


@pytest.mark.parametrize(("critic", "budget"), [("none", 10_000), ("none", 40), ("own", 40), ("shared", 10_000)])
def test_packed_rows_give_the_step_of_padded_ones(
    options: RunArguments, monkeypatch: pytest.MonkeyPatch, critic: Any, budget: int
) -> None:
    padded, padded_metrics = gradients(Learner(options, critic=critic), monkeypatch)
    learner = Learner(replace(options, packing="on", token_budget=budget), critic=critic)
    assert learner.reader.packed
    packed, metrics = gradients(learner, monkeypatch)
    assert all(torch.allclose(a, b, atol=1e-5, rtol=1e-3) for a, b in zip(packed, padded, strict=True))
    assert any(float(one.abs().max()) > 1e-3 for one in packed)
    assert metrics["loss"] == pytest.approx(padded_metrics["loss"], rel=1e-5)
    assert learner.padding == [0.0]


def test_packed_figures_of_whole_batches_are_the_padded_ones(options: RunArguments) -> None:
    learners = [Learner(replace(options, packing=how), critic="own", reference=True) for how in ("on", "off")]
    some = rows()
    prompts = [Prompt(row.ids) for row in some]
    for compute in (lambda x: x.logprobs(some), lambda x: x.reference_logprobs(some), lambda x: x.values(some)[1]):
        packed, padded = map(compute, learners)
        assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(packed, padded, strict=True))
    packed, padded = (learner.last_values(prompts) for learner in learners)
    assert torch.allclose(packed, padded, atol=1e-5)


def test_generation_does_not_notice_the_copy(options: RunArguments) -> None:
    learner = Learner(replace(options, packing="on"))
    assert learner.copies is not None
    assert learner.copies.of(learner.policy) is not learner.engine.model is learner.policy
    answers = [HFPolicy(learner.engine, greedy=True, max_new_tokens=4).answer([Prompt(rows()[0].ids)])[0]]
    learner.step(rows(), loss_on(learner, rows()))
    alone = Learner(options)
    answers += [HFPolicy(alone.engine, greedy=True, max_new_tokens=4).answer([Prompt(rows()[0].ids)])[0]]
    assert answers[0].token_ids == answers[1].token_ids


def test_masters_keep_what_the_copy_rounds_away(options: RunArguments) -> None:
    learner = Learner(replace(options, dtype="bfloat16", master_weights="on", lr=1e-6))
    before = weights(learner.policy)
    for _ in range(2):
        learner.step(rows(), loss_on(learner, rows()))
    moved = [name for name, p in learner.policy.named_parameters() if not torch.equal(p, before[name])]
    assert len(moved) == len(before) and all(p.dtype == torch.float32 for p in learner.policy.parameters())
    rounded = dict(learner.engine.model.named_parameters())
    assert all(torch.equal(p.bfloat16(), rounded[name]) for name, p in learner.policy.named_parameters())
    assert all(p.grad is None for p in rounded.values())


def test_gradients_of_a_rounded_copy_are_those_of_the_old_way(
    options: RunArguments, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both round to bf16, at different places: they agree as well as the type allows."""
    short = replace(options, dtype="bfloat16")
    found = {}
    for name, how in {"old": "off", "copy": "on", "small": "on"}.items():
        budget = 40 if name == "small" else 10_000
        kept, _ = gradients(Learner(replace(short, master_weights=how, token_budget=budget)), monkeypatch)
        found[name] = torch.cat([one.flatten().float() for one in kept])
    exact = torch.cat([one.flatten() for one in gradients(Learner(options), monkeypatch)[0]])
    for name, gradient in found.items():
        assert float(torch.nn.functional.cosine_similarity(gradient, exact, dim=0)) > 0.995, name


def test_a_run_resumes_from_its_masters(options: RunArguments, tmp_path: Any) -> None:
    chosen = replace(options, dtype="bfloat16", master_weights="on", packing="on", lr=1e-5)
    learner = Learner(chosen, critic="own")
    learner.step(rows(), loss_on(learner, rows()))
    path = save_checkpoint(tmp_path, 1, learner, {}, keep=1)
    learner.step(rows(), loss_on(learner, rows()))
    again = Learner(chosen, critic="own")
    load_checkpoint(path, again)
    again.step(rows(), loss_on(again, rows()))
    assert same(weights(learner.policy), weights(again.policy))
    assert same(weights(learner.critic), weights(again.critic))
    assert same(weights(learner.engine.model), weights(again.engine.model))


def test_where_compiling_fails_training_runs_uncompiled(
    options: RunArguments, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("no compiler here\nand a long story")

    monkeypatch.setattr(torch.nn.Module, "compile", broken)
    with caplog.at_level(logging.WARNING):
        learner = Learner(replace(options, compile="on"))
    assert [record.message for record in caplog.records] == ["training runs uncompiled: RuntimeError: no compiler here"]
    assert learner.copies is not None and not learner.copies.compiled
    learner.step(rows(), loss_on(learner, rows()))


def test_pictures_cannot_be_packed_and_adapters_have_no_copy(options: RunArguments) -> None:
    with pytest.raises(ConfigError, match="has pictures"):
        Learner(replace(options, model="tiny-vlm", packing="on"))
    assert Learner(replace(options, lora_rank=2, packing="on")).copies is None
    assert Learner(options).copies is None
