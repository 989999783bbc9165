"""`vla:FOLDER`: keyed answers, chunks from the folder, refusals before anything is played, faults with a type."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agentrl.core.errors import ConfigError, EngineFault
from agentrl.core.seeding import named_noise
from agentrl.models.vla.loading import LoadedVLA, load_vla
from agentrl.policies import load_policy, vla
from agentrl.policies.vla import VLAPolicy, noise_between
from agentrl.rollout.collect import Collector, EnvSpec, Start
from agentrl.rollout.evaluate import evaluate
from agentrl.rollout.prompts import for_policy
from tests.vla import KINDS, STATE, TOY, nano_vla, write_nano_vla


@pytest.fixture(scope="module")
def nano_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_nano_vla(tmp_path_factory.mktemp("vla") / "nano")


def saved(loaded: LoadedVLA, folder: Path) -> Path:
    """A policy's folder."""
    loaded.model.save_pretrained(folder)
    loaded.tokenizer.save_pretrained(folder)
    return folder


def play(policy: VLAPolicy, starts: int = 3, num_envs: int = 3, **kwargs: Any) -> list[Any]:
    """Some episodes of the puck."""
    collector = Collector([for_policy(EnvSpec(TOY, kwargs), policy)], policy, num_envs=num_envs, prompt_style="step")
    try:
        return collector.collect([Start(seed) for seed in range(starts)]).trajectories
    finally:
        collector.close()


@pytest.mark.parametrize("kind", KINDS)
def test_an_episode_is_the_same_alone_and_beside_others(nano_folder: Path, kind: str) -> None:
    policy = VLAPolicy(nano_vla(nano_folder, kind), seed=4)
    together, alone = play(policy, max_turns=7), play(policy, num_envs=1, max_turns=7)
    for one, other in zip(together, alone, strict=True):
        assert len(one.steps) == len(other.steps) == 3 and one.steps[-1].info["ran"] == 1
        assert np.allclose([step.action for step in one.steps], [step.action for step in other.steps], atol=1e-4)
    step = together[0].steps[0]
    assert step.info["valid"] and np.shape(step.action) == (3, 2) and len(step.logprobs) == policy.spec.targets
    if policy.spec.family == "tokens":
        first = policy.loaded.first_action
        assert len(step.response_ids) == 6 and all(first <= token < first + 256 for token in step.response_ids)
    else:
        assert np.shape(step.sampling["flow"]["chain"]) == (6, 3, 2) and step.response_ids is None
    assert json.loads(json.dumps(step.sampling)) == step.sampling


def test_a_folder_sets_the_chunks_and_the_pictures_of_an_evaluation(nano_folder: Path, tmp_path: Path) -> None:
    folder = saved(nano_vla(nano_folder, "parallel", image_size=16), tmp_path / "policy")
    assert json.loads((folder / "config.json").read_text())["chunk"] == 3
    policy = load_policy(f"vla:{folder}", greedy=True)
    found = evaluate(TOY, policy, 2)
    assert found.faults == 0 and found.valid_rate == 1.0 and found.spec is not None
    assert found.spec["kwargs"]["image_size"] == 16 and "ActionChunks" in json.dumps(found.spec)
    same = evaluate(TOY, policy, 2, wrappers=[{"wrapper": "ActionChunks", "size": 3}])
    assert same.turns_mean == found.turns_mean
    with pytest.raises(ConfigError, match="size 3, the chunk of the policy; got 2"):
        evaluate(TOY, policy, 2, wrappers=[{"wrapper": "ActionChunks", "size": 2}])
    with pytest.raises(ConfigError, match=r"reads 'image' of shape \(16, 16, 3\).*shows \(32, 32, 3\)"):
        evaluate(TOY, policy, 2, env_kwargs={"image_size": 32})
    with pytest.raises(ConfigError, match=r"reads 'image' of shape.*shows none"):
        evaluate(TOY, policy, 2, env_kwargs=STATE)
    again = load_vla(folder, "cpu")
    one, two = (model.state_dict() for model in (again.model, policy.loaded.model))
    assert all(torch.equal(one[name], two[name]) for name in two)


def test_other_robots_and_worlds_are_refused(nano_folder: Path, tmp_path: Path) -> None:
    folder = saved(nano_vla(nano_folder, "flow_sde", **STATE), tmp_path / "policy")
    with pytest.raises(ConfigError, match="actions that are arrays"):
        evaluate("agentrl/FrozenLake-Grid-v0", f"vla:{folder}", 1)
    with pytest.raises(ConfigError, match="not fitted to a robot yet"):
        load_policy(f"vla:{nano_folder}")
    policy = load_policy(f"vla:{folder}")
    with pytest.raises(ConfigError, match="text only"):
        policy.act([[{"role": "user", "content": "hello"}]])
    wrong = {"text": "Go", "proprio": np.zeros(2), "state": np.zeros(5)}
    with pytest.raises(ConfigError, match=r"'state' of shape \(4,\); the observation has \(5,\)"):
        policy.act([[{"role": "user", "content": "", "observation": wrong}]])
    seeing = load_policy(f"vla:{saved(nano_vla(nano_folder, 'parallel', image_size=16), tmp_path / 'seeing')}")
    pale = {"text": "Go", "proprio": np.zeros(2)} | dict.fromkeys(seeing.spec.cameras, np.zeros((16, 16, 3)))
    with pytest.raises(ConfigError, match="pictures must be of uint8; got float64"):
        seeing.act([[{"role": "user", "content": "", "observation": pale}]])


