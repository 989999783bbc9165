"""Official tasks run on sites at real addresses, from login to evaluator; what goes wrong there is never a score."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import agentrl
from agentrl.core.errors import ConfigError, EnvFault, SnapshotUnsupported
from agentrl.envs.webarena.env import WebArenaLiteEnv
from agentrl.envs.webarena.evaluators.helpers import HELPERS, Surroundings
from agentrl.envs.webarena.live import sites as live
from benchmarks.webarena.official import play
from benchmarks.webarena.ports import SitesOnPorts

pytestmark = pytest.mark.browser


@pytest.fixture
def make(tmp_path: Path, sites: SitesOnPorts, login_files: Path) -> Iterator[Any]:
    """Environments on the sites, with these rows as tasks."""
    made: list[WebArenaLiteEnv] = []

    def make_env(rows: Sequence[dict[str, Any]], **options: Any) -> WebArenaLiteEnv:
        path = tmp_path / f"tasks-{len(made)}.json"
        path.write_text(json.dumps(rows))
        made.append(
            WebArenaLiteEnv(task_file=path, backend="browser", **{"sites_at": sites.addresses, **options})
        )  # fmt: skip
        return made[-1]

    yield make_env
    for env in made:
        env.close()


def asking(answer: str, *names: str, **fields: Any) -> dict[str, Any]:
    """A task that asks for an answer."""
    evaluation = {"eval_types": ["string_match"], "reference_answers": {"must_include": [answer]}}
    return {"sites": list(names), "intent": "Say it", "eval": evaluation, **fields}


@pytest.mark.timeout(900)
@pytest.mark.long
def test_official_tasks_run_from_login_to_evaluator(
    sites: SitesOnPorts, official_file: str, monkeypatch: pytest.MonkeyPatch, record_property: Any
) -> None:
    for name, address in sites.addresses.items():
        monkeypatch.setenv(f"WA_{name.upper()}", address)
    env = WebArenaLiteEnv(task_file=official_file, sites_at="environment", backend="browser")
    assert len(env.tasks()) == 161  # four need Wikipedia
    runs = [play(env, task) for task in env.tasks()[::5]]
    env.close()
    assert [run for run in runs if run.score is None] == []
    solved = sum(run.score == 1 for run in runs)
    record_property("figures", f"{len(runs)} of 161 official tasks ran to their evaluator, {solved} scored 1")


def test_tasks_on_wikipedia_need_its_address(
    sites: SitesOnPorts, official_file: str, caplog: pytest.LogCaptureFixture
) -> None:
    env = WebArenaLiteEnv(task_file=official_file, sites_at=sites.addresses, backend="browser")
    assert "4 of 165 tasks are left out: they need the address of wikipedia" in caplog.text
    with pytest.raises(ConfigError, match="needs the address of wikipedia: set WA_WIKIPEDIA"):
        env.reset(options={"task": "file:23"})
    known = {**sites.addresses, "wikipedia": "http://127.0.0.1:9"}
    assert len(WebArenaLiteEnv(task_file=official_file, sites_at=known, backend="browser").tasks()) == 165


def test_the_agent_is_logged_in_on_every_site_of_the_task(make: Any, sites: SitesOnPorts) -> None:
    pages = [f"__{name.upper()}__{path}" for name, path in MEMBERS.items()]
    env = make([asking("x", *MEMBERS, start_url=" |AND| ".join(pages))])
    env.reset()
    for number, path in enumerate(MEMBERS.values()):
        env.step(f'do(action="Switch Tab", argument="{number}")')
        assert env.backend.view().url.endswith(path), path


MEMBERS = {"shopping_admin": "/dashboard", "reddit": "/user/MarvelsGrantMan136/account", "gitlab": "/-/profile"}


def test_one_login_serves_many_episodes_and_is_made_again_when_it_has_ended(
    make: Any, sites: SitesOnPorts, login_files: Path
) -> None:
    env = make([asking("x", "gitlab", start_url="__GITLAB__/-/profile")])
    env.reset()
    (kept,) = login_files.iterdir()
    assert kept.parent.stat().st_mode & 0o077 == 0 and "hello1234" not in kept.read_text()
    first = sites.answers
    env.reset()
    assert sites.answers - first < 15 and kept.stat().st_size  # no login
    live._logins.clear()  # as in another process, which finds the file
    first = sites.answers
    env.reset()
    assert sites.answers - first < 15
    sites.reset()  # the sessions are gone
    env.reset()
    assert env.backend.view().url.endswith("/-/profile")


def test_helpers_ask_the_sites_over_the_network(make: Any, sites: SitesOnPorts) -> None:
    env = make([asking("x", "map")])
    env.reset()
    around = Surroundings(env.backend.evaluation_page(), "", sites.addresses, env._sites.accounts)
    found = HELPERS["shopping_get_latest_order_url"](around)
    assert re.fullmatch(re.escape(sites.addresses["shopping"]) + r"/sales/order/view/order_id/[0-9]+/", found)


# ---------------------------------------------------------------------- what goes wrong


def test_a_wrong_password_is_a_fault_and_is_not_repeated_in_the_message(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WA_REDDIT_PASSWORD", "not-the-secret")
    env = make([asking("x", "reddit")])
    with pytest.raises(EnvFault, match="did not accept the account 'MarvelsGrantMan136'") as caught:
        env.reset()
    assert "not-the-secret" not in str(caught.value)
    assert "not-the-secret" not in repr(env.__dict__) and "not-the-secret" not in repr(env._sites.accounts)


def test_a_site_that_is_down_is_a_fault_at_the_start_and_pending_at_the_end(make: Any, login_files: Path) -> None:
    with SitesOnPorts(["map", "gitlab"]) as own:
        shown = {"url": "__GITLAB__", "locator": "", "required_contents": {"must_include": ["x"]}}
        place = {"eval_types": ["program_html"], "program_html": [shown]}
        env = make([asking("x", "map", start_url="__MAP__") | {"eval": place}], sites_at=own.addresses)
        env.reset()
        own.stop("gitlab")
        _, reward, terminated, _, info = env.step('exit(message="x")')
        assert terminated and info["pending"] == ["outcome"] and info["reward_terms"] == {} and reward == 0
        own.stop("map")
        with pytest.raises(EnvFault, match="does not answer"):
            env.reset()


def test_a_failing_start_page_is_a_fault(make: Any, sites: SitesOnPorts, monkeypatch: pytest.MonkeyPatch) -> None:
    from agentrl.envs.webarena.sites.messages import Response

    env = make([asking("x", "map", start_url="__MAP__")])
    monkeypatch.setattr(sites.world, "fetch", lambda request: Response("broken", 503))
    with pytest.raises(EnvFault, match="answered with status 503"):
        env.reset()


def test_sites_are_reset_by_a_function_or_a_command(make: Any, sites: SitesOnPorts, tmp_path: Path) -> None:
    called: list[Sequence[str]] = []
    env = make([asking("x", "map")], reset_sites=called.append)
    env.reset()
    assert called == [("map",)]
    mark = tmp_path / "mark"
    command = [sys.executable, "-c", "import sys; open(sys.argv[1], 'w')", str(mark)]
    make([asking("x", "map")], reset_sites=command).reset()
    assert mark.exists()
    failing = [sys.executable, "-c", "import sys; sys.exit('no such container')"]
    with pytest.raises(EnvFault, match=r"could not be reset: status 1\. no such container"):
        make([asking("x", "map")], reset_sites=failing).reset()
    with pytest.raises(EnvFault, match="could not be reset: ZeroDivisionError"):
        make([asking("x", "map")], reset_sites=lambda names: 1 // 0).reset()
    with pytest.raises(ConfigError, match="reset_sites must be a function"):
        make([asking("x", "map")], reset_sites="docker restart")


def test_real_sites_cannot_be_saved_or_forked(make: Any) -> None:
    env = make([asking("x", "map")])
    env.reset()
    with pytest.raises(SnapshotUnsupported, match="real sites cannot be saved"):
        env.snapshot()
    with pytest.raises(SnapshotUnsupported, match="real sites cannot be saved"):
        agentrl.snapshot(env)


def test_the_agent_stays_on_the_sites(make: Any) -> None:
    env = make([asking("x", "map")])
    env.reset()
    *_, info = env.step('do(action="Go To", argument="http://127.0.0.1:9/")')
    assert "cannot be reached" in info["feedback"] + env.backend.view().error
    with pytest.raises(ConfigError, match="start_url must be an address of one of the sites"):
        make([asking("x", "map", start_url="http://elsewhere.test/")]).reset()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"backend": "dom"}, 'need backend="browser"'),
        ({"task_file": None}, "need task_file"),
        ({"sites_at": {}}, "sites_at must be"),
        ({"sites_at": "elsewhere"}, "sites_at must be"),
        ({"sites_at": {"Map": "http://a"}}, "small letters"),
        ({"sites_at": {"map": "ftp://a"}}, "must be an address"),
        ({"sites_at": {"map": "http://u:p@a"}}, "must be an address"),
        ({"sites_at": "embedded", "accounts": "x.json"}, "accounts is for real sites"),
        ({"sites_at": "embedded", "reset_sites": ["x"]}, "reset_sites is for real sites"),
        ({"accounts": {"map": "secret"}}, "would be written into records"),
        ({"storage_state": "/nowhere.json"}, "storage_state must be the path"),
        ({"accounts": "/nowhere.json"}, "cannot read the accounts"),
        ({"sites": ["shopping"]}, "sites must be one of map"),
    ],
)
def test_what_does_not_fit_is_refused_at_once(tmp_path: Path, options: dict[str, Any], problem: str) -> None:
    (tmp_path / "tasks.json").write_text(json.dumps([asking("x", "map")]))
    given = {"sites_at": {"map": "http://127.0.0.1:9"}, "backend": "browser", "task_file": tmp_path / "tasks.json"}
    with pytest.raises(ConfigError, match=problem):
        WebArenaLiteEnv(**{**given, **options})


def test_no_addresses_in_the_environment_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("SHOPPING", "SHOPPING_ADMIN", "REDDIT", "GITLAB", "MAP", "WIKIPEDIA"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(f"WA_{name}", raising=False)
    with pytest.raises(ConfigError, match="set WA_SHOPPING"):
        WebArenaLiteEnv(sites_at="environment", backend="browser", task_file=tmp_path / "x.json")
