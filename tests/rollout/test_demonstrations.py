"""Demonstrations: right turns, wrong ones in the asked share, the model's very tokens, and nothing left to chance."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import pytest

import agentrl  # noqa: F401
from agentrl.core.errors import ConfigError
from agentrl.core.policy import Policy
from agentrl.models.loading import LoadedModel, load_model
from agentrl.policies import load_policy
from agentrl.rollout.collect import Collector, EnvSpec, Start
from agentrl.rollout.demonstrations import Demonstrator
from agentrl.rollout.prompts import prompt_at
from agentrl.rollout.trajectory import Trajectory

LAKE = EnvSpec("agentrl/FrozenLake-Text-v0")
HOMES = EnvSpec("agentrl/ALFWorld-Text-v0")
THINKING = EnvSpec(LAKE.id, {}, ({"wrapper": "Reasoning", "strategy": "grounding_worldmodeling"},))
JUDGED = EnvSpec(LAKE.id, {}, (*THINKING.wrappers, {"wrapper": "ReasoningReward", "judge": "rule"}))


@pytest.fixture(scope="module")
def engine() -> LoadedModel:
    return load_model("tiny-text", device="cpu", dtype="float32")


def demonstrated(teacher: Policy, spec: EnvSpec = LAKE, count: int = 12, **more: Any) -> list[Trajectory]:
    collector = Collector([spec], teacher, **more)
    found = collector.collect([Start(seed, id=str(seed)) for seed in range(count)]).trajectories
    collector.close()
    return found


def test_without_mistakes_everything_is_solved() -> None:
    assert all(episode.success for episode in demonstrated(Demonstrator()))


def test_with_mistakes_only_fewer_are_solved_and_the_share_lies_between() -> None:
    solved = [sum(one.success for one in demonstrated(Demonstrator(mistake_rate=m), count=60)) for m in (0.0, 0.5, 1.0)]
    assert solved[0] == 60 > solved[1] > solved[2]


def test_replies_carry_the_models_tokens_and_end_the_turn(engine) -> None:
    for episode in demonstrated(Demonstrator(engine, mistake_rate=0.3), THINKING, count=4):
        for step in episode.steps:
            assert step.response_ids is not None and step.prompt_ids is not None
            *said, last = step.response_ids
            assert last == engine.tokenizer.eos_token_id
            assert engine.tokenizer.decode(said) == step.action
            assert len(step.response_ids) < 120
        assert episode.tokenizer is not None and episode.final_prompt_ids is not None
        first, second = episode.steps[0], episode.steps[min(1, len(episode.steps) - 1)]
        if second is not first:  # a conversation goes on with what was said
            known = [*first.prompt_ids, *first.response_ids]  # pyright: ignore
            assert second.prompt_ids[: len(known)] == known  # pyright: ignore


def test_also_a_foolish_turn_is_described_as_what_it_is() -> None:
    for episode in demonstrated(Demonstrator(mistake_rate=1.0), JUDGED, count=6):
        for step in episode.steps:
            assert step.info["format"] is True and step.info["valid"] is True
            assert {term: verdict["score"] for term, verdict in step.info["verdicts"].items()} == {
                "grounding": 1.0,
                "worldmodeling": 1.0,
            }


def played(episodes: list[Trajectory]) -> list[list[list[str]]]:
    return [[step.info["actions"] for step in one.steps] for one in episodes]


@pytest.mark.parametrize("description_noise", [0.0, 0.5])
def test_what_is_said_does_not_change_what_is_played(description_noise) -> None:
    """Describing a turn looks ahead in a copy, which must not restart the episode's random numbers."""
    teacher = Demonstrator(mistake_rate=0.5, description_noise=description_noise)
    assert played(demonstrated(teacher, THINKING)) == played(demonstrated(Demonstrator(mistake_rate=0.5)))


def scores_of(episodes: list[Trajectory], term: str) -> list[float]:
    return [step.info["verdicts"][term]["score"] for episode in episodes for step in episode.steps]


def test_descriptions_are_wrong_in_the_asked_share_and_the_play_is_as_before() -> None:
    truthful = demonstrated(Demonstrator(), JUDGED, count=30)
    for share, least, most in ((1.0, 0.97, 1.0), (0.5, 0.3, 0.7)):
        found = demonstrated(Demonstrator(description_noise=share), JUDGED, count=30)
        assert [one.success for one in found] == [one.success for one in truthful]
        assert all(step.info["format"] is True and step.info["valid"] for one in found for step in one.steps)
        said, truth = ([step.action for one in many for step in one.steps] for many in (found, truthful))
        changed = sum(a != b for a, b in zip(said, truth, strict=True)) / len(said)
        assert least <= changed <= most
        assert sum(scores_of(found, "grounding")) / len(said) < 1 - 0.2 * share


