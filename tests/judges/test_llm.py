"""The LLM judge keeps order, shares answers, counts what it spends and takes bad requests one by one."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from contextlib import closing

import pytest

from agentrl.core.errors import ConfigError, JudgeFault, MissingExtra
from agentrl.core.judging import Judge, JudgeRequest, Verdict
from agentrl.core.specs import resolve
from agentrl.judges.llm import LLMJudge
from benchmarks.judges.faulty_endpoint import FaultyEndpoint
from benchmarks.judges.room import Room
from benchmarks.judges.selfcheck_llm import batch, cache_answers, request

ROOM = Room().structured()


@pytest.fixture
def endpoint():
    with FaultyEndpoint() as server:
        yield server


def scores(results) -> list[float]:
    return [each.score for each in results]


def expected(requests) -> list[float]:
    return [float("TRUTHFUL" in each.text) for each in requests]


# ---------------------------------------------------------------------- the protocol


def test_verdicts_come_in_the_order_of_the_requests(endpoint):
    endpoint.behave = lambda call: "429" if call.number % 3 == 0 else "ok"
    requests = batch(60, "order")
    with closing(LLMJudge("m", endpoint.base_url, cache=False, backoff=0.001)) as judge:
        assert isinstance(judge, Judge)
        assert scores(judge.score_sync(requests)) == expected(requests)
        assert judge.score_sync([]) == []


def test_it_works_inside_a_running_loop_and_outside(endpoint):
    requests = batch(6, "loops")
    with closing(LLMJudge("m", endpoint.base_url, cache=False)) as judge:

        async def inside():
            return scores(await judge.score(requests)), scores(judge.score_sync(requests))

        first = asyncio.run(inside())
        second = asyncio.run(inside())  # another loop, the same judge
        assert first == second == (expected(requests), expected(requests))
        assert scores(judge.score_sync(requests)) == expected(requests)


def test_cancelling_ends_the_calls_and_leaves_the_judge_usable(endpoint):
    endpoint.behave = lambda call: "hang" if "slow" in call.text else "ok"
    with closing(LLMJudge("m", endpoint.base_url, cache=False)) as judge:

        async def cancelled():
            task = asyncio.create_task(judge.score(batch(5, "slow")))
            while endpoint._in_work < 5:
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(cancelled())
        until = time.monotonic() + 5
        while endpoint._in_work and time.monotonic() < until:
            time.sleep(0.01)
        assert endpoint._in_work == 0
        assert scores(judge.score_sync(batch(2, "quick"))) == [0.0, 1.0]


def test_closing_ends_the_thread_and_the_judge_can_be_used_again(endpoint):
    import threading

    def threads():
        return sum(thread.name == "agentrl-judge" for thread in threading.enumerate())

    before = threads()
    judge = LLMJudge("m", endpoint.base_url, cache=False)
    for _ in range(2):
        assert len(judge.score_sync(batch(2, "again"))) == 2
        assert threads() == before + 1
        judge.close()
        until = time.monotonic() + 5
        while threads() > before and time.monotonic() < until:
            time.sleep(0.01)
        assert threads() == before
    judge.close()


def test_bad_requests_are_faults_of_their_own(endpoint):
    class Broken:
        pass

    bad = [
        JudgeRequest("1", "agentrl/Sokoban-Text-v0", "grounding", None, ROOM),  # type: ignore[arg-type]
        JudgeRequest("2", "agentrl/Sokoban-Text-v0", "grounding", "x", Broken()),  # type: ignore[arg-type]
        JudgeRequest("3", "agentrl/Sokoban-Text-v0", "riddle", "x", ROOM),  # type: ignore[arg-type]
        JudgeRequest("4", "agentrl/Sokoban-Text-v0", "grounding", "x", {"a": {1, 2}}),
    ]
    with closing(LLMJudge("m", endpoint.base_url, cache=False)) as judge:
        results = judge.score_sync([request(0, "TRUTHFUL"), *bad, request(9, "mistaken")])
        assert [type(each) for each in results] == [Verdict, *[JudgeFault] * 4, Verdict]
        assert judge.usage.faults == 4
        assert len(endpoint.calls) == 2


@pytest.mark.parametrize("text", ["", "\ud800", "\x00" * 50, "x" * 200_000, "🙂" * 5000, "$fence ${code} $$ $"])
def test_any_string_can_be_judged(text, endpoint):
    with closing(LLMJudge("m", endpoint.base_url)) as judge:
        assert scores(judge.score_sync([request(0, text)])) == [0.0]
        sent = endpoint.calls[0].body["messages"][1]["content"]
    assert len(sent) < 8000


# ---------------------------------------------------------------------- extraction


def test_extracted_relations_are_scored_by_the_rules_and_the_truth_is_not_told(endpoint):
    def relations(call):
        claims = [
            {"object": "Target0", "vertical": "above", "horizontal": "left"},
            {"object": "box", "vertical": "same", "horizontal": "right"},
            {"object": "box", "vertical": "none", "horizontal": "none"},
        ]
        return json.dumps({"code": call.code, "relations": claims})

    endpoint.answer = relations
    with closing(LLMJudge("m", endpoint.base_url, protocol="extract", cache=False)) as judge:
        asked = JudgeRequest(
            "0", "agentrl/Sokoban-Text-v0", "grounding", "the target is up and left, the box right", ROOM
        )
        (verdict,) = judge.score_sync([asked])
    assert verdict.score == 0.5  # target right, box wrong
    assert verdict.method == "llm:extract"
    assert len(verdict.evidence["claimed"]) == 2
    assert "position" not in endpoint.calls[0].question.split("begin text")[1]
    assert "[1, 1]" not in json.dumps(endpoint.calls[0].body)


def test_extraction_needs_a_state_with_relations(endpoint):
    other = JudgeRequest("1", "agentrl/Kitchen-v0", "grounding", "x", {"temperature": 3})
    with closing(LLMJudge("m", endpoint.base_url, protocol="extract", cache=False)) as judge:
        assert isinstance(judge.score_sync([other])[0], JudgeFault)
    assert not endpoint.calls


def test_states_of_the_environments_are_described_in_their_representation(endpoint):
    from agentrl.envs.grid.sokoban import SokobanState

    state = SokobanState(("#####", "#O__#", "#_XP#", "#####"))
    with closing(LLMJudge("m", endpoint.base_url, cache=False)) as judge:
        for representation in ("natural", "symbolic", "structured"):
            asked = JudgeRequest("0", "agentrl/Sokoban-Visual-v0", "worldmodeling", "TRUTHFUL", state, representation)
            assert scores(judge.score_sync([asked])) == [1.0]
    told = [call.question for call in endpoint.calls]
    assert "box0 is at the same row and to the left of the player" in told[0]
    assert "#_XP#" in told[1]
    assert '"player_position": [2, 3]' in told[2]


# ---------------------------------------------------------------------- cache and accounting


def test_a_second_run_makes_no_call():
    passed, detail = cache_answers()
    assert passed, detail


def test_equal_questions_are_asked_once_even_from_several_tasks(endpoint, tmp_path):
    endpoint.latency = 0.05
    with closing(LLMJudge("m", endpoint.base_url, cache=tmp_path / "c", input_price=1.0)) as judge:

        async def together():
            return await asyncio.gather(*(judge.score([request(i, "TRUTHFUL")] * 3) for i in range(4)))

        results = [each for part in asyncio.run(together()) for each in part]
        assert scores(results) == [1.0] * 12
        assert len(endpoint.calls) == 1
        assert sum(each.cost for each in results) == judge.usage.cost == 100.0
        assert judge.usage.cached == 11


def test_other_models_parameters_and_prompts_are_other_questions(endpoint, tmp_path):
    prompts = tmp_path / "prompts" / "room"
    prompts.mkdir(parents=True)
    from agentrl.judges.prompting import FOLDER, read_prompt

    original = (FOLDER / "general" / "grounding.verdict.txt").read_text()
    (prompts / "grounding.verdict.txt").write_text(original.replace("version: 1", "version: 1.1"))
    variants = [
        {},
        {"model": "other"},
        {"temperature": 0.5},
        {"max_tokens": 7},
        {"extra_body": {"top_k": 1}},
        {"response_format": "none"},
        {"prompts": tmp_path / "prompts"},
    ]
    for number, variant in enumerate(variants, 1):
        for _ in range(2):
            with closing(
                LLMJudge(**{"model": "m", "base_url": endpoint.base_url, "cache": tmp_path / "c", **variant})
            ) as judge:
                assert scores(judge.score_sync([request(0, "TRUTHFUL")])) == [1.0]
        assert len(endpoint.calls) == number, variant
    assert read_prompt(prompts / "grounding.verdict.txt").version == "1.1"
    assert endpoint.calls[4].body["top_k"] == 1


def test_rows_of_nonsense_are_asked_again(endpoint, tmp_path):
    import sqlite3

    path = tmp_path / "c"
    with closing(LLMJudge("m", endpoint.base_url, cache=path)) as judge:
        assert scores(judge.score_sync([request(0, "TRUTHFUL")])) == [1.0]
    for nonsense in ('{"verdict": "MAYBE"}', "null", '"YES"', "{"):
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE replies SET value = ?", (nonsense,))
        with closing(LLMJudge("m", endpoint.base_url, cache=path)) as judge:
            assert scores(judge.score_sync([request(0, "TRUTHFUL")] * 2)) == [1.0, 1.0]
            assert judge.usage.calls == 1


def test_tokens_and_money_are_counted(endpoint):
    endpoint.behave = lambda call: "half" if call.attempt == 1 and "TRUTHFUL" in call.text else "ok"
    with closing(LLMJudge("m", endpoint.base_url, cache=False, input_price=2e-6, output_price=1e-5)) as judge:
        results = judge.score_sync(batch(4, "money"))
        used = judge.metrics()
    assert used["calls"] == 6 and used["malformed"] == used["retries"] == 2 and used["faults"] == 0
    assert used["tokens_in"] == 400 and used["tokens_out"] == 40  # half a reply says nothing about its tokens
    assert used["cost"] == pytest.approx(4 * (100 * 2e-6 + 10 * 1e-5)) == pytest.approx(sum(r.cost for r in results))


# ---------------------------------------------------------------------- configuration


def test_a_spec_builds_the_judge_and_the_judge_gives_its_spec(endpoint):
    spec = {"kind": "llm", "model": "m", "base_url": endpoint.base_url, "protocol": "extract", "timeout": 3}
    first = resolve("judge", spec)
    second = resolve("judge", json.loads(json.dumps(first.to_json())))
    assert isinstance(second, LLMJudge)
    assert second.to_json() == first.to_json()
    assert second.protocol == "extract" and second.to_json()["timeout"] == 3


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"model": ""}, "model"),
        ({"model": "m", "protocol": "guess"}, "protocol"),
        ({"model": "m", "response_format": "xml"}, "response_format"),
        ({"model": "m", "base_url": "localhost:8000"}, "base_url"),
        ({"model": "m", "base_url": "http://user:secret@host/v1"}, "credentials"),
        ({"model": "m", "timeout": 0}, "timeout"),
        ({"model": "m", "deadline": float("nan")}, "deadline"),
        ({"model": "m", "max_concurrency": 0}, "max_concurrency"),
        ({"model": "m", "requests_per_minute": -1}, "requests_per_minute"),
        ({"model": "m", "max_malformed": 3}, "max_malformed"),
        ({"model": "m", "input_price": -1}, "input_price"),
        ({"model": "m", "tempratur": 1}, "tempratur"),
    ],
)
def test_wrong_arguments_are_named(arguments, named):
    with pytest.raises(ConfigError, match=named) as caught:
        resolve("judge", {"kind": "llm", **arguments})
    assert "secret" not in str(caught.value) or "user:secret" not in str(caught.value)


def test_without_a_key_the_public_endpoint_is_not_called():
    with closing(LLMJudge("m", cache=False)) as judge, pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        judge.score_sync([request(0, "x")])


def test_a_missing_package_names_the_extra(endpoint, monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    with (
        closing(LLMJudge("m", endpoint.base_url, cache=False)) as judge,
        pytest.raises(MissingExtra, match=r"agentrl-suite\[openai\]"),
    ):
        judge.score_sync([request(0, "x")])


def test_importing_judges_imports_no_client_library():
    import subprocess

    code = "import sys, agentrl.judges.llm, agentrl.judges.outcome; print(*(m in sys.modules for m in sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, "openai", "aiolimiter"], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "False"]


def test_a_judge_nobody_closed_leaves_no_warning_and_works_in_a_forked_child(endpoint, tmp_path):
    import subprocess

    code = """
import os, sys
from agentrl.judges.llm import LLMJudge
from benchmarks.judges.selfcheck_llm import batch
judge = LLMJudge("m", sys.argv[1], cache=False)
print([each.score for each in judge.score_sync(batch(2, "parent"))], flush=True)
if (child := os.fork()) == 0:
    print([each.score for each in judge.score_sync(batch(2, "child"))], flush=True)
    os._exit(0)
os.waitpid(child, 0)
print([each.score for each in judge.score_sync(batch(2, "later"))])
"""
    arguments = [sys.executable, "-W", "always::ResourceWarning", "-c", code, endpoint.base_url]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines() == ["[0.0, 1.0]"] * 3
    assert "ResourceWarning" not in done.stderr and "Exception" not in done.stderr
