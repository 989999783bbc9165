"""A person plays: commands, undo, pictures, the end of the input."""

from __future__ import annotations

import io
import re

import gymnasium as gym
import numpy as np
import pytest
from PIL import Image

from agentrl.cli.play import UPPER_HALF, Game, GameTable, Screen, fit, half_blocks
from agentrl.core.errors import ConfigError, SnapshotUnsupported

TEXT, GRID, VISUAL = (f"agentrl/FrozenLake-{kind}-v0" for kind in ("Text", "Grid", "Visual"))


def test_following_the_hints_solves_the_task(agentrl_cli):
    hint = re.compile(r"hint: (.*)")
    lines = ""
    for _ in range(4):
        done = agentrl_cli("play", TEXT, "--json", stdin=lines + "hint\n")
        if done.json["success"]:
            break
        lines += hint.findall(done.err)[-1] + "\n"
    assert done.status == 0 and done.json["success"] and done.json["terminated"]
    assert done.json["reward"] > 9 and sum(turn["reward"] for turn in done.json["turns"]) == done.json["reward"]
    assert "solved" in done.err


def test_without_input_the_game_is_shown_and_left(agentrl_cli):
    done = agentrl_cli("play", TEXT)
    assert done.status == 0 and "Turn 1 of 3." in done.out and "undo" in done.out


def test_quit_stops_reading(agentrl_cli):
    assert agentrl_cli("play", TEXT, "--json", stdin="quit\nUp\n").json["turns"] == []


def test_undo_takes_turns_back_even_after_the_end(agentrl_cli):
    played = agentrl_cli("play", TEXT, "--json", stdin="x\nx\nx\nLeft\nundo\nundo\n")
    assert "out of turns" in played.err and "The episode is over: next, undo or quit?" in played.err
    assert len(played.json["turns"]) == 1 and not played.json["truncated"]
    everything = agentrl_cli("play", TEXT, "--json", stdin="x\nundo\nundo\n")
    assert everything.json["turns"] == [] and "nothing to take back" in everything.err


def test_a_turn_after_an_undo_is_the_turn_it_would_have_been():
    env = gym.make("agentrl/FrozenLake-Text-v0", slippery=True)
    table = GameTable(env, seed=3)
    first = table.step("Up, Left")
    seen = table.observation
    assert table.undo()
    again = table.step("Up, Left")
    assert (again.reward, again.info, table.observation) == (first.reward, first.info, seen)


def test_what_cannot_be_saved_can_be_played_but_not_undone():
    class Stateful(gym.Wrapper):
        def step(self, action):
            self.count = getattr(self, "count", 0) + 1
            return super().step(action)

    table = GameTable(Stateful(gym.make(TEXT)), seed=1)
    table.step("Up")
    with pytest.raises(SnapshotUnsupported):
        table.undo()
    assert len(table.turns) == 1


def test_state_tells_the_truth_in_every_representation(agentrl_cli):
    out = agentrl_cli("play", TEXT, stdin="state\n").out
    assert all(f"[{name}]" in out for name in ("natural", "symbolic", "structured"))


def test_a_foreign_environment_is_shown_as_it_is_and_has_no_truth_to_tell():
    env = gym.make("CartPole-v1")  # it keeps an array under the name `state`
    game = Game(env, GameTable(env, seed=1), Screen(out := io.StringIO(), "none", None))
    game._look()
    assert str(game.table.observation) in out.getvalue()
    with pytest.raises(ConfigError, match="has no state"):
        game._state()


def test_next_is_another_task_and_empty_lines_are_nothing(agentrl_cli):
    first = agentrl_cli("play", TEXT, "--json", stdin="\n  \n").json
    second = agentrl_cli("play", TEXT, "--json", stdin="Up\nnext\n").json
    assert first["task"] != second["task"] and first["turns"] == second["turns"] == []


def test_grid_kinds_take_names_and_numbers_and_complain_without_a_turn(agentrl_cli):
    done = agentrl_cli("play", GRID, "--json", stdin="0\nUP\nsideways\n7\nhint\n")
    assert [turn["action"] for turn in done.json["turns"]] == [0, 3]
    assert done.err.count("is not an action") == 2
    assert re.search(r"hint: (Left|Down|Right|Up)|No solution is known", done.err)


def test_hostile_lines_are_turns_and_never_reach_the_terminal(agentrl_cli):
    done = agentrl_cli("play", TEXT, stdin="\x1b[2J\u202e\x00" + "x" * 10_000 + "\n")
    assert done.status == 0 and "Invalid" in done.out and "\x1b" not in done.out and "\x00" not in done.out


