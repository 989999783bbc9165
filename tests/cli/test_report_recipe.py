"""The page about a recipe, from what its stages left behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentrl.core.errors import ConfigError
from agentrl.core.manifest import sealed
from agentrl.viewer.recipe_report import BASELINES, write_recipe_report
from tests.viewer.run_folders import LAKE, eval_line, rl_lines, write_run

STAGES = [("imitation", "sft"), ("rl", "steppo")]
SOKOBAN = "agentrl/Sokoban-Text-v0"


def both(iteration: int, sampled: float, greedy: float, **changes) -> list[dict]:
    return [eval_line(iteration, share, greedy=g, **changes) for share, g in ((sampled, False), (greedy, True))]


def recipe(folder: Path, *, rl: tuple[float, float] = (0.8, 0.9), env_id: str = LAKE) -> Path:
    """Imitation of ten iterations from nothing to 0.5 (0.6 greedily), then reinforcement learning of twenty."""
    lines = [*both(0, 0.0, 0.0, env_id=env_id), *both(10, 0.5, 0.6, env_id=env_id)]
    write_run(folder / "imitation", lines, {"arguments": {"iterations": 10}})
    write_run(folder / "rl", [*rl_lines(3)[1:2], *both(20, *rl, env_id=env_id)], {"arguments": {"iterations": 20}})
    stages = [{"name": name, "algorithm": algorithm, "finished": True, "arguments": {}} for name, algorithm in STAGES]
    (folder / "plan.json").write_text(json.dumps(sealed({"schema": 2, "recipe": "mine", "stages": stages})))
    return folder


def test_every_stage_has_its_success_and_its_page(agentrl_cli, tmp_path: Path) -> None:
    folder = recipe(tmp_path / "run")
    done = agentrl_cli("report", str(folder), "--json")
    assert done.status == 0 and done.json["report"] == str(folder / "report.html")
    html = (folder / "report.html").read_text()
    for moment in ("start, sampled", "after imitation, greedy", "after rl, sampled", "after rl, greedy"):
        assert moment in html
    for name, algorithm in STAGES:
        assert f'<a href="{name}/report.html">{name} ({algorithm})</a>' in html
        assert "<svg" in (folder / name / "report.html").read_text()
    assert "mine in FrozenLake Text" in html and "Success on the test split" in html and ">oracle<" not in html


def test_a_recipe_that_is_still_running_or_measures_nothing_has_a_page_too(tmp_path: Path) -> None:
    write_run(tmp_path / "imitation", both(5, 0.2, 0.3), {"arguments": {"iterations": 10}})
    assert "imitation, iteration 5, sampled" in write_recipe_report(tmp_path, "mine", STAGES).read_text()
    write_run(tmp_path / "imitation", [])
    assert "Nothing was measured" in write_recipe_report(tmp_path, "mine", STAGES).read_text()
    with pytest.raises(ConfigError, match="no stage of the recipe"):
        write_recipe_report(tmp_path, "mine", [("rl", "ppo")])


def test_environments_of_a_mix_stand_apart_each_with_its_baselines(tmp_path: Path) -> None:
    folder = recipe(tmp_path)
    lines = (folder / "rl" / "metrics.jsonl").read_text()
    more = "".join(json.dumps(line) + "\n" for line in both(20, 0.3, 0.4, env_id=SOKOBAN))
    (folder / "rl" / "metrics.jsonl").write_text(lines + more)
    floor, ceiling = ({**eval_line(0, share, greedy=False), "policy": p} for p, share in (("random", 0), ("oracle", 1)))
    (folder / BASELINES).write_text(json.dumps([floor, ceiling, 3]))
    html = write_recipe_report(folder, "mine", STAGES).read_text()
    assert "mine in FrozenLake Text, Sokoban Text" in html
    table = html[html.index("<tbody>") :]
    assert table.index("random") < table.index("start, sampled") < table.index("oracle") < table.index(SOKOBAN)


def test_the_page_says_where_greedy_play_did_not_gain(tmp_path: Path) -> None:
    def says_so(name: str, sampled: float, greedy: float) -> bool:
        page = write_recipe_report(recipe(tmp_path / name, rl=(sampled, greedy)), "mine", STAGES)
        return "only sharpened sampling" in page.read_text()

    assert says_so("sharpened", 0.8, 0.61)
    assert not says_so("better", 0.8, 0.9) and not says_so("as before", 0.51, 0.6)


@pytest.mark.parametrize("content", ["{}", "[]", "no", '{"stages": 3}'])
@pytest.mark.parametrize("file", ["plan.json", "rl/config.json", "rl/metrics.jsonl", BASELINES])
def test_a_damaged_folder_is_one_line_or_a_page(agentrl_cli, tmp_path: Path, file: str, content: str) -> None:
    folder = recipe(tmp_path / "run")
    (folder / file).write_text(content)
    done = agentrl_cli("report", str(folder))
    assert done.status == (2 if file == "plan.json" else 0) and "Traceback" not in done.err


@pytest.mark.parametrize("name", ["../outside", "/tmp", "", 3, None])
def test_a_stage_whose_name_leads_elsewhere_is_refused(agentrl_cli, tmp_path: Path, name: object) -> None:
    stages = [{"name": name, "algorithm": "sft", "finished": True, "arguments": {}}]
    write_run(tmp_path / "outside", rl_lines(3))
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "plan.json").write_text(json.dumps(sealed({"schema": 2, "recipe": "m", "stages": stages})))
    done = agentrl_cli("report", str(tmp_path / "run"))
    assert done.status == 2 and "every stage must have a name" in done.err
    assert not (tmp_path / "outside" / "report.html").exists()
