"""The official tasks load as they are; what can be evaluated without their sites is."""

from __future__ import annotations

import re
import zipfile
from functools import cache
from pathlib import Path

import msgspec
import pytest

from agentrl.core.errors import ConfigError
from agentrl.envs.webarena.evaluators.evaluate import evaluate
from agentrl.envs.webarena.evaluators.helpers import PREFIX, parse_helper
from agentrl.envs.webarena.evaluators.locators import check_locator
from agentrl.envs.webarena.tasks.addresses import default_addresses, resolve
from agentrl.envs.webarena.tasks.files import SETS, find_official, official_tasks
from agentrl.envs.webarena.tasks.schema import Requirements, WebTask
from tests.envs.webarena.evaluators.hand_made import HandMadeBackend

NOWHERE = HandMadeBackend({}, "about:blank")
ADDRESSES = {**default_addresses(), "wikipedia": "http://wikipedia.test"}
WRONG = ["", "I cannot say.", "banana", "http://nowhere.test"]


@pytest.fixture(autouse=True)
def _needs_the_packages(request: pytest.FixtureRequest) -> None:
    if any(find_official(name) is None for name in SETS):
        reason = f"needs the official tasks: {' and '.join(each.command for each in SETS.values())}"
        (pytest.fail if request.config.getoption("--require-all") else pytest.skip)(reason)


@cache
def tasks(name: str) -> list[WebTask]:
    return [resolve(task, ADDRESSES) for task in official_tasks(name)]


def answers_of(task: WebTask) -> Requirements | None:
    assert task.eval is not None
    return task.eval.reference_answers if "string_match" in task.eval.eval_types else None


def reference_answer(wanted: Requirements) -> str:
    """An answer that says all that is wanted."""
    if wanted.exact_match is not None:
        return wanted.exact_match
    return ", ".join((*(wanted.must_include or ()), *(wanted.fuzzy_match or ())))


@pytest.mark.parametrize("name", SETS)
def test_all_tasks_load_and_resolve(name: str) -> None:
    found = tasks(name)
    assert len(found) == SETS[name].count
    assert all(task.eval is not None and task.start_urls for task in found)
    assert len({task.task_id for task in found}) == len(found)


def test_the_counts_are_those_of_the_benchmark() -> None:
    found = tasks("lite")
    evaluations = [task.eval for task in found if task.eval is not None]
    targets = [
        target for each in evaluations if "program_html" in each.eval_types for target in each.program_html or ()
    ]
    assert len(targets) == 90
    assert len({target.locator for target in targets if target.locator}) == 47  # and the empty one
    assert sum(target.url == "last" for target in targets) == 29
    refusals = [task.task_id for task in found if (wanted := answers_of(task)) and wanted.asks_to_refuse]
    assert refusals == [27, 51, 56, 59, 74, 86, 91, 114, 161, 162]
    bug = answers_of(found[81])
    assert bug is not None and bug.must_include == ("yjlou",)  # the benchmark's own evaluator can never pass it


@pytest.mark.parametrize("name", SETS)
def test_every_locator_and_helper_can_be_read(name: str) -> None:
    for task in tasks(name):
        assert task.eval is not None
        for target in task.eval.program_html or ():
            for text in (target.url, target.locator, *target.prep_actions):
                if text.startswith(PREFIX):
                    parse_helper(text)
                elif text.startswith(("document.", "[...")):
                    check_locator(text)


@pytest.mark.parametrize("dialect", ["lite", "webarena"])
@pytest.mark.parametrize("name", SETS)
def test_reference_answers_pass_and_wrong_ones_fail(name: str, dialect: str) -> None:
    asked = [(task, wanted) for task in tasks(name) if (wanted := answers_of(task)) is not None]
    assert len(asked) == {"lite": 80, "webarena": 335}[name]
    for task, wanted in asked:
        alone = task_without_places(task)
        assert evaluate(alone, reference_answer(wanted), NOWHERE, dialect).score == 1, (task.task_id, wanted)
        for answer in WRONG:
            assert evaluate(alone, answer, NOWHERE, dialect).score == 0, (task.task_id, wanted, answer)


def test_the_reference_of_another_task_is_wrong() -> None:
    asked = [(task, reference_answer(wanted)) for task in tasks("lite") if (wanted := answers_of(task)) is not None]
    passed = [
        (task.task_id, answer)
        for task, own in asked
        for _, answer in asked
        if answer != own and evaluate(task_without_places(task), answer, NOWHERE).score == 1
    ]
    assert len(passed) < 0.01 * len(asked) ** 2, passed  # a number or name may well be part of another answer


def task_without_places(task: WebTask) -> WebTask:
    """The same task, of which only the answer counts."""
    assert task.eval is not None
    return msgspec.structs.replace(task, eval=msgspec.structs.replace(task.eval, eval_types=("string_match",)))


# ---------------------------------------------------------------------- where the tasks may lie


def test_tasks_are_read_from_a_wheel_and_from_a_file(tmp_path: Path) -> None:
    found = find_official("lite")
    assert found is not None
    wanted = SETS["lite"]
    if found.suffix == ".whl":
        with zipfile.ZipFile(found) as archive:
            content = archive.read(wanted.file)
    else:
        content = found.read_bytes()
    (tmp_path / "tasks.json").write_bytes(content)
    with zipfile.ZipFile(tmp_path / "some.whl", "w") as archive:
        archive.writestr(wanted.file, content)
    assert official_tasks("lite", tmp_path / "tasks.json") == official_tasks("lite", tmp_path / "some.whl")
    (tmp_path / "broken.whl").write_bytes(b"PK")
    with pytest.raises(ConfigError, match="cannot read the wheel"):
        official_tasks("lite", tmp_path / "broken.whl")
    with pytest.raises(ConfigError, match="must be a wheel of libwebarena"):
        official_tasks("webarena", tmp_path / "some.whl")


def test_missing_tasks_are_said_with_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def not_installed(name: str) -> None:
        from importlib.metadata import PackageNotFoundError

        raise PackageNotFoundError(name)

    monkeypatch.setattr("agentrl.envs.webarena.tasks.files.distribution", not_installed)
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path))
    with pytest.raises(ConfigError, match=re.escape(SETS["lite"].command)):
        official_tasks()
    with pytest.raises(ConfigError, match="the set must be one of lite, webarena"):
        official_tasks("visual")
    folder = tmp_path / "webarena" / "official"
    folder.mkdir(parents=True)
    (folder / "test.raw.json").write_text('[{"intent": "x", "sites": ["map"]}]')
    assert len(official_tasks("webarena")) == 1
