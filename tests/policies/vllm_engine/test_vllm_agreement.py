"""vLLM computes what transformers computes: four tiny models, before and after an update of all their weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

from agentrl.models.loading import LoadedModel, load_model
from agentrl.policies.hf import HFPolicy
from agentrl.policies.vllm import VLLMEngine, VLLMPolicy
from agentrl.policies.vllm.weights import checkpoint_weights
from tests.policies.vllm_engine.kit import (
    CLOSE,
    MODELS,
    conversations,
    largest_error,
    model_folder,
    perturb,
    pictures_of,
    trainer_scores,
)

pytestmark = pytest.mark.vllm

WAYS: list[dict[str, Any]] = [
    {},
    {"temperature": 0.7, "top_p": 0.9},
    {"temperature": 1.5, "top_k": 5},
    {"temperature": 0.7, "greedy": True},
]


class Pair(NamedTuple):
    """The same model twice."""

    kind: str
    vllm: VLLMEngine
    hf: LoadedModel

    def talks(self, count: int = 5) -> list[Any]:
        return conversations(count, pictures=self.kind.startswith("vision"))


@pytest.fixture(scope="module", params=MODELS)
def pair(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Started once for each model; tests leave both sides with equal weights, which go over in either way."""
    folder = model_folder(request.param, tmp_path_factory.mktemp("model"))
    transfer = "ipc" if request.param in ("text-tied", "vision-untied") else "file"
    with VLLMEngine(folder, max_model_len=512, transfer=transfer) as engine:
        yield Pair(request.param, engine, load_model(folder, "cpu", "float32"))


def check_agreement(pair: Pair) -> list[Any]:
    """In every way of sampling; the log-probabilities of the first, to see them change."""
    talks, first = pair.talks(), None
    for way in WAYS:
        policy = VLLMPolicy(pair.vllm, max_new_tokens=8, seed=3, **way)
        said = policy.act(talks)
        wanted = trainer_scores(pair.hf, talks, said, **way)
        assert largest_error([one.logprobs for one in said], wanted) < CLOSE, way
        given = [[one.prompt_ids for one in said], [one.token_ids for one in said], pictures_of(talks)]
        assert largest_error(policy.logprobs_of(*given), wanted) < CLOSE, way
        first = wanted if first is None else first
        if way.get("greedy"):
            likeliest = HFPolicy(pair.hf, max_new_tokens=8, **way).act(talks)
            assert [one.token_ids for one in said] == [one.token_ids for one in likeliest]
    assert first is not None
    return first


def test_log_probabilities_agree_before_and_after_every_weight_was_replaced(pair: Pair) -> None:
    check_agreement(pair)
    talks = pair.talks()
    before = VLLMPolicy(pair.vllm, greedy=True, max_new_tokens=8).act(talks)
    for round_ in (1, 2):
        old = {name: weight.clone() for name, weight in pair.hf.model.named_parameters()}
        perturb(pair.hf.model, seed=round_)
        assert all(bool((weight != old[name]).any()) for name, weight in pair.hf.model.named_parameters())
        pair.vllm.update_weights(checkpoint_weights(pair.hf.model), version=10 * round_)
        check_agreement(pair)
    after = VLLMPolicy(pair.vllm, greedy=True, max_new_tokens=8).act(talks)
    # Had the update changed nothing, agreement with an unchanged model would look the same.
    assert largest_error([one.logprobs for one in before], trainer_scores(pair.hf, talks, before)) > 100 * CLOSE
    assert {one.version for one in before} == {0} and {one.version for one in after} == {20}
    assert pair.vllm.updates == 2 and pair.vllm.restarts == 0


def test_an_output_layer_of_its_own_is_replaced_like_the_rest(pair: Pair) -> None:
    output, embedding = pair.hf.model.get_output_embeddings().weight, pair.hf.model.get_input_embeddings().weight
    assert (output is embedding) == pair.kind.endswith("-tied")
    output.data.mul_(0.5)
    pair.vllm.update_weights(checkpoint_weights(pair.hf.model))
    talks = pair.talks()
    said = VLLMPolicy(pair.vllm, max_new_tokens=4).act(talks)
    assert largest_error([one.logprobs for one in said], trainer_scores(pair.hf, talks, said)) < CLOSE


def test_prompts_and_texts_are_those_of_the_transformers_policy(pair: Pair) -> None:
    talks = pair.talks()
    ours, theirs = VLLMPolicy(pair.vllm, max_new_tokens=6, seed=1), HFPolicy(pair.hf, max_new_tokens=6)
    assert ours.tokenizer_hash == theirs.tokenizer_hash
    for talk, said in zip(talks, ours.act(talks), strict=True):
        assert said.prompt_ids == theirs.encode(talk).ids and said.sampling == theirs.sampling.to_json()
        stopped = said.finish_reason == "stop"
        tokens = said.token_ids[:-1] if stopped else said.token_ids
        assert said.text == said.action == pair.hf.tokenizer.decode(tokens, clean_up_tokenization_spaces=False)
        assert stopped == (said.token_ids[-1] in pair.hf.stops) and len(said.logprobs) == len(said.token_ids) <= 6


def test_a_conversation_goes_on_with_the_models_own_tokens(pair: Pair) -> None:
    talks = pair.talks(2)
    policy = VLLMPolicy(pair.vllm, max_new_tokens=5, seed=2)
    for talk, said in zip(talks, policy.act(talks), strict=True):
        talk.append({"role": "assistant", "content": said.text, "token_ids": said.token_ids})
        talk.append({"role": "user", "content": "And now?"})
    second = policy.act(talks)
    assert largest_error([one.logprobs for one in second], trainer_scores(pair.hf, talks, second)) < CLOSE


def test_the_same_calls_give_the_same_answers_and_other_seeds_others(pair: Pair) -> None:
    talks = pair.talks(4) + pair.talks(1)  # the last asks what the first asks
    first, again, other = (VLLMPolicy(pair.vllm, max_new_tokens=8, seed=seed) for seed in (5, 5, 6))
    once, twice, differently = first.act(talks), again.act(talks), other.act(talks)
    assert [one.token_ids for one in once] == [one.token_ids for one in twice]
    assert [one.token_ids for one in once] != [one.token_ids for one in differently]
    assert once[0].token_ids != once[-1].token_ids, "copies of one question have dice of their own"
    assert [one.token_ids for one in first.act(talks)] != [one.token_ids for one in once], "so has every call"
    assert largest_error([one.logprobs for one in once], [one.logprobs for one in twice]) < CLOSE


def test_a_cut_only_decides_what_is_drawn(pair: Pair) -> None:
    talks = pair.talks(1) * 24
    said = VLLMPolicy(pair.vllm, max_new_tokens=1, top_k=3, temperature=0.8, seed=1).act(talks)
    free = VLLMPolicy(pair.vllm, max_new_tokens=1, temperature=0.8, seed=1)
    chosen = sorted({one.token_ids[0] for one in said})
    assert 1 < len(chosen) <= 3
    ids = said[0].prompt_ids
    scored = free.logprobs_of([ids] * len(chosen), [[token] for token in chosen], pictures_of(talks[: len(chosen)]))
    by_token = dict(zip(chosen, np.concatenate(scored).tolist(), strict=True))
    assert all(abs(one.logprobs[0] - by_token[one.token_ids[0]]) < CLOSE for one in said)
    assert np.exp(list(by_token.values())).sum() < 1, "no mass was moved to what is left"
