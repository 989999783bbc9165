"""Sessions: named episodes of many clients play as they do here, within limits, and what hangs costs only itself."""

from __future__ import annotations

import sys
import threading
import time
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest

import agentrl
from agentrl.core.errors import ConfigError, Fault, SessionFault, SnapshotError
from agentrl.rollout.hosts import make_stack
from agentrl.rollout.isolated import IsolatedEnv
from agentrl.rollout.starts import Stack
from agentrl.serve.sessions import Limits, Sessions
from tests.rollout.troubled_envs import TROUBLED, eventually

LAKE, GRID = "agentrl/FrozenLake-Text-v0", "agentrl/FrozenLake-Grid-v0"


@pytest.fixture
def sessions(request: pytest.FixtureRequest):
    made: list[Sessions] = []

    def make(ids: Any = (LAKE, GRID, TROUBLED), **options: Any) -> Sessions:
        made.append(Sessions(ids, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_episodes_play_as_they_do_here_in_threads_and_hosts(sessions) -> None:
    for quick in ((), (TROUBLED,)):
        client = sessions(quick=quick).join("here")
        for env_id, actions in ((LAKE, ["Down", "Right", "nonsense"]), (TROUBLED, ["good", "fine"])):
            env, name = make_stack(Stack(env_id)), client.open(env_id)["episode"]
            observation, info = env.reset(seed=3)
            assert client.call(name, "reset", 3, None)[:2] == [observation, info]
            for action in actions:
                assert client.call(name, "step", action) == list(env.step(action))


def test_turns_of_one_episode_in_one_message_show_a_picture_each(sessions) -> None:
    env_id = "agentrl/Navigation-Visual-v0"
    client, env, answers = sessions([env_id]).join("here"), make_stack(Stack(env_id)), SimpleQueue()
    name = client.open(env_id)["episode"]
    env.reset(seed=3)
    client.call(name, "reset", 3, None)
    turns = ["rotateleft", "rotateright, rotateright"]
    client.submit([(name, "step", (turn,)) for turn in turns], answers.put)
    pictures = [answer[1][0]["image"] for answer in answers.get()]
    assert not np.array_equal(*pictures)
    for turn, picture in zip(turns, pictures, strict=True):
        assert np.array_equal(picture, env.step(turn)[0]["image"])


def test_facts_make_equal_spaces_and_name_the_rules(sessions) -> None:
    from agentrl.core.space_codec import from_plain

    client = sessions().join("here")
    for env_id in (LAKE, GRID):
        facts, env = client.open(env_id, {"split": "dev"}), make_stack(Stack(env_id, {"split": "dev"}))
        assert [from_plain(each) for each in facts["spaces"]] == [env.action_space, env.observation_space]
        assert facts["split"] == "dev" and facts["rules"] == env.get_wrapper_attr("system_prompt")


def test_snapshots_fork_an_episode(sessions) -> None:
    client = sessions().join("here")
    one, two = (client.open(LAKE)["episode"] for _ in range(2))
    client.call(one, "reset", 5, None)
    client.call(two, "reset", 6, None)
    blob = client.call(one, "snapshot")
    client.call(two, "restore", blob)
    assert client.call(one, "step", "Down") == client.call(two, "step", "Down")
    with pytest.raises(SnapshotError):
        client.call(two, "restore", b"nonsense")
    env = make_stack(Stack(LAKE))
    agentrl.restore(env, blob)
    assert env.unwrapped.state().to_json() == client.call(one, "reset", 5, None)[1]["state"]


def test_calls_that_come_together_are_answered_in_order(sessions) -> None:
    client, answers, done = sessions().join("here"), [], threading.Event()
    names = [client.open(each)["episode"] for each in (LAKE, GRID, TROUBLED, LAKE, TROUBLED)]
    for number, name in enumerate(names):
        client.call(name, "reset", number, None)
    actions = ["Down", np.int64(1), "good", "Up", "good"]
    calls = [(name, "step", (action,)) for name, action in zip(names, actions, strict=True)]
    client.submit([*calls, ("e99", "step", ("Up",))], lambda found: (answers.extend(found), done.set()))
    assert done.wait(30)
    assert [answer[0] for answer in answers] == ["ok"] * 5 + ["fault"]
    assert answers[2][1][0] == {"text": "episode 2 turn 1"} and answers[4][1][0] == {"text": "episode 4 turn 1"}


def test_limits_are_by_address_and_in_all_and_closing_makes_room(sessions) -> None:
    here = sessions(limits=Limits(sessions=3, per_address=2))
    one, same, other = here.join("a"), here.join("a"), here.join("b")
    first = one.open(LAKE)["episode"]
    same.open(LAKE)
    with pytest.raises(SessionFault, match="2 of them yours") as refused:
        one.open(LAKE)
    assert refused.value.reason == "limit"
    other.open(LAKE)
    with pytest.raises(SessionFault, match="at most 3"):
        here.join("c").open(LAKE)
    one.call(first, "close")
    assert one.open(LAKE)["episode"] != first
    other.leave()
    assert len(here) == 2
    for _ in range(20):  # an environment that cannot be made takes no place
        with pytest.raises(ConfigError):
            other_b = here.join("b")
            other_b.open(LAKE, {"size": -1})
    assert len(here) == 2


def test_an_episode_belongs_to_its_client(sessions) -> None:
    here = sessions()
    one, other = here.join("a"), here.join("a")
    name = one.open(LAKE)["episode"]
    for method in ("reset", "step", "state", "snapshot", "close"):
        with pytest.raises(SessionFault) as refused:
            other.call(name, method, None)
        assert refused.value.reason == "unknown"
    one.call(name, "reset", 1, None)


@pytest.mark.parametrize(
    "given",
    [
        ("agentrl/Sokoban-Text-v0", {}),  # not offered
        ("os:agentrl/Sokoban-Text-v0", {}),
        (7, {}),
        (LAKE, {"nonsense": 1}),
        (LAKE, []),
        (TROUBLED, {"once": "/etc/passwd"}),  # an argument that no class calls safe
    ],
)
def test_what_may_not_be_opened_is_refused(sessions, given) -> None:
    with pytest.raises(ConfigError):
        sessions().join("a").open(*given)


def test_only_named_calls_are_made(sessions) -> None:
    client = sessions().join("a")
    name = client.open(LAKE)["episode"]
    client.call(name, "reset", 1, None)
    for method, args in (("set", ("max_turns", 9)), ("ask", ("close",)), ("ask", ()), ("__init__", ()), (3, ())):
        with pytest.raises(ConfigError, match="must be one of"):
            client.call(name, method, *args)
    assert client.call(name, "ask", "oracle")


def test_players_are_not_told_the_truth(sessions) -> None:
    client = sessions(truth=False).join("a")
    name = client.open(LAKE)["episode"]
    _, info, _ = client.call(name, "reset", 1, None)
    assert not {"state", "anchor"} & set(info) and "task" in info
    assert not {"state", "anchor"} & set(client.call(name, "step", "Down")[-1])
    for method, args in (("state", ()), ("snapshot", ()), ("restore", (b"",)), ("ask", ("oracle",))):
        with pytest.raises(ConfigError, match="hidden"):
            client.call(name, method, *args)


def test_what_an_environment_raises_is_its_own_fault_without_a_traceback(sessions) -> None:
    client = sessions(quick=[TROUBLED]).join("a")
    name = client.open(TROUBLED)["episode"]
    client.call(name, "reset", 1, None)
    with pytest.raises(Fault, match="a bug of the simulator") as found:
        client.call(name, "step", "raise")
    assert "Traceback" not in str(found.value)


@pytest.mark.parametrize("quick", [(TROUBLED,), ()])
def test_a_call_that_hangs_costs_its_episode_only(sessions, quick) -> None:
    here = sessions(limits=Limits(call_seconds=4.0), quick=quick, threads=1, hosts=2)
    client = here.join("a")
    bad, good = client.open(TROUBLED)["episode"], client.open(TROUBLED)["episode"]
    for name in (bad, good):
        client.call(name, "reset", 1, None)
    began = time.monotonic()
    with pytest.raises(Fault):
        client.call(bad, "step", "hang")
    assert time.monotonic() - began < 60
    assert client.call(good, "step", "good")[1] == 1.0
    name = client.open(TROUBLED)["episode"]
    assert client.call(name, "reset", 1, None)[0] == {"text": "episode 1 turn 0"}


@pytest.mark.parametrize("quick", [(TROUBLED,), ()])
def test_a_client_that_leaves_before_its_environment_could_not_be_made_costs_nobody_else(sessions, quick) -> None:
    here = sessions(quick=quick, threads=1, hosts=1)
    good, answers = here.join("a"), SimpleQueue()
    name = good.open(TROUBLED)["episode"]
    for _ in range(3):
        bad = here.join("b")
        bad.submit_open(TROUBLED, {"turns": "many"}, answers.put)  # refused, and by then nobody is there
        bad.submit([("e1", "reset", (1, None)), ("e1", "step", ("good",))], answers.put)
        bad.leave()
    assert good.call(name, "reset", 1, None)[0] == {"text": "episode 1 turn 0"} and len(here) == 1
    assert [answers.get(timeout=20) for _ in range(6)]


def test_what_is_no_exception_and_what_cannot_be_sent_cost_their_calls_alone(sessions) -> None:
    here = sessions(quick=[TROUBLED], threads=1)
    client, answers, nested = here.join("a"), SimpleQueue(), []
    names = [client.open(each)["episode"] for each in (TROUBLED, LAKE)]
    client.call(names[0], "reset", 1, None)
    with pytest.raises(Fault, match="KeyboardInterrupt"):
        client.call(names[0], "step", "interrupt")
    assert client.call(names[1], "reset", 1, None)
    far = sessions(quick=(), hosts=1).join("a")
    names = [far.open(TROUBLED)["episode"] for _ in range(2)]
    for name in names:
        far.call(name, "reset", 1, None)
    for _ in range(100_000):
        nested = [nested]
    far.submit([(name, "step", (nested,)) for name in names], answers.put)
    assert {answer[0] for answer in answers.get(timeout=30)} == {"config"}
    assert far.call(names[0], "step", "good")[1] == 1.0


def test_idle_episodes_are_closed_and_played_ones_are_not(sessions) -> None:
    here = sessions(limits=Limits(idle_seconds=4.0))
    client = here.join("a")
    idle, used = client.open(LAKE)["episode"], client.open(LAKE)["episode"]

    def reaped() -> bool:
        client.call(used, "reset", 1, None)
        return idle not in client.episodes

    eventually(reaped)
    with pytest.raises(SessionFault, match="nobody played it"):
        client.call(idle, "reset", 1, None)


def test_draining_lets_open_episodes_end_and_opens_none(sessions) -> None:
    here = sessions()
    client = here.join("a")
    name = client.open(LAKE)["episode"]
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(here.drain(60)))
    thread.start()
    eventually(lambda: here.closing)
    with pytest.raises(SessionFault) as refused:
        client.open(LAKE)
    assert refused.value.reason == "closing"
    client.call(name, "reset", 1, None)
    client.call(name, "close")
    thread.join(60)
    assert found == [True]


def test_a_family_whose_packages_are_elsewhere_plays_with_that_interpreter(sessions, monkeypatch) -> None:
    from agentrl.serve import sessions as module

    monkeypatch.setattr(module, "is_available", lambda entry: False)
    monkeypatch.setenv("AGENTRL_METAWORLD_PYTHON", sys.executable)
    module.python_of.cache_clear()
    try:
        assert module.python_of("agentrl/MetaWorld-reach-v0") == sys.executable
        assert module.python_of(LAKE) is None
    finally:
        module.python_of.cache_clear()
    env = IsolatedEnv(Stack(LAKE), python=sys.executable)
    here = make_stack(Stack(LAKE))
    assert env.reset(seed=2) == here.reset(seed=2) and env.step("Down") == here.step("Down")
    assert env.action_space == here.action_space
    env.close()
    assert env.pid is None
    with pytest.raises(ConfigError, match="given to the host"):
        IsolatedEnv(Stack(LAKE), env.host, python=sys.executable)