def test_pictures_are_saved(agentrl_cli, tmp_path):
    for env_id in (VISUAL, TEXT):
        folder = tmp_path / env_id[-9:-3]
        out = agentrl_cli("play", env_id, "--output", str(folder), stdin="Up\n").out
        assert [path.name for path in sorted(folder.iterdir())] == ["0000.png", "0001.png"]
        with Image.open(folder / "0001.png") as picture:
            assert picture.size == (192, 192)
        assert str(folder / "0001.png") in out


def test_a_folder_that_cannot_be_written_is_one_line(agentrl_cli, tmp_path):
    (tmp_path / "file").write_text("")
    done = agentrl_cli("play", VISUAL, "--output", str(tmp_path / "file"), stdin="")
    assert done.status == 2 and len(done.err.splitlines()) == 1


def test_pictures_are_shown_in_blocks_on_request_and_mentioned_otherwise(agentrl_cli):
    assert UPPER_HALF in agentrl_cli("play", VISUAL, "--pictures", "blocks").out
    plain = agentrl_cli("play", VISUAL).out
    assert UPPER_HALF not in plain and "--output DIR" in plain


def test_blocks_show_every_pixel_of_a_small_picture():
    picture = np.random.default_rng(0).integers(0, 256, (4, 3, 3), np.uint8)
    text = half_blocks(picture, 80, 24)
    cells = re.findall(r"\x1b\[38;2;(\d+);(\d+);(\d+);48;2;(\d+);(\d+);(\d+)m", text)
    shown = np.array(cells, int).reshape(2, 3, 2, 3).transpose(0, 2, 1, 3).reshape(4, 3, 3)
    assert (shown == picture).all()
    assert all(line.endswith("\x1b[0m") for line in text.splitlines())


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (10, 40), (200, 3), (1, 1), (0, 0)])
def test_blocks_fit_the_terminal(columns, rows):
    lines = half_blocks(np.zeros((100, 150, 3), np.uint8), columns, rows).splitlines()
    assert len(lines) <= max(1, rows) and all(line.count(UPPER_HALF) <= max(1, columns) for line in lines)


def test_fitting_keeps_the_shape():
    height, width = fit(np.zeros((200, 100, 3), np.uint8), 80, 20).shape[:2]
    assert (height, width) == (40, 20)


@pytest.mark.parametrize("words", [("--seed", "-1"), ("--split", "none"), ("--env-kwargs", '{"split": "dev"}')])
def test_bad_options_are_one_line(agentrl_cli, words):
    done = agentrl_cli("play", TEXT, *words)
    assert done.status == 2 and len(done.err.splitlines()) == 1


def test_an_svg_is_drawn_beside_its_target(agentrl_cli, tmp_path):
    lines = '<svg viewBox="0 0 9 9"><rect width="9" height="9" fill="red"/></svg>\nundo\n```\n'
    kwargs = '{"scorers": [{"scorer": "colours", "weight": 1}], "image_size": 48}'
    options = ("--pictures", "blocks", "--output", str(tmp_path), "--env-kwargs", kwargs)
    done = agentrl_cli("play", "agentrl/SVG-Visual-v0", *options, stdin=lines)
    assert done.status == 0 and UPPER_HALF in done.out and "Markdown fence" in done.out
    before, drawn, undone, refused = (np.asarray(Image.open(path)) for path in sorted(tmp_path.iterdir()))
    assert (drawn[-48:, :48] == before[-48:, :48]).all() and (drawn[-48:, -48:] == (255, 0, 0)).all()
    assert (undone == before).all() and (refused == before).all()


def test_a_robot_is_moved_by_numbers_and_the_hints_solve_its_task(agentrl_cli):
    robot, lines = "tests.toy_control:toy/Puck-v0", ""
    refused = agentrl_cli("play", robot, stdin="up\n5 0\n")
    assert "type 2 numbers" in refused.out and "got 5 at place 0" in refused.out
    done = agentrl_cli("play", robot, "--json", stdin="0.5 -0.25\n")
    assert done.json["turns"][0]["action"] == [0.5, -0.25] and done.json["turns"][0]["valid"]
    for _ in range(30):
        done = agentrl_cli("play", robot, "--json", stdin=lines + "hint\n")
        if done.json["success"]:
            break
        lines += re.findall(r"hint: (.*)", done.err)[-1] + "\n"
    assert done.json["success"] and done.json["reward"] == 1.0
