"""Directions and points that a language model writes down are scored by the rules; the truth is not told."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agentrl.core.errors import JudgeFault
from agentrl.core.judging import JudgeRequest, Purpose, Verdict
from agentrl.core.state import State
from agentrl.envs import navigation
from agentrl.envs.navigation.claims import HOME
from agentrl.envs.primitiveskill.state import TABLE
from agentrl.judges import llm
from agentrl.judges.extraction import extraction_of
from agentrl.judges.llm import LLMJudge
from agentrl.judges.prompting import find_prompt
from benchmarks.judges.faulty_endpoint import FaultyEndpoint, honest

SKILL_ID = "agentrl/PrimitiveSkill-Stack-Text-v0"
CUBES = {"red_cube_position": [62, -55, 20], "green_cube_position": [75, 33, 20]}


@pytest.fixture(scope="module")
def server():
    with FaultyEndpoint() as running:
        yield running


@pytest.fixture
def endpoint(server):
    server.calls.clear()
    server.answer = honest
    return server


class Walk(State):
    """A target on the left."""

    @classmethod
    def claims(cls):
        return HOME

    def structured(self):
        return {"target_obj_type": "GarbageCan", "target_direction_to_player": "left"}

    def natural(self):
        return ["The GarbageCan is to the left."]


class Table(State):
    """Two cubes."""

    facts: Any = CUBES

    @classmethod
    def claims(cls):
        return TABLE

    def structured(self):
        return self.facts

    def natural(self):
        return [f"{name} {at}" for name, at in CUBES.items()]


def asked(endpoint: Any, env_id: str, state: State, claims: dict[str, Any], purpose: Purpose = "grounding") -> Any:
    endpoint.answer = lambda call: json.dumps({"code": call.code, **claims})
    request = JudgeRequest("0", env_id, purpose, "some text", state)
    with closing(LLMJudge("m", endpoint.base_url, protocol="extract", cache=False, max_malformed=0)) as judge:
        return judge.score_sync([request])[0]


def direction(name: str, where: str, slightly: bool = False) -> dict[str, Any]:
    return {"object": name, "direction": where, "slightly": slightly}


@pytest.fixture
def prompts_of_homes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The family's prompts, whether or not its environments can be made here."""
    folder = Path(str(navigation.__file__)).parent / "prompts"
    monkeypatch.setattr(
        llm, "find_prompt", lambda env, purpose, protocol, _: find_prompt(env, purpose, protocol, folder)
    )


@pytest.mark.parametrize(
    ("claims", "purpose", "score"),
    [
        ([direction("target", "left")], "grounding", 1.0),
        ([direction("trash can", "left"), direction("fridge", "right")], "grounding", 1.0),
        ([direction("target", "ahead"), direction("target", "left")], "grounding", 1.0),
        ([direction("target", "ahead"), direction("target", "left", True)], "grounding", 0.0),
        ([direction("target", "left"), direction("target", "right")], "grounding", 0.0),
        ([direction("target", "left"), direction("target", "unclear")], "grounding", 0.0),
        ([direction("agent", "left")], "grounding", 0.0),
        ([], "grounding", 0.0),
        ([direction("agent", "left")], "worldmodeling", 1.0),
        ([direction("agent", "left"), direction("target", "right")], "worldmodeling", 0.0),
        ([direction("target", "ahead"), direction("target", "left")], "worldmodeling", 0.0),
        ([direction("target", "left", True)], "worldmodeling", 0.0),
    ],
)
@pytest.mark.usefixtures("prompts_of_homes")
def test_extracted_directions_are_scored_by_the_rules(endpoint, claims, purpose, score):
    verdict = asked(endpoint, "agentrl/Navigation-Text-v0", Walk(), {"directions": claims}, purpose)
    assert isinstance(verdict, Verdict) and verdict.method == "llm:extract" and verdict.score == score
    sent = endpoint.calls[0].body
    assert "GarbageCan" not in json.dumps(sent["messages"])
    assert sent["response_format"]["json_schema"]["schema"] == extraction_of(HOME).schema
    assert verdict.evidence["prompt"] == f"navigation/{purpose}.extract@1"


def point(name: str, x: float, y: float, z: float) -> dict[str, Any]:
    return {"object": name, "x": x, "y": y, "z": z}


@pytest.mark.parametrize(
    ("claims", "score"),
    [
        ([point("red_cube", 62, -55, 20), point("The green block", 70, 30, 25)], 1.0),
        ([point("red cube", 62, -55, 20)], 0.5),
        ([point("red_cube", 62, -55, 20), point("red_cube", 75, 33, 20)], 0.0),
        ([point("cube", 62, -55, 20), point("lamp", 75, 33, 20)], 0.0),
        ([], 0.0),
    ],
)
def test_extracted_points_are_scored_by_the_rules(endpoint, claims, score):
    verdict = asked(endpoint, SKILL_ID, Table(), {"points": claims})
    assert isinstance(verdict, Verdict) and verdict.score == score
    sent = json.dumps(endpoint.calls[0].body)
    assert "-55" not in sent and "begin facts" not in sent
    assert verdict.evidence["prompt"] == "primitiveskill/grounding.extract@1"


@pytest.mark.parametrize(
    "reply",
    [{"relations": []}, {"points": [{"object": "x"}]}, {"points": [point("x", 1e300, 0, 0)]}, {"points": "red_cube"}],
)
def test_replies_of_another_shape_are_malformed(endpoint, reply):
    found = asked(endpoint, SKILL_ID, Table(), reply)
    assert isinstance(found, JudgeFault)


def test_a_state_that_cannot_be_scored_is_never_asked_about(endpoint):
    broken = Table()
    object.__setattr__(broken, "facts", {"red_cube_position": "here"})
    assert isinstance(asked(endpoint, SKILL_ID, broken, {"points": []}), JudgeFault)
    assert not endpoint.calls


def test_stored_points_are_admitted_and_scored_again(endpoint, tmp_path):
    endpoint.answer = lambda call: json.dumps({"code": call.code, "points": [point("red_cube", 62, -55, 20)]})
    request = JudgeRequest("0", SKILL_ID, "grounding", "some text", Table())
    for cached in (False, True):
        with closing(LLMJudge("m", endpoint.base_url, protocol="extract", cache=tmp_path / "replies.sqlite")) as judge:
            (verdict,) = judge.score_sync([request])
        assert isinstance(verdict, Verdict) and verdict.score == 0.5 and verdict.evidence["cached"] is cached
    assert len(endpoint.calls) == 1


@pytest.mark.parametrize("purpose", ["grounding", "worldmodeling"])
def test_a_verdict_sees_the_facts(endpoint, purpose):
    with closing(LLMJudge("m", endpoint.base_url, cache=False)) as judge:
        (verdict,) = judge.score_sync([JudgeRequest("0", SKILL_ID, purpose, "TRUTHFUL", Table())])
    assert isinstance(verdict, Verdict) and verdict.score == 1.0
    assert verdict.evidence["prompt"] == f"primitiveskill/{purpose}.verdict@1"
    assert "red_cube_position [62, -55, 20]" in endpoint.calls[0].body["messages"][1]["content"]
