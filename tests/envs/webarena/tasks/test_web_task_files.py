"""Task files, ids of instructions and addresses: what is read, and what is said where it cannot be."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agentrl.core.errors import ConfigError
from agentrl.envs.webarena.tasks.addresses import (
    addresses_from_environment,
    default_addresses,
    resolve,
    sites_named_by,
)
from agentrl.envs.webarena.tasks.files import load_tasks, read_tasks, row_id, row_of
from agentrl.envs.webarena.tasks.intents import intent_id, task_of_intent
from agentrl.envs.webarena.tasks.schema import task_from_json
from tests.envs.webarena.tasks.malformed_files import GOOD, MALFORMED, with_eval, with_target


@pytest.mark.parametrize("kind", MALFORMED)
def test_a_malformed_file_is_one_sentence_with_file_and_line(kind: str, tmp_path: Path) -> None:
    content, line, words = MALFORMED[kind]
    path = tmp_path / "tasks.json"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load_tasks(path)
    message = str(caught.value)
    assert message.startswith(f"{path}, line {line}: ")
    assert words in message
    assert "\n" not in message


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "none.json", tmp_path, tmp_path / "pipe"):
        with pytest.raises(ConfigError, match="cannot read the task file"):
            load_tasks(path)


@pytest.mark.parametrize(
    "content",
    [
        json.dumps([GOOD, GOOD]),
        json.dumps([GOOD, GOOD], indent=2),
        f"{json.dumps(GOOD)}\n{json.dumps(GOOD)}\n",
        f"\ufeff{json.dumps(GOOD)}\r\n\r\n{json.dumps(GOOD, indent=1)}",
    ],
    ids=["list", "indented list", "lines", "objects with a mark of byte order"],
)
def test_a_list_lines_and_objects_are_all_task_files(content: str) -> None:
    assert [task.intent for task in read_tasks(content.encode(), "f")] == ["Open the cart"] * 2
    assert len(read_tasks(json.dumps(GOOD).encode(), "f")) == 1


def test_known_faults_of_the_data_are_mended() -> None:
    task = task_from_json({**with_eval(reference_answers={"must_include": "yjlou", "exact_match": 7}), "sites": "map"})
    assert task.eval is not None and task.eval.reference_answers is not None
    assert task.eval.reference_answers.must_include == ("yjlou",)
    assert task.eval.reference_answers.exact_match == "7"
    assert task.sites == ("map",)
    assert task_from_json({**GOOD, "task_id": None, "intent_template_id": "a7"}).task_id is None
    assert task_from_json({**GOOD, "task_id": "x-1", "made_by": "somebody"}).task_id == "x-1"
    assert task_from_json({**with_eval(), "string_note": "why"}).eval.string_note == "why"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "answers", [{"exact_match": "N/A"}, {"must_include": ["N/A"]}, {"fuzzy_match": ["N/A"]}, {"fuzzy_match": "N/A"}]
)
def test_unachievable_tasks_are_known_in_all_four_encodings(answers: dict) -> None:
    evaluation = task_from_json(with_eval(reference_answers=answers)).eval
    assert evaluation is not None and evaluation.reference_answers is not None
    assert evaluation.reference_answers.asks_to_refuse


def test_a_task_survives_the_way_through_json() -> None:
    task = task_from_json({**with_target(prep_actions=["x.click()"]), "task_id": 5, "instantiation_dict": {"a": [1]}})
    assert task_from_json(json.loads(json.dumps(task.to_json()))) == task


def test_a_task_needs_no_evaluator() -> None:
    task = task_from_json(GOOD)
    assert task.eval is None
    assert resolve(task).start_urls == (default_addresses()["shopping"],)


# ---------------------------------------------------------------------- rows and instructions as ids


def test_rows_have_ids() -> None:
    assert row_id(3) == "file:3"
    assert row_of("file:3", 4) == 3
    for wrong in ("file:4", "file:-1", "file:", "file:1x", "file:\u0663", "3", "file:" + "9" * 5000):
        with pytest.raises(ConfigError, match="task must be file:0 to file:3"):
            row_of(wrong, 4)


@pytest.mark.parametrize("intent", ["Buy it", "a\nb", "\u00fc\U0001f600 \u202e", "x" * 50_000, '"}{\\'])
def test_instructions_become_ids_and_back(intent: str) -> None:
    task = task_of_intent(intent_id(intent, ["shopping", "map"], "__MAP__"))
    assert (task.intent, task.sites, task.start_url, task.eval) == (intent, ("shopping", "map"), "__MAP__", None)


@pytest.mark.parametrize(
    "wrong",
    [
        "intent:", "intent:!!!", "intent:bm8", "intent:W10", "intent:e30", "other", "intent:" + "A" * 200_000,
        "intent:eyJpbnRlbnQiOiAxfQ", "intent:\ud800",
    ],
)  # fmt: skip
def test_an_id_that_holds_no_task_is_refused_in_a_sentence(wrong: str) -> None:
    with pytest.raises(ConfigError, match="task"):
        task_of_intent(wrong)


def test_only_instructions_that_could_be_tasks_have_ids() -> None:
    with pytest.raises(ConfigError, match="sites must be of"):
        intent_id("Buy it", ["moon"])
    with pytest.raises(ConfigError, match="intent must say"):
        intent_id("", ["map"])


# ---------------------------------------------------------------------- addresses


def test_placeholders_become_addresses_everywhere() -> None:
    raw = with_target(url="__SHOPPING_ADMIN__/../x.html")
    raw["eval"] |= {"eval_types": ["url_match", "program_html"], "reference_url": "__SHOPPING__/a |OR| __REDDIT__/f"}
    task = task_from_json({**raw, "start_url": "__SHOPPING__ |AND| __REDDIT__/x", "intent": "Go to __SHOPPING__"})
    assert sites_named_by(task) == {"shopping", "shopping_admin", "reddit"}
    known = {"shopping": "http://s.test/", "shopping_admin": "http://a.test/admin", "reddit": "http://r.test"}
    resolved = resolve(task, known)
    assert resolved.start_urls == ("http://s.test", "http://r.test/x")
    assert resolved.intent == "Go to http://s.test"
    assert resolved.eval is not None and resolved.eval.program_html is not None
    assert resolved.eval.reference_url == "http://s.test/a |OR| http://r.test/f"
    assert resolved.eval.program_html[0].url == "http://a.test/admin/../x.html"


def test_a_site_without_an_address_is_named() -> None:
    with pytest.raises(ConfigError, match="address of wikipedia: set WA_WIKIPEDIA"):
        resolve(task_from_json({**GOOD, "start_url": "__WIKIPEDIA__"}))


def test_both_kinds_of_environment_variables_are_read() -> None:
    given = {"SHOPPING": "http://a:7770/", "WA_REDDIT": "http://b:9999", "GITLAB": "http://c", "WA_GITLAB": "http://d"}
    found = addresses_from_environment({**given, "MAP": "/usr/share/map", "WIKIPEDIA": ""})
    assert found == {"shopping": "http://a:7770", "reddit": "http://b:9999", "gitlab": "http://d"}
    with pytest.raises(ConfigError, match="WA_MAP must be an address"):
        addresses_from_environment({"WA_MAP": "somewhere"})
