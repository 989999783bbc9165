"""The models of a run: what is trained, what is not, and that numbers survive memory limits and short types."""

from __future__ import annotations

import copy
import math
import shutil
from dataclasses import replace
from typing import Any

import pytest
import torch

from agentrl.core.errors import ConfigError
from agentrl.models.loading import load_model
from agentrl.policies.hf import HFPolicy
from agentrl.trainers.arguments.run import RunArguments
from agentrl.trainers.update.batch import Batch, Row
from agentrl.trainers.update.learner import Learner, TrainingFault
from tests.trainers.episodes import conversation

# Said once by processors without bf16; the numbers are right all the same.
pytestmark = pytest.mark.filterwarnings("ignore:mkldnn_matmul failed")

EPISODES = [
    conversation([[30, 31, 2], [32, 33, 34, 2]], first=range(10, 30)),
    conversation([[40, 2]], first=[*range(10, 25), 50]),
    conversation([[30, 2], [31, 2], [32, 2]], first=range(10, 30)),
    conversation([[41, 42, 43, 2]], first=range(10, 28)),
]


@pytest.fixture
def options(nano) -> RunArguments:
    return RunArguments(model=str(nano), lr=1e-3, device="cpu", dtype="float32", max_grad_norm=1e9)


def rows() -> list[Row]:
    return Batch(EPISODES).rows


