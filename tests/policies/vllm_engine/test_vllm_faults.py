"""An engine that dies, hangs or gets half of its weights: restarted, asked once more, counted, and never mixed."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from agentrl.core.errors import EngineFault
from agentrl.models.loading import LoadedModel, load_model
from agentrl.policies.vllm import VLLMEngine, VLLMPolicy
from agentrl.policies.vllm.backend import LocalBackend
from agentrl.policies.vllm.weights import checkpoint_weights
from agentrl.rollout.collect import Collector, EnvSpec, Start
from tests.policies.vllm_engine.kit import CLOSE, conversations, largest_error, perturb, trainer_scores

pytestmark = pytest.mark.vllm

DEADLINE = 12.0  # the machine may be busy


@pytest.fixture(scope="module")
def hf() -> LoadedModel:
    """The trainer's side."""
    return load_model("tiny-text", "cpu", "float32")


@pytest.fixture(scope="module")
def engine() -> Iterator[VLLMEngine]:
    """One for all: every test leaves it able to answer."""
    with VLLMEngine("tiny-text", max_model_len=512, deadline=DEADLINE) as started:
        started.start()
        yield started


def pid_of(engine: VLLMEngine) -> int:
    assert isinstance(engine.backend, LocalBackend) and engine.backend.pid is not None
    return engine.backend.pid


def check_agreement(engine: VLLMEngine, hf: LoadedModel) -> None:
    talks = conversations(4)
    said = VLLMPolicy(engine, max_new_tokens=6).act(talks)
    assert largest_error([one.logprobs for one in said], trainer_scores(hf, talks, said)) < CLOSE


class Struck(VLLMPolicy):
    """The engine dies before this policy's third answer."""

    def act(self, conversations: Any, envs: Any = None) -> list[Any]:
        if self.calls == 2:
            os.kill(pid_of(self.engine), signal.SIGKILL)
        return super().act(conversations, envs)


def test_an_engine_killed_in_mid_rollout_is_started_again_with_the_newest_weights(
    engine: VLLMEngine, hf: LoadedModel
) -> None:
    perturb(hf.model, seed=1)
    engine.update_weights(checkpoint_weights(hf.model), version=4)
    before = (engine.restarts, engine.retries, pid_of(engine))
    policy = Struck(engine, max_new_tokens=4)
    spec = EnvSpec("agentrl/FrozenLake-Text-v0", {"max_turns": 4}, ())
    collector = Collector([spec], policy, num_envs=6)
    found = collector.collect([Start(seed, 0) for seed in range(6)]).trajectories
    collector.close()
    assert [one.fault for one in found] == [None] * 6 and policy.calls >= 4
    assert engine.restarts == before[0] + 1 and pid_of(engine) != before[2]
    assert engine.retries == before[1] + 6, "the six requests that were under way, once each"
    for trajectory in found:
        assert {step.version for step in trajectory.steps} == {4}
    check_agreement(engine, hf)


def test_an_engine_that_hangs_in_mid_answer_is_given_up_and_replaced(engine: VLLMEngine, hf: LoadedModel) -> None:
    restarts, old = engine.restarts, pid_of(engine)
    long = VLLMPolicy(engine, max_new_tokens=100)
    timer = threading.Timer(0.1, lambda: os.kill(old, signal.SIGSTOP))
    timer.start()
    said = long.act(conversations(16))
    while engine.restarts == restarts and pid_of(engine) == old:  # it may have been quicker than the timer
        said = long.act(conversations(16))
    timer.join()
    assert len(said) == 16 and all(one.token_ids for one in said)
    assert engine.restarts == restarts + 1 and engine.metrics()["restarts"] == engine.restarts
    with pytest.raises(ProcessLookupError):
        os.kill(old, 0)
    check_agreement(engine, hf)


def test_an_engine_that_died_takes_the_next_update_all_the_same(engine: VLLMEngine, hf: LoadedModel) -> None:
    os.kill(pid_of(engine), signal.SIGKILL)
    perturb(hf.model, seed=2)
    engine.update_weights(checkpoint_weights(hf.model))
    assert engine.version == 5, "one more than the last, unless told"
    check_agreement(engine, hf)


def test_after_half_an_update_nothing_is_answered_until_a_whole_one(engine: VLLMEngine, hf: LoadedModel) -> None:
    perturb(hf.model, seed=3)
    weights = checkpoint_weights(hf.model)
    missing = max(weights)  # it comes last: everything before it has been replaced by then
    version, updates = engine.version, engine.updates
    with pytest.raises(EngineFault, match=r"1 of .* weights were not in the update"):
        engine.update_weights({name: tensor for name, tensor in weights.items() if name != missing}, version=9)
    policy = VLLMPolicy(engine, max_new_tokens=4)
    for _ in range(2):
        with pytest.raises(EngineFault, match="partly old and partly new"):
            policy.act(conversations(2))
    with pytest.raises(EngineFault, match="partly old and partly new"):
        policy.logprobs_of([[1, 2]], [[3]])
    assert (engine.version, engine.updates) == (version, updates)
    engine.update_weights(weights, version=9)
    assert {one.version for one in policy.act(conversations(2))} == {9}
    check_agreement(engine, hf)


def test_a_question_that_vllm_refuses_is_a_fault_and_costs_no_restart(engine: VLLMEngine) -> None:
    restarts = engine.restarts
    beyond = len(engine.reader.tokenizer) + 10_000
    with pytest.raises(EngineFault, match="vLLM's engine"):
        VLLMPolicy(engine).logprobs_of([[5, 6], [beyond, 5]], [[6], [6]])
    with pytest.raises(EngineFault, match="vLLM's engine"):
        VLLMPolicy(engine).logprobs_of([[5]], [[beyond]])
    assert engine.restarts == restarts
    assert VLLMPolicy(engine, max_new_tokens=2).act(conversations(1))[0].token_ids


def test_a_conversation_without_room_gets_an_empty_answer_and_the_others_theirs(engine: VLLMEngine) -> None:
    full = [{"role": "user", "content": "Left " * engine.context}]
    short = conversations(1)[0]
    policy = VLLMPolicy(engine, max_new_tokens=4)
    silent, spoken = policy.act([full, short])
    assert (silent.text, silent.token_ids, silent.logprobs, silent.finish_reason) == ("", [], [], "length")
    assert spoken.token_ids and len(silent.prompt_ids or []) > engine.context
    assert policy.act([full])[0].token_ids == [], "nobody to ask at all"
    room = engine.context - len(policy.encode(short).ids)
    whole = VLLMPolicy(engine, max_new_tokens=100 * engine.context, seed=1).act([short] * 3)
    assert all(len(one.token_ids) <= room for one in whole)
    assert policy.act([]) == []
