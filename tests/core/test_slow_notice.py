"""What takes long says so; what does not is silent."""

from __future__ import annotations

import time

import numpy as np

from agentrl.core.slow import notify_if_slow


def test_a_line_comes_while_it_takes_long_and_none_when_it_was_quick(capsys) -> None:
    with notify_if_slow("quick work", seconds=30.0):
        pass
    with notify_if_slow("hard work", seconds=0.01):
        deadline = time.monotonic() + 20
        said = ""
        while not said and time.monotonic() < deadline:
            said += capsys.readouterr().err
            time.sleep(0.01)
    assert said == "hard work\n" and capsys.readouterr() == ("", "")


def test_the_levels_of_a_game_say_what_is_made_and_where_it_is_kept(tmp_path, monkeypatch, capsys) -> None:
    from agentrl.envs.grid import levels
    from agentrl.envs.grid.frozenlake import every_lake

    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path))
    monkeypatch.setattr(levels, "notify_if_slow", lambda text: notify_if_slow(text, seconds=0.0))

    def slowly():
        time.sleep(1.0)
        return every_lake(2, (1, 2), "train")

    for _ in range(2):  # the second time they are in memory
        levels.level_pool("frozenlake", {"size": 2}, "train", None, slowly, lambda boards: np.ones(len(boards), bool))
    said = capsys.readouterr().err
    assert said == f'making the train levels of frozenlake {{"size": 2}}, once; they are kept in {tmp_path}\n'
