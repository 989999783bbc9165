"""The installed command in a user's folder: what lies there is found when it is named, and stands in for nothing."""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path
from typing import Any

import pytest

from agentrl.algorithms import ALGORITHMS
from agentrl.cli.main import reach_own_modules
from tests.installed import make_environment, run_script

WRAPPER = """
import gymnasium as gym

class Loud(gym.ObservationWrapper):
    def observation(self, observation):
        print("loud", end=" ")
        return observation
"""
LAKE = "agentrl eval agentrl/FrozenLake-Text-v0 --policy oracle --episodes 2"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_environment(tmp_path_factory.mktemp("installed") / "venv")


def test_a_wrapper_of_the_working_folder_is_found_and_nothing_else_there_is(programs: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(WRAPPER)
    for library in ("json", "numpy", "gymnasium"):  # the folder must not come first
        (tmp_path / f"{library}.py").write_text("raise SystemExit('taken for a library')")
    assert "loud" in run_script(f'{LAKE} --wrap \'[{{"wrapper": "mine:Loud"}}]\'', programs, tmp_path)
    said = run_script("agentrl list mine", programs, tmp_path, status=2)
    assert "registers no environment" in said  # it was imported


@pytest.mark.parametrize(
    ("verb", "words", "found"),
    [
        ("list", ["mine"], True),
        ("eval", ["mine:mine/Env-v0"], True),
        ("eval", ["package.part:id/Env-v0", "--json"], True),
        ("train", ["--env", '{"id": "mine:mine/Env-v0"}'], True),
        ("train", ["--env=mine:mine/Env-v0"], True),
        ("train", ["--wrap", '[{"wrapper": "mine:Class"}]'], True),
        ("train", ["--judge", '{"kind": "mine:Judge"}'], True),
        ("eval", ["mine"], False),  # no module is named
        ("list", [], False),
        ("train", ["--resume", "runs/mine"], False),
        ("eval", ["agentrl/FrozenLake-Text-v0", "--policy", "hf:mine", "--base-url", "http://mine:80"], False),
        ("eval", ["absent:absent/Env-v0", "random:0.3", "NAME=mine", "/mine:x", "."], False),
    ],
)
def test_only_a_module_that_the_command_line_names_brings_the_folder_in(
    verb: str, words: list[str], found: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").touch()
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "part.py").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(before := sys.path))
    reach_own_modules(verb, words)
    assert sys.path == ([*before, str(tmp_path)] if found else before)


def test_the_help_of_an_algorithm_takes_less_than_a_second_and_no_torch(
    programs: Path, tmp_path: Path, record_property: Any
) -> None:
    def processor_seconds(script: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run_script(script, programs, tmp_path)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    taken = min(processor_seconds("agentrl train steppo -h | grep -q lr") for _ in range(2))
    # A busy machine is slower at everything: 0.25 s is what importing Gymnasium takes on one that is not.
    assert taken < max(1.0, 4 * processor_seconds('python -c "import gymnasium"'))
    record_property("figures", f"{taken:.2f} s of processor time")
    modules = {place.partition(":")[0] for place, _ in ALGORITHMS.values()}
    code = f"import sys, agentrl.cli.train, {', '.join(sorted(modules))}; print('torch' in sys.modules)"
    assert run_script(f'python -c "{code}"', programs, tmp_path).strip() == "False"


def test_a_browser_without_playwright_is_a_missing_extra(programs: Path, tmp_path: Path) -> None:
    tasks = [{"sites": ["notes"], "start_url": "__NOTES__", "intent": "Look.", "require_login": False}]
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    (tmp_path / "make.py").write_text(
        """
import sys
sys.modules["playwright"] = None  # as where it is not installed
import agentrl, gymnasium as gym
from agentrl.core.errors import MissingExtra
live = {"sites_at": {"notes": "http://127.0.0.1:9"}, "task_file": "tasks.json"}
for env, more in (("WebArenaLite-Text", {}), ("WebArenaLite-Text", live), ("WebShop-Visual", {})):
    try:
        gym.make(f"agentrl/{env}-v0", backend="browser", **more)
    except MissingExtra as error:
        print(error)
"""
    )
    assert run_script("python make.py", programs, tmp_path).count("agentrl-suite[browser]") == 3
