"""What the trainer computes about recorded tokens is what was recorded, with and without a shared prefix."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from agentrl.models.loading import LoadedModel, load_model
from agentrl.models.scoring import Reader, token_scores
from agentrl.rollout.collect import EnvSpec
from agentrl.rollout.trajectory import Trajectory
from agentrl.trainers.update.batch import Batch, Row, padded
from agentrl.trainers.update.models import check_head
from tests.trainers.episodes import played

ENVS = {"tiny-text": ("FrozenLake-Text", "Sokoban-Text"), "tiny-vlm": ("FrozenLake-Visual", "Sokoban-Visual")}


@pytest.fixture(scope="module", params=list(ENVS))
def engine(request: pytest.FixtureRequest) -> LoadedModel:
    return load_model(request.param, device="cpu", dtype="float32")


def episodes(engine: LoadedModel, style: str, envs: int = 2) -> list[Trajectory]:
    names = ENVS["tiny-text" if engine.encoder.image_token is None else "tiny-vlm"][:envs]
    specs = [EnvSpec(f"agentrl/{name}-v0", {"max_turns": 2, "image_size": 64}) for name in names]
    return played(engine, specs, style=style)


def scores(engine: LoadedModel, reader: Reader, rows: list[Row]) -> tuple[torch.Tensor, torch.Tensor]:
    hidden = reader.hidden(engine.model, rows)
    return token_scores(engine.model, hidden.before, hidden.targets, 0.8).logprobs, hidden.after


@pytest.mark.parametrize("style", ["conversation", "step"])
def test_training_logprobs_are_the_recorded_ones(engine: LoadedModel, style: str) -> None:
    batch = Batch(episodes(engine, style))
    assert len(batch) == 4 and len(batch.rows) == (4 if style == "conversation" else 8)
    with torch.no_grad():
        found, _ = scores(engine, Reader.of(engine), batch.rows)
    recorded = padded([torch.tensor(row.logprobs) for row in batch.rows])
    assert float((found - recorded).abs().max()) < 1e-4
    assert float(recorded.abs().max()) > 1  # there was something to compare


@pytest.mark.parametrize("style", ["conversation", "step"])
def test_a_shared_prefix_changes_neither_values_nor_gradients(engine: LoadedModel, style: str) -> None:
    rows = Batch(episodes(engine, style, envs=1)).rows
    shared, alone = Reader.of(engine), Reader.of(engine, share_prefix=False)
    assert shared._prefix(rows) > 8 and alone.share_prefix is False
    found = [with_gradients(engine, reader, rows) for reader in (shared, alone)]
    for name in found[0]:
        assert torch.allclose(found[0][name], found[1][name], atol=2e-5, rtol=1e-4), name
    assert float(found[0]["logprobs"].abs().max()) > 1


def with_gradients(engine: LoadedModel, reader: Reader, rows: list[Row]) -> dict[str, Any]:
    engine.model.zero_grad()
    logprobs, after = scores(engine, reader, rows)
    (logprobs.sum() / 10 + (after**2).mean()).backward()
    found = {name: p.grad.clone() for name, p in engine.model.named_parameters() if p.grad is not None}
    engine.model.zero_grad()
    return found | {"logprobs": logprobs.detach(), "after": after.detach()}


def test_the_prefix_ends_before_the_first_needed_state_and_before_what_differs() -> None:
    reader = Reader.of(load_model("tiny-text", device="cpu", dtype="float32"))
    same = list(range(10, 30))
    rows = [Row(0, [*same, 40, 41], [21]), Row(0, [*same, 50, 51, 52], [21, 22])]
    assert reader._prefix(rows) == 20
    assert reader._prefix(rows[:1]) == 0  # nobody to share it with
    assert reader._prefix([replace(rows[0], targets=[12]), rows[1]]) == 11
    assert reader._prefix([replace(rows[0], targets=[3]), rows[1]]) == 0  # too short to be worth a second pass
    assert reader._prefix([rows[0], Row(0, [9, *same], [20])]) == 0


def test_a_prefix_is_shared_only_where_it_spares_more_than_a_pass_costs() -> None:
    reader = replace(Reader.of(load_model("tiny-text", device="cpu", dtype="float32")), least_saved=100)
    row = Row(0, list(range(10, 61)), [51])
    assert reader._prefix([row] * 2) == 0  # 50 tokens are spared
    assert reader._prefix([row] * 3) == 50


def test_a_reply_that_ended_with_the_picture_token_needs_no_picture() -> None:
    engine = load_model("tiny-vlm", device="cpu", dtype="float32")
    image = engine.encoder.image_token
    assert image is not None
    rows = [Row(0, [20, 21, 22, image], [3], [True], [0.0], [True], [0])]
    with torch.no_grad():
        found, _ = scores(engine, Reader.of(engine), rows)
        logits = engine.model(input_ids=torch.tensor([[20, 21, 22]])).logits[0, -1] / 0.8
    assert float(found[0, 0]) == pytest.approx(float(torch.log_softmax(logits, -1)[image]), abs=1e-5)


def test_entropy_and_temperature_are_those_of_the_distribution_that_is_sampled(engine: LoadedModel) -> None:
    rows = [Row(0, [20, 21, 22, 23], [2, 3], [True] * 2, [0.0] * 2, [False, True], [0, 0])]
    with torch.no_grad():
        hidden = Reader.of(engine).hidden(engine.model, rows)
        found = token_scores(engine.model, hidden.before, hidden.targets, 0.5, entropy="watched")
        logits = engine.model(input_ids=torch.tensor([rows[0].ids])).logits[0, 1:3] / 0.5
    spread = torch.distributions.Categorical(logits=logits)
    assert found.entropy is not None
    assert torch.allclose(found.entropy[0], spread.entropy(), atol=1e-4)
    assert torch.allclose(found.logprobs[0], spread.log_prob(torch.tensor([22, 23])), atol=1e-4)


def test_the_value_behind_a_prompt_is_that_of_its_last_token(engine: LoadedModel) -> None:
    from agentrl.models.chat import Prompt

    prompts = [Prompt([20, 21, 22, 23]), Prompt([24, 25])]
    with torch.no_grad():
        found = Reader.of(engine).last_hidden(engine.model, prompts)
        alone = engine.model.base_model(input_ids=torch.tensor([[24, 25]])).last_hidden_state[0, -1]
    assert torch.allclose(found[1], alone, atol=1e-5)


def test_a_model_that_changes_its_logits_after_the_output_layer_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    model = load_model("tiny-text", device="cpu", dtype="float32").model
    assert check_head(model, 100)
    plain = model.forward

    def capped(*args: Any, **kwargs: Any) -> Any:
        found = plain(*args, **kwargs)
        found.logits = 3 * torch.tanh(found.logits + 1)
        return found

    monkeypatch.setattr(model, "forward", capped)
    assert not check_head(model, 100)
