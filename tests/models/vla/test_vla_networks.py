"""Both families: what is drawn is scored the same, beside slow references that go number by number."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from agentrl.models.vla.actions import BINS, from_bins
from agentrl.models.vla.flow import LARGEST, SMALLEST
from agentrl.models.vla.tokens import chosen_bins
from tests.vla import KINDS, nano_vla, some_seen

ROWS = 6


def drawn(loaded, rows: int = ROWS, **how):
    """What a policy draws, with the observations."""
    seen = some_seen(loaded, rows)
    noise = torch.rand(rows, loaded.model.noise_numbers, generator=torch.Generator().manual_seed(3))
    with torch.no_grad():
        return seen, loaded.model.draw(seen, noise.clamp(1e-6, 1 - 1e-6), **how)


@pytest.mark.parametrize("temperature", [1.0, 1.6])
@pytest.mark.parametrize("kind", KINDS)
def test_recorded_log_probabilities_are_found_again(nano_folder: Path, kind: str, temperature: float) -> None:
    loaded = nano_vla(nano_folder, kind)
    seen, found = drawn(loaded, temperature=temperature)
    scored = loaded.model.score(seen, found.record, found.step, temperature=temperature)
    assert found.logprobs.shape == (ROWS, loaded.spec.targets)
    assert torch.allclose(scored.logprobs, found.logprobs, atol=2e-5)
    assert scored.entropy.shape == scored.logprobs.shape and scored.state.shape == (ROWS, loaded.model.body.width)
    (scored.logprobs.sum() + scored.state.sum()).backward()
    assert all(w.grad is not None and bool(w.grad.isfinite().all()) for w in loaded.model.body.eyes.parameters())


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_does_not_depend_on_the_others_of_its_batch(nano_folder: Path, kind: str) -> None:
    loaded = nano_vla(nano_folder, kind)
    seen, found = drawn(loaded)
    for row in range(ROWS):
        pictures = {name: picture[row : row + 1] for name, picture in seen.pictures.items()}
        length = int(seen.mask[row].sum())  # without the padding, too
        alone = seen._replace(
            numbers=seen.numbers[row : row + 1],
            pictures=pictures,
            ids=seen.ids[row : row + 1, :length],
            mask=seen.mask[row : row + 1, :length],
        )
        scored = loaded.model.score(alone, found.record[row : row + 1], found.step[row : row + 1])
        assert torch.allclose(scored.logprobs[0], found.logprobs[row], atol=2e-5)


def test_a_chunk_is_exactly_its_tokens_and_nothing_else_has_a_probability(nano_folder: Path) -> None:
    for kind in ("parallel", "autoregressive"):
        loaded = nano_vla(nano_folder, kind)
        seen, found = drawn(loaded)
        assert found.record.shape == (ROWS, 3 * 2) and 0 <= int(found.record.min()) <= int(found.record.max()) < BINS
        assert torch.equal(found.actions.flatten(1), from_bins(found.record))
        spread, _ = loaded.model._distributions(seen, found.record, 1.0)
        assert torch.allclose(spread.exp().sum(-1), torch.ones(ROWS, 6), atol=1e-5), "256 tokens share all of it"
        model = loaded.model
        with torch.no_grad():
            before = torch.cat([model.begin.expand(ROWS, 1, -1), model.words[found.record[:, :-1]]], 1)
            given = model.places + (before if kind == "autoregressive" else 0)
            hidden = model.body(seen, given.expand(ROWS, -1, -1), causal=kind == "autoregressive").actions
            for place in range(6):  # one token at a time, by hand
                logits = [float(hidden[0, place] @ word) for word in model.words]
                total = math.log(math.fsum(math.exp(one) for one in logits))
                wanted = logits[int(found.record[0, place])] - total
                assert float(found.logprobs[0, place]) == pytest.approx(wanted, abs=1e-4)


def test_an_autoregressive_token_does_not_see_later_ones_and_a_parallel_one_sees_none(nano_folder: Path) -> None:
    for kind, unchanged in (("autoregressive", 4), ("parallel", 6)):
        loaded = nano_vla(nano_folder, kind)
        seen, found = drawn(loaded)
        other = found.record.clone()
        other[:, 3] = (other[:, 3] + 100) % BINS
        first, second = (loaded.model._distributions(seen, bins, 1.0)[0] for bins in (found.record, other))
        same = [bool(torch.allclose(first[:, place], second[:, place], atol=1e-5)) for place in range(6)]
        assert same == [True] * unchanged + [False] * (6 - unchanged)


def test_tokens_are_drawn_as_often_as_they_are_likely() -> None:
    logprobs = torch.log_softmax(torch.tensor([[0.0, 1.0, 2.0] + [-30.0] * 253]), -1)
    noise = (torch.arange(3000) + 0.5) / 3000
    bins = chosen_bins(logprobs.expand(3000, -1), noise, False)
    shares = torch.bincount(bins, minlength=3)[:3] / 3000
    assert shares.tolist() == pytest.approx(logprobs.exp()[0, :3].tolist(), abs=1e-3)
    assert chosen_bins(logprobs, noise[:1], True).tolist() == [2]


def slow_flow(loaded, seen, chain, row: int, step: int, level: float) -> list[float]:
    """The log-probability of each action of a chain, number by number; `step` -1: all steps."""
    model, steps = loaded.model, loaded.spec.denoising_steps
    given, hidden, _ = model._look(seen)
    totals = [0.0] * loaded.spec.chunk
    for number in range(steps):
        if step not in (-1, number):
            continue
        t, d = 1 - number / steps, 1 / steps
        velocity, spread = model.head(given, hidden, chain[:, number], torch.full((len(chain),), t))
        for action in range(loaded.spec.chunk):
            for place in range(loaded.spec.action_numbers):
                x, after = float(chain[row, number, action, place]), float(chain[row, number + 1, action, place])
                v = float(velocity[row, action, place])
                clean, pure = x - t * v, x + (1 - t) * v  # the action and the noise that the network sees in x
                if loaded.spec.noise == "flow_sde":
                    sigma = level * math.sqrt(t / (1 - (1 - d if number == 0 else t)))
                    mean = clean * (1 - (t - d)) + pure * (t - d - sigma**2 * d / (2 * t))
                    deviation = sigma * math.sqrt(d)
                else:
                    mean = clean * (1 - (t - d)) + pure * (t - d)
                    deviation = float(spread[row, action, place])
                    assert SMALLEST <= deviation <= LARGEST
                totals[action] += -0.5 * ((after - mean) / deviation) ** 2 - math.log(
                    deviation * math.sqrt(2 * math.pi)
                )
    return totals


@pytest.mark.parametrize("kind", ["flow_sde", "flow_noise"])
def test_the_log_probability_of_a_flow_is_that_of_a_slow_reference(nano_folder: Path, kind: str) -> None:
    loaded = nano_vla(nano_folder, kind)
    seen, found = drawn(loaded, rows=12)
    assert found.record.shape == (12, loaded.spec.denoising_steps + 1, 3, 2), "the whole chain"
    assert torch.equal(found.record[:, -1], found.actions)
    with torch.no_grad():
        for row in range(12):
            wanted = slow_flow(loaded, seen, found.record, row, int(found.step[row]), loaded.spec.noise_level)
            assert found.logprobs[row].tolist() == pytest.approx(wanted, abs=2e-3, rel=1e-4)
    steps = set(found.step.tolist())
    assert steps == {-1} if kind == "flow_noise" else len(steps) > 2 and steps <= set(range(5))


def test_only_the_random_step_of_an_sde_leaves_the_ode(nano_folder: Path) -> None:
    loaded = nano_vla(nano_folder, "flow_sde")
    seen, found = drawn(loaded)
    with torch.no_grad():
        given, hidden, _ = loaded.model._look(seen)
        for number in range(loaded.spec.denoising_steps):
            mean, _ = loaded.model.transition(given, hidden, found.record[:, number], number, 1.0)
            off = (found.record[:, number + 1] - mean.ode).abs().amax((1, 2)) > 1e-5
            assert torch.equal(off, found.step == number)


@pytest.mark.parametrize("kind", KINDS)
def test_greedy_play_reads_no_noise(nano_folder: Path, kind: str) -> None:
    loaded = nano_vla(nano_folder, kind)
    seen = some_seen(loaded, ROWS)
    with torch.no_grad():
        one, two = (loaded.model.draw(seen, torch.rand(ROWS, loaded.model.noise_numbers), greedy=True) for _ in "ab")
    assert torch.equal(one.actions, two.actions)


@pytest.mark.parametrize("kind", KINDS)
def test_imitation_ignores_what_lies_behind_the_end(nano_folder: Path, kind: str) -> None:
    loaded = nano_vla(nano_folder, kind)
    seen, found = drawn(loaded)
    kept = torch.arange(3) < torch.tensor([3, 3, 2, 2, 1, 1])[:, None]
    changed = torch.where(kept[..., None], found.actions, -found.actions)
    losses = [
        loaded.model.imitation_loss(seen, actions, kept, torch.Generator().manual_seed(0)).detach()
        for actions in (found.actions, changed)
    ]
    # A token that is not kept is an input of later ones only, and those are not kept either; a flow's actions see each
    # other, so that only what is asked of them is left out.
    assert torch.allclose(losses[0][:2], losses[1][:2], atol=1e-5)
    if kind != "flow_sde" and kind != "flow_noise":
        assert torch.allclose(losses[0], losses[1], atol=1e-5)
    assert bool((losses[0] > 0).all())