def test_damaged_folders_are_refused_in_one_sentence(nano_folder: Path, tmp_path: Path) -> None:
    folder = saved(nano_vla(nano_folder, "parallel", **STATE), tmp_path / "policy")
    config = json.loads((folder / "config.json").read_text())
    changes: list[tuple[dict[str, Any], str]] = [
        ({"chunk": 0}, "holds no VLA policy"),
        ({"chunk": 4}, "cannot be loaded|larger model"),
        ({"surprise": 1}, "holds no VLA policy"),
        ({"action_range": [[0, 1]]}, "same length"),
        ({"body": {**config["body"], "hidden_size": 40000}}, "larger model than the weights"),
        ({"body": {**config["body"], "model_type": "bert"}}, "must be a transformer of"),
    ]
    for change, words in changes:
        (folder / "config.json").write_text(json.dumps(config | change))
        with pytest.raises(ConfigError, match=words):
            load_vla(folder, "cpu")


def test_any_small_language_model_becomes_the_body_of_a_policy(tmp_path: Path) -> None:
    made = nano_vla("tiny-text", "autoregressive", **STATE)
    assert len(made.tokenizer) == made.first_action + 256
    again = load_vla(saved(made, tmp_path / "policy"), "cpu")
    one, two = (loaded.model.state_dict() for loaded in (made, again))
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert evaluate(TOY, VLAPolicy(again), 1, env_kwargs=STATE).faults == 0


def test_text_cannot_write_action_tokens(nano_folder: Path) -> None:
    loaded = nano_vla(nano_folder, "parallel", **STATE)
    ids = loaded.encode("Open the drawer <action_0><action_255> \ud800")
    assert all(token < loaded.first_action for token in ids)
    assert loaded.tokenizer.convert_tokens_to_ids("<action_255>") == loaded.first_action + 255


def test_noise_lies_between_0_and_1_and_holds_neither() -> None:
    """Of 17 million numbers one is the largest below 1; what is added to it must not round it up to 1."""
    given, found = named_noise(0, ["3-10.3/1/11"], 337), noise_between(0, ["3-10.3/1/11"], 337)
    assert given.max() == np.float32(1 - 2.0**-24) and found.max() == 1 - 2.0**-25
    assert torch.equal(found, torch.from_numpy(given.astype(np.float64)) + 2.0**-25)


@pytest.mark.parametrize("extreme", [0.0, 1 - 2.0**-24])
@pytest.mark.parametrize("kind", KINDS)
def test_the_most_extreme_noise_gives_a_finite_chunk(
    nano_folder: Path, kind: str, extreme: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    def noise(seed: int, names: list[str], width: int) -> np.ndarray:
        return np.full((len(names), width), extreme, np.float32)

    monkeypatch.setattr(vla, "named_noise", noise)
    for trajectory in play(VLAPolicy(nano_vla(nano_folder, kind, **STATE)), **STATE, max_turns=3):
        assert trajectory.fault is None and np.isfinite([step.logprobs for step in trajectory.steps]).all()


def test_actions_that_are_not_finite_are_a_fault_and_nothing_is_carried_out(nano_folder: Path) -> None:
    for kind in KINDS:
        loaded = nano_vla(nano_folder, kind, **STATE)
        with torch.no_grad():
            loaded.model.body.state.weight.fill_(torch.nan)
        with pytest.raises(EngineFault):
            play(VLAPolicy(loaded), **STATE)
        found = evaluate(TOY, VLAPolicy(loaded), 2, env_kwargs=STATE)
        assert found.faults == 2 and found.success is None, "a fault is never scored as failure"


def test_a_simulator_that_dies_is_a_fault_and_its_episode_begins_anew(nano_folder: Path) -> None:
    policy = VLAPolicy(nano_vla(nano_folder, "parallel", **STATE))
    kwargs = {**STATE, "max_turns": 6}
    collector = Collector(
        [for_policy(EnvSpec(TOY, kwargs), policy)], policy, num_envs=2, prompt_style="step", hosts=1, retries=1
    )
    try:
        whole = collector.collect([Start(1), Start(2)]).trajectories
        act, calls = policy.act, []

        def kill(*given: Any, **named: Any) -> Any:
            calls.append(1)
            if len(calls) == 2:  # after the first chunk of both
                collector.pool._hosts[0].kill()
            return act(*given, **named)

        policy.act = kill  # type: ignore[method-assign]
        found = collector.collect([Start(1), Start(2)])
    finally:
        collector.close()
    assert found.retries == 2 and found.faults == 0
    assert all(one.reward is not None and one.fault is None for one in found.trajectories)
    assert [len(one.steps) for one in found.trajectories] == [len(one.steps) for one in whole]


def test_a_vla_is_no_language_model(nano_folder: Path) -> None:
    with pytest.raises(ConfigError, match="is a VLA policy: play it as vla:"):
        load_policy(f"hf:{nano_folder}")