def test_wrong_descriptions_depend_on_the_episode_alone_and_need_a_form_to_stand_in() -> None:
    together = demonstrated(Demonstrator(description_noise=0.5), THINKING, count=6, num_envs=6)
    apart = demonstrated(Demonstrator(description_noise=0.5), THINKING, count=6, num_envs=1)
    assert [one.to_json() for one in together] == [one.to_json() for one in apart]
    plain = [[step.action for step in one.steps] for one in demonstrated(Demonstrator(description_noise=1.0))]
    assert plain == [[step.action for step in one.steps] for one in demonstrated(Demonstrator())]


def test_an_episode_depends_on_its_seed_alone_not_on_its_neighbours() -> None:
    together = demonstrated(Demonstrator(mistake_rate=0.5, seed=1), count=9, num_envs=9)
    apart = demonstrated(Demonstrator(mistake_rate=0.5, seed=1), count=9, num_envs=2)
    assert [one.to_json() for one in together] == [one.to_json() for one in apart]
    other = demonstrated(Demonstrator(mistake_rate=0.5, seed=2), count=9)
    assert [[s.action for s in one.steps] for one in together] != [[s.action for s in one.steps] for one in other]


def test_mistakes_of_a_smaller_share_are_mistakes_of_a_larger_one() -> None:
    """The rng draws in any case, so that more mistakes change only what they must."""
    right = demonstrated(Demonstrator(mistake_rate=0.0), count=20)
    few = demonstrated(Demonstrator(mistake_rate=0.2), count=20)
    same = [a.steps[0].action == b.steps[0].action for a, b in zip(right, few, strict=True)]
    assert 10 <= sum(same) < 20


# ---------------------------------------------------------------------- other players than the oracle


@pytest.mark.parametrize("style", ["conversation", "step"])
def test_a_player_plays_as_it_does_alone_whatever_prompts_show(style) -> None:
    found = demonstrated(Demonstrator(player="alfworld-search"), HOMES, prompt_style=style)
    alone = demonstrated(load_policy("alfworld-search"), HOMES)
    assert played(found) == played(alone)
    assert 0 < sum(one.success for one in found) < 12


def test_a_player_reads_its_mistakes_as_what_was_done() -> None:
    """Also where prompts show less: all turns but the mistakes follow from the dialogue as it was."""
    found = demonstrated(
        Demonstrator(player="alfworld-search", mistake_rate=0.3), HOMES, prompt_style="step", history=0
    )
    player = load_policy("alfworld-search")
    turns = [(step.action, prompt_at(one, turn)) for one in found for turn, step in enumerate(one.steps)]
    same = [player.act([dialogue])[0].text == action for action, dialogue in turns]
    assert 0.6 < sum(same) / len(same) < 0.85


def test_a_players_turns_are_described_once_as_the_truth_has_them() -> None:
    questions = EnvSpec("agentrl/MultiHopQA-Text-v0", {"pages": 1000}, THINKING.wrappers)
    for player, spec in (("random", THINKING), ("multihop-one-search", questions)):
        steps = [step for one in demonstrated(Demonstrator(player=player), spec, count=4) for step in one.steps]
        assert all(step.info["format"] and str(step.action).count("<observation>") == 1 for step in steps)


def test_a_player_of_another_game_is_refused() -> None:
    with pytest.raises(ConfigError, match="multihop-one-search plays questions over a corpus"):
        demonstrated(Demonstrator(player="multihop-one-search"), count=1)


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan"), "half", True])
def test_a_share_that_is_none_is_refused(share) -> None:
    with pytest.raises(ConfigError, match="mistake_rate"):
        Demonstrator(mistake_rate=share)
    with pytest.raises(ConfigError, match="description_noise"):
        Demonstrator(description_noise=share)


def test_environments_must_be_shown(engine) -> None:
    with pytest.raises(ConfigError, match="demonstrator policy looks at the environments"):
        Demonstrator().act([[{"role": "user", "content": "hello"}]])


class Endless:
    """A tokenizer that knows no end."""

    eos_token_id = None

    def __init__(self, inner: Any) -> None:
        self.inner, self.backend_tokenizer = inner, inner.backend_tokenizer

    def __call__(self, text: str, **options: Any) -> Any:
        return self.inner(text, **options)


def test_a_tokenizer_without_an_end_is_refused(engine) -> None:
    endless = SimpleNamespace(tokenizer=Endless(engine.tokenizer), encoder=engine.encoder)
    env = gym.make(LAKE.id)
    env.reset(seed=1)
    with pytest.raises(ConfigError, match="no end-of-turn token"):
        Demonstrator(endless).act([[{"role": "user", "content": "hello"}]], [env])
    env.close()


def test_demonstrations_are_plain_records() -> None:
    episode = demonstrated(Demonstrator(mistake_rate=0.5), count=1)[0]
    assert Trajectory.from_json(json.loads(json.dumps(episode.to_json()))) == episode
    assert episode.policy == "demonstrator"