def loss_on(learner: Learner, some: list[Row], scale: float = 1.0) -> Any:
    whole = sum(len(row.targets) for row in some)

    def loss_of(indices: list[int]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        out = learner.outputs([some[index] for index in indices], entropy="learned")
        loss = -(out.logprobs * out.mask).sum()
        if out.values is not None and out.values_after is not None:
            loss = loss + (((out.values - 1) ** 2 + (out.values_after - 2) ** 2) * out.mask).sum()
        return scale * loss / whole, {"logprob": (out.logprobs * out.mask).sum().detach() / whole}

    return loss_of


def gradients(learner: Learner, monkeypatch: pytest.MonkeyPatch) -> tuple[list[torch.Tensor], dict[str, float]]:
    """The gradients that a step would use; nothing is moved."""
    kept: list[torch.Tensor] = []
    groups = [p for group in learner.optimiser.param_groups for p in group["params"]]

    def note() -> float:
        kept.extend(torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in groups)
        return 0.0

    monkeypatch.setattr(learner.optimiser, "step", note)
    return kept, learner.step(rows(), loss_on(learner, rows()))


def weights(model: Any) -> dict[str, torch.Tensor]:
    return {name: p.detach().clone() for name, p in model.named_parameters()}


def same(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


# ---------------------------------------------------------------------- gradients


@pytest.mark.parametrize("critic", ["own", "shared"])
def test_gradient_accumulation_is_exact(options, critic, monkeypatch) -> None:
    large = Learner(options, critic=critic)
    small = Learner(replace(options, token_budget=30), critic=critic)
    for learner in (large, small):  # a head of zeros would teach the body nothing
        assert learner.critic is not None
        torch.nn.init.constant_(learner.critic.head.weight, 0.1)
    (one, metrics), (many, in_parts) = gradients(large, monkeypatch), gradients(small, monkeypatch)
    largest = max(float(gradient.abs().max()) for gradient in one)
    assert max(float((a - b).abs().max()) for a, b in zip(one, many, strict=True)) < 1e-6 * max(1.0, largest)
    assert sum(float(gradient.abs().sum()) for gradient in one) > 1
    assert metrics["loss"] == pytest.approx(in_parts["loss"], abs=1e-5)
    assert metrics["logprob"] == pytest.approx(in_parts["logprob"], abs=1e-5)


def test_gradient_checkpointing_changes_nothing_and_reaches_the_critic(options, monkeypatch) -> None:
    plain = Learner(options, critic="own")
    thrifty = Learner(replace(options, gradient_checkpointing=True), critic="own")
    for learner in (plain, thrifty):
        assert learner.critic is not None
        torch.nn.init.constant_(learner.critic.head.weight, 0.1)
    assert thrifty.critic is not None and thrifty.critic.model.is_gradient_checkpointing
    assert thrifty.critic.model.training and thrifty.policy.training
    calls = []
    real = torch.utils.checkpoint.checkpoint

    def counted(*args: Any, **kwargs: Any) -> Any:
        calls.append(1)
        return real(*args, use_reentrant=False, **kwargs)

    for module in [*thrifty.policy.modules(), *thrifty.critic.modules()]:
        if hasattr(module, "_gradient_checkpointing_func"):
            monkeypatch.setattr(module, "_gradient_checkpointing_func", counted)
    (one, _), (two, _) = gradients(plain, monkeypatch), gradients(thrifty, monkeypatch)
    assert max(float((a - b).abs().max()) for a, b in zip(one, two, strict=True)) < 1e-5
    assert len(calls) >= 2  # the policy's layers and the critic's


def test_policy_and_critic_are_clipped_apart(options) -> None:
    learner = Learner(replace(options, max_grad_norm=0.1, lr=1e-3), critic="own", critic_lr=1e-3)
    metrics = learner.step(rows(), loss_on(learner, rows()))
    assert metrics["grad_norm"] > 0.1  # told as it was before clipping


def test_dropout_is_off_since_ratios_must_begin_at_one(options, tmp_path, nano) -> None:
    import shutil

    from agentrl.core.cache import write_atomically

    folder = shutil.copytree(nano, tmp_path / "dropping")
    config = (folder / "config.json").read_text().replace('"attention_dropout": 0.0', '"attention_dropout": 0.5')
    assert '"attention_dropout": 0.5' in config
    write_atomically(folder / "config.json", config.encode())
    learner = Learner(replace(options, model=str(folder)))
    before, again = learner.logprobs(rows()), learner.logprobs(rows())
    assert all(torch.equal(a, b) for a, b in zip(before, again, strict=True))
    assert learner.policy.training


# ---------------------------------------------------------------------- what is trained


@pytest.mark.parametrize("critic", ["own", "shared"])
def test_the_critic_starts_at_zero_and_learns_its_targets(options, critic) -> None:
    learner = Learner(replace(options, lr=1e-3), critic=critic, critic_lr=5e-2)
    before, after = learner.values(rows())
    assert not any(bool(value.any()) for value in [*before, *after])
    for _ in range(40):
        learner.step(rows(), loss_on(learner, rows()))
    before, _ = learner.values(rows())
    assert abs(float(torch.cat(before).mean()) - 1.5) < 0.75  # between the targets of before and after
    assert (learner.critic is not None) and (learner.critic.model is None) == (critic == "shared")


def test_no_gradient_reaches_the_policy_while_only_the_critic_learns(options) -> None:
    learner = Learner(options, critic="shared")
    assert learner.critic is not None
    torch.nn.init.constant_(learner.critic.head.weight, 0.1)
    before = weights(learner.policy)
    chosen = rows()

    def loss_of(indices: list[int]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        out = learner.outputs([chosen[index] for index in indices], only_critic=True)
        assert out.values is not None
        return ((out.values - 1) ** 2 * out.mask).mean(), {}

    metrics = learner.step(chosen, loss_of)
    assert same(before, weights(learner.policy)) and metrics["grad_norm"] == 0.0
    assert float((learner.critic.head.weight.detach() - 0.1).abs().max()) > 0


def test_the_reference_stays_what_the_policy_was(options) -> None:
    learner = Learner(options, reference=True)
    before = learner.logprobs(rows())
    for _ in range(3):
        learner.step(rows(), loss_on(learner, rows()))
    reference, now = learner.reference_logprobs(rows()), learner.logprobs(rows())
    assert all(torch.equal(a, b) for a, b in zip(before, reference, strict=True))
    assert float((torch.cat(now) - torch.cat(before)).abs().max()) > 1e-3
    assert not any(p.requires_grad for p in learner.reference.parameters())


def test_adapters_alone_are_trained_and_the_engine_is_base_plus_delta(options) -> None:
    learner = Learner(replace(options, lora_rank=2, lr=1e-2), reference=True)
    trained = [name for name, p in learner.policy.named_parameters() if p.requires_grad]
    assert trained and all("lora_" in name for name in trained)
    frozen = {name: p for name, p in weights(learner.policy).items() if "lora_" not in name}
    base = weights(learner.engine.model)
    for _ in range(3):
        learner.step(rows(), loss_on(learner, rows()))
    assert same(frozen, {name: p for name, p in weights(learner.policy).items() if "lora_" not in name})
    assert same(base, weights(learner.engine.model))  # not before it is published
    learner.publish()
    engine = Learner(options)
    engine.policy.load_state_dict(learner.engine.model.state_dict())
    theirs, own = engine.logprobs(rows()), learner.logprobs(rows())
    assert float((torch.cat(theirs) - torch.cat(own)).abs().max()) < 1e-5
    published = weights(learner.engine.model)
    module = learner.policy.get_submodule("model.layers.0.self_attn.q_proj")
    delta = module.lora_B["default"].weight @ module.lora_A["default"].weight * 2.0  # alpha is twice the rank
    expected = base["model.layers.0.self_attn.q_proj.weight"] + delta
    assert torch.allclose(published["model.layers.0.self_attn.q_proj.weight"], expected, atol=1e-6)
    assert float(delta.detach().abs().max()) > 1e-4


def test_adapters_start_from_the_seed_and_leave_the_global_rng_alone(options) -> None:
    state = torch.get_rng_state()
    adapters = [Learner(replace(options, lora_rank=2, seed=seed)).policy for seed in (1, 1, 2)]
    assert torch.equal(state, torch.get_rng_state())
    assert same(weights(adapters[0]), weights(adapters[1])) and not same(weights(adapters[0]), weights(adapters[2]))


# ---------------------------------------------------------------------- short types


def test_bf16_generates_while_float32_masters_learn(options) -> None:
    learner = Learner(replace(options, dtype="bfloat16"), critic="own", reference=True)
    assert learner.engine.model.dtype == torch.bfloat16
    assert {p.dtype for p in learner.policy.parameters()} == {torch.float32}
    metrics = learner.step(rows(), loss_on(learner, rows()))
    assert math.isfinite(metrics["loss"])
    learner.publish()
    for name, p in learner.engine.model.named_parameters():
        assert torch.equal(p, learner.policy.get_parameter(name).to(torch.bfloat16))
    policy = HFPolicy(learner.engine, max_new_tokens=2)
    answer = policy.act([[{"role": "user", "content": "turn 0"}]])[0]
    assert answer.token_ids


def test_tiny_updates_add_up_in_the_masters(options) -> None:
    learner = Learner(replace(options, dtype="bfloat16", lr=1e-6))
    first, short = weights(learner.policy), weights(learner.engine.model)
    for _ in range(20):
        learner.step(rows(), loss_on(learner, rows()))
    moved = max(float((p - first[name]).abs().max()) for name, p in weights(learner.policy).items())
    assert 1e-5 < moved < 2.1e-5  # twenty steps of Adam at 1e-6
    name = "model.norm.weight"  # all ones: bf16 could not even tell one such step from none
    assert torch.equal(learner.engine.model.get_parameter(name), short[name])
    assert not torch.equal(learner.policy.get_parameter(name), first[name])


# ---------------------------------------------------------------------- rates


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("constant", [0.5, 1.0, 1.0, 1.0, 1.0, 1.0]),
        ("linear", [0.5, 1.0, 1.0, 0.75, 0.5, 0.25]),
        ("cosine", [0.5, 1.0, 1.0, 0.5 + math.sqrt(0.125), 0.5, 0.5 - math.sqrt(0.125)]),
    ],
)
def test_schedules(options, schedule, expected) -> None:
    learner = Learner(replace(options, schedule=schedule, warmup=2), total_steps=6, critic="shared", critic_lr=1e-2)
    found = []
    for _ in range(6):
        found.append(learner.rate())
        learner.step(rows(), loss_on(learner, rows()))
        assert learner.optimiser.param_groups[0]["lr"] == pytest.approx(1e-3 * found[-1])
        assert learner.optimiser.param_groups[1]["lr"] == pytest.approx(1e-2 * found[-1])
    assert found == pytest.approx(expected)
    learner.steps = 1000
    assert 0 <= learner.rate() <= 1  # a run that was made longer


# ---------------------------------------------------------------------- trouble


@pytest.mark.parametrize("scale", [float("nan"), float("inf")])
def test_a_loss_that_is_no_number_stops_before_any_weight_changed(options, scale) -> None:
    learner = Learner(options, critic="own")
    before, optimiser = weights(learner.policy), copy.deepcopy(learner.optimiser.state_dict())
    with pytest.raises(TrainingFault, match="loss is"):
        learner.step(rows(), loss_on(learner, rows(), scale))
    assert same(before, weights(learner.policy)) and learner.steps == 0
    assert optimiser == learner.optimiser.state_dict()


def test_a_gradient_that_is_no_number_stops_before_any_weight_changed(options) -> None:
    learner = Learner(options)
    before = weights(learner.policy)

    def loss_of(indices: list[int]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        out = learner.outputs([rows()[index] for index in indices])
        return torch.sqrt((out.logprobs * 0).sum()), {}  # 0, with an infinite slope

    with pytest.raises(TrainingFault, match="gradient norm"):
        learner.step(rows(), loss_of)
    assert same(before, weights(learner.policy)) and learner.steps == 0


@pytest.mark.parametrize(
    "error", [torch.OutOfMemoryError("CUDA out of memory"), RuntimeError("DefaultCPUAllocator: not enough memory")]
)
def test_memory_that_runs_out_says_which_knob_to_turn(options, error) -> None:
    learner = Learner(options)

    def loss_of(indices: list[int]) -> Any:
        raise error

    with pytest.raises(TrainingFault, match=r"lower token_budget \(now \d+\)"):
        learner.step(rows(), loss_of)


def test_other_errors_are_not_called_a_lack_of_memory(options) -> None:
    learner = Learner(options)

    def loss_of(indices: list[int]) -> Any:
        raise RuntimeError("shapes differ")

    with pytest.raises(RuntimeError, match="shapes differ"):
        learner.step(rows(), loss_of)


def test_real_memory_that_runs_out_is_noticed(options) -> None:
    learner = Learner(options)
    with pytest.raises(TrainingFault, match="token_budget"), learner.computing():
        torch.empty(1 << 60, dtype=torch.uint8)


def test_a_missing_model_and_a_missing_device_are_named(options) -> None:
    with pytest.raises(ConfigError, match="no-such-model"):
        Learner(replace(options, model="no-such-model"))
    with pytest.raises(ConfigError, match="device"):
        Learner(replace(options, device="cuda:7"))


def test_padding_and_tokens_are_counted(options) -> None:
    learner = Learner(replace(options, token_budget=60))
    learner.step(rows(), loss_on(learner, rows()))
    assert learner.trained_tokens == sum(len(row.ids) for row in rows())
    assert len(learner.padding) == 1 and 0 <= learner.padding[0] < 0.5


def test_engine_and_policy_are_one_model_where_no_copy_is_needed(options) -> None:
    learner = Learner(options)
    assert learner.engine.model is learner.policy
    assert load_model(options.model, "cpu", "float32").model is not learner.policy


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_named(options, tmp_path, nano, wrong) -> None:
    from safetensors.torch import load_file, save_file

    model = shutil.copytree(nano, tmp_path / "model")
    content = load_file(model / "model.safetensors")
    name = next(name for name in content if "mlp" in name)
    content[name][0, 0] = wrong
    save_file(content, model / "model.safetensors", {"format": "pt"})
    with pytest.raises(ConfigError, match=rf"{name} holds NaN or infinity"):
        Learner(replace(options, model=str(model)))
