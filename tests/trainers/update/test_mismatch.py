"""Tokens that other kernels or another type produced: recomputed, weighed, and the difference is told."""

from __future__ import annotations

import math

import pytest
import torch

from agentrl.core.errors import ConfigError
from agentrl.models.float32_head import compute_head_in_float32
from agentrl.trainers.algorithms import grpo
from agentrl.trainers.update.batch import Batch
from agentrl.trainers.update.learner import make_learner
from agentrl.trainers.update.losses import mismatch
from agentrl.trainers.update.policy import score
from tests.trainers import toys
from tests.trainers.episodes import episode, played
from tests.trainers.runs import lines

# Processors without bf16 say once that they compute it another way.
pytestmark = pytest.mark.filterwarnings("ignore:mkldnn_matmul failed")
FIGURES = {"mismatch_mean", "mismatch_max", "effective_sample_size"}


def test_the_figures_by_hand() -> None:
    one = episode([([1, 2], [4, 5, 6, 7])])
    one.steps[0].logprobs = [-1.0, -2.0, -3.0, -4.0]
    distance = torch.tensor([[0.1, -0.3, 0.0, 0.2]])
    batch = Batch([one])
    found = mismatch(batch, batch.logprobs + distance)
    weights = [math.exp(d) for d in distance[0].tolist()]
    assert found["mismatch_mean"] == pytest.approx(0.15) and found["mismatch_max"] == pytest.approx(0.3)
    size = sum(weights) ** 2 / (4 * sum(w * w for w in weights))
    assert found["effective_sample_size"] == pytest.approx(size) and size < 1
    assert mismatch(batch, batch.logprobs)["effective_sample_size"] == 1.0


@pytest.mark.parametrize(
    ("options", "told", "recomputed", "weighed"),
    [
        ({}, False, False, False),
        ({"old_logprobs": "recomputed"}, True, True, False),
        ({"dtype": "bfloat16"}, True, True, True),
        ({"dtype": "bfloat16", "correction": "none"}, True, True, False),
        ({"dtype": "bfloat16", "old_logprobs": "behaviour", "correction": "none"}, True, False, False),
    ],
    ids=["float32", "float32 recomputed", "bf16", "bf16 unweighed", "bf16 as recorded"],
)
def test_where_generation_is_not_training_it_is_recomputed_weighed_and_told(
    undecided, tmp_path, options, told, recomputed, weighed
) -> None:
    args = toys.grpo(undecided, tmp_path / "run", **options)
    learner = make_learner(args)
    assert learner.exact == ("dtype" not in options)
    batch = Batch(played(learner.engine, args.specs()))
    scores = score(args, learner, batch)
    assert set(scores.metrics) == (FIGURES if told else set())
    own = batch.by_trajectory(learner.logprobs(batch.rows)) if recomputed else batch.logprobs
    assert torch.equal(scores.old, own)
    (line, *_) = lines(grpo.train(args), "train")
    assert ("importance_weight_mean" in line["loss"]) == weighed and (set(line["loss"]) >= FIGURES) == told


def test_an_output_layer_in_float32_keeps_what_bf16_rounds_away() -> None:
    gen = torch.Generator().manual_seed(0)
    head = torch.nn.Linear(64, 500, bias=False)
    torch.nn.init.normal_(head.weight, generator=gen)
    states = torch.randn(200, 64, generator=gen)
    rounded = head.weight.detach().bfloat16(), states.bfloat16()
    truth = (rounded[1].double() @ rounded[0].double().T).log_softmax(-1)
    plain = (rounded[1] @ rounded[0].T).float().log_softmax(-1)

    class Model:
        def get_output_embeddings(self) -> torch.nn.Linear:
            return head

    compute_head_in_float32(Model(), torch.bfloat16)
    with torch.autocast("cpu", torch.bfloat16), torch.no_grad():
        training = head(states).log_softmax(-1)
    generating = head(rounded[1]).log_softmax(-1)
    assert torch.equal(training, generating)  # float32 masters and bf16 copies are rounded to the same numbers
    assert float((training - truth).abs().mean()) < 1e-4 < 1e-2 < float((plain - truth).abs().mean())


def test_a_head_in_float32_trains_and_is_refused_where_it_is_not_linear(undecided, tmp_path) -> None:
    args = toys.grpo(undecided, tmp_path / "run", dtype="bfloat16", float32_head=True, kl_coef=0.01, lora_rank=2)
    assert all(math.isfinite(line["loss"]["loss"]) for line in lines(grpo.train(args), "train"))
    model = make_learner(args).engine.model
    with pytest.raises(ConfigError, match="float32_head needs a linear output layer"):
        compute_head_in_float32(model, torch.bfloat16)
