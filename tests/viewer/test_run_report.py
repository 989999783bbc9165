"""The page about a run: all there is to see of a whole run, and something of every broken one."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import gymnasium as gym
import pytest

from agentrl.core.errors import ConfigError
from agentrl.rollout.episode import record_episode
from agentrl.rollout.error_types import EpisodeFacts, to_columns
from agentrl.rollout.trajectory import Step, Trajectory
from agentrl.trainers.run.monitor import KNOWN
from agentrl.viewer import episode_strip
from agentrl.viewer.episode_strip import choose, trajectory_files
from agentrl.viewer.run_data import eval_groups, interval, read_run
from agentrl.viewer.run_report import LOSSES, WARNINGS, in_words, write_run_report
from tests.core.markup import HOSTILE, Tags
from tests.viewer.run_folders import LAKE, Halting, eval_line, played, rl_lines, sft_lines, train_line, write_run


def text_of(folder):
    return Tags(write_run_report(folder).read_text(encoding="utf-8")).text


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    warning = {"iteration": 17, "kind": "warning", "warning": "reward_hacking", "detail": "reward rose alone"}
    lines = [*rl_lines(), warning]
    folder = tmp_path_factory.mktemp("runs") / "lake"
    write_run(folder, lines, train_000001=played(0.1, 0), train_000040=played(1.0, 40))
    return folder


def test_a_whole_run_shows_every_part(whole):
    text = text_of(whole)
    for part in (
        "ppo on FrozenLake Text",
        "held-out success, sampled",
        "held-out success, greedy",
        "500 episodes",
        "Reward terms",
        "right format",
        "KL to the reference",
        "entropy",
        "share of clipped tokens",
        "gradient norm",
        "learning rate",
        "Seconds of an iteration",
        "Time of the run",
        "Tokens of an iteration",
        "Reward without success (reward hacking) at iteration 17: reward rose alone",
        "Episodes of the first iteration",
        "Episodes of the last iteration",
        "Best",
        "Worst",
        "At random",
        "solved",
        "config.json",
        "torch",
    ):
        assert part in text, part


def test_head_numbers_go_from_the_first_to_the_last_evaluation(tmp_path):
    lines = [eval_line(i, s, greedy=g) for i, s in ((0, 0.1), (5, 0.9), (9, 0.8)) for g in (False, True)]
    text = text_of(write_run(tmp_path, lines))
    assert text.count("10.0 % \u2192 80.0 %") == 2
    assert "7.7 % to 12.9 % at the start, 76.3 % to 83.3 % after iteration 9; 500 episodes" in text


def test_what_an_earlier_run_measured_of_the_model_is_the_start_and_says_so(tmp_path):
    measured = {"run": "imitation", "iteration": 10}
    lines = [eval_line(0, 0.2, greedy=True, **{"from": measured}), eval_line(30, 0.6, greedy=True)]
    text = text_of(write_run(tmp_path, lines))
    assert "20.0 % \u2192 60.0 %" in text and "after iteration 10 of imitation, " in text
    assert "held-out success, greedy" in text and "after iteration 30; 500 episodes" in text


def test_tasks_of_the_training_split_are_not_called_held_out(tmp_path):
    held = to_columns([EpisodeFacts(place < 3, 2, "ab"[place % 2], task=str(place)) for place in range(6)])
    lines = [eval_line(i, 0.5, greedy=True, split="train", by_task=held) for i in (0, 5)]
    text = text_of(write_run(tmp_path, [*lines, train_line(5, 5, random.Random(0))]))
    assert "held-out" not in text.lower() and "never trained on" not in text
    for said in (
        "training-split success, greedy",
        "Which training-split tasks succeed",
        "train split, greedy, 6 tasks",
    ):
        assert said in text, said


def test_a_term_that_nobody_earned_is_drawn_at_zero(tmp_path):
    rng, lines = random.Random(0), []
    for iteration in range(1, 6):
        terms = {"step": -0.3, **({"goal": 1.0} if iteration in (1, 5) else {})}
        lines.append(train_line(iteration, 5, rng, reward_terms=terms))
    html = write_run_report(write_run(tmp_path, lines)).read_text()
    chart = html.split('aria-label="Reward terms, mean of an episode"')[1].split("</svg>")[0]
    line = re.findall(r'class="[^"]*c1" d="M([^"]*)"', chart)[-1]
    heights = [float(point.split()[1]) for point in line.split("L")]
    assert len(heights) == 5 and heights[0] == heights[4] and len({*heights[1:4]}) == 1 and heights[1] > heights[0]


def test_times_count_evaluations(tmp_path):
    lines = [eval_line(i, 0.5, greedy=g) for i in (0, 2) for g in (False, True)]
    lines += [train_line(i, 2, random.Random(0)) for i in (1, 2)]
    text = text_of(write_run(tmp_path, lines))
    assert "of training and 16 s of evaluation" in text and "evaluation 16 s" in text
    inherited = eval_line(0, 0.5, greedy=True, **{"from": {"run": "sft", "iteration": 3}})
    del inherited["seconds_total"]
    assert "of evaluation" not in text_of(write_run(tmp_path / "b", [inherited, *lines[4:]]))


def test_a_page_names_all_it_is_about(tmp_path):
    config = {"algorithm": "grpo", "environments": [LAKE]}
    config["arguments"] = {"model": "tiny-text", "temperature": 0.7, "env_kwargs": {"max_turns": 5}}
    text = text_of(write_run(tmp_path, rl_lines(2, every=1), config))
    for said in (
        "algorithmgrpo",
        "modeltiny-text",
        f"environment{LAKE} (max_turns=5)",
        "trained ontrain split, sampled at temperature 0.7",
        "test split, sampled at temperature 0.7, 500 episodes",
        "test split, greedy, 500 episodes",
    ):
        assert said in text, said


def test_text_episodes_are_drawn_and_nothing_comes_from_elsewhere(whole):
    html = write_run_report(whole, play_again=True).read_text(encoding="utf-8")
    tags = Tags(html)
    pictures = [attributes["src"] for tag, attributes in tags.found if tag == "img"]
    assert len(pictures) >= 10 and all(source.startswith("data:image/png;base64,") for source in pictures)
    assert not any(tag in ("script", "iframe", "link") for tag, _ in tags.found)
    assert not any(name.startswith("on") or name == "style" for _, held in tags.found for name in held)
    assert "http://" not in html and "https://" not in html and "@media print" in html


def test_success_and_reward_are_never_in_one_chart(whole):
    html = write_run_report(whole).read_text(encoding="utf-8")
    charts = re.findall(r'<svg [^>]*aria-label="([^"]*)"', html)
    assert charts[:6:2] == charts[1:6:2] == ["Success", "Reward of an episode", "Reward terms, mean of an episode"]
    assert html.count('class="alarm-line"') == 6  # each chart is drawn for large and for narrow screens


def test_every_chart_can_be_read_on_a_narrow_screen(whole):
    """Letters are 13 units high; on a screen of 400 pixels a chart is some 340 wide."""
    html = write_run_report(whole).read_text(encoding="utf-8")
    wide = re.findall(r'<div class="large"><svg viewBox="0 0 (\d+) ', html)
    everywhere = re.findall(r'<svg viewBox="0 0 (\d+) ', re.sub(r'<div class="large">.*?</div>', "", html))
    assert len(wide) == 6 and max(map(int, wide)) == 1080
    assert len(everywhere) > len(wide) and set(everywhere) == {"340"}
    assert "@media screen and (max-width: 640px)" in html


def test_metrics_are_named_in_words():
    glossary = (Path(__file__).parents[2] / "docs" / "run-folder.md").read_text()
    explained = set(re.findall(r"`loss\.(\w+)`", glossary))
    assert explained == set(LOSSES) and set(WARNINGS) == {*KNOWN, "prompts", "mc_rollouts"}
    assert not any("_" in words for words in LOSSES.values())
    assert in_words("some_new_metric") == "some new metric"


def test_recorded_pictures_are_shown_as_they_were_seen(tmp_path):
    held = played(1.0, 1, count=2, env_id="agentrl/FrozenLake-Visual-v0")
    folder = write_run(tmp_path, rl_lines(3), train=held)
    shown = write_run_report(folder).read_text().count("<img")
    assert shown == sum(len(one.steps) + 1 for _, one in choose(held))
    for picture in (folder / "images").iterdir():
        picture.write_bytes(b"no picture")
    html = write_run_report(folder).read_text()
    assert "<img" not in html and "Turn 1" in html


def test_supervised_training_has_a_page(tmp_path):
    text = text_of(write_run(tmp_path, sft_lines(), config={"algorithm": "sft", "environments": [LAKE]}))
    assert "sft on FrozenLake Text" in text and "negative log-likelihood" in text and "2.647 \u2192 0.071" in text
    assert "training success" not in text and "held-out success" not in text
    assert "Episodes of" not in text


def test_a_run_without_evaluations_shows_its_training_success(tmp_path):
    text = text_of(write_run(tmp_path, [line for line in rl_lines() if line["kind"] == "train"]))
    assert "training success" in text and "held-out success" not in text


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [{"iteration": 1, "kind": "train"}],
        [{"iteration": 1, "kind": "train", "success": None, "loss": None, "seconds": None, "by_env": None}],
        [{"iteration": "x", "kind": "train"}, {"kind": "train"}, {"iteration": 2, "kind": 7}],
        [{"iteration": 1, "kind": "train", "success": "most", "loss": [1], "seconds": {"total": "long"}}],
        [{"iteration": 1, "kind": "eval", "success": 0.5}, {"iteration": 1, "kind": "warning"}],
        [{"iteration": 1, "kind": "train", "reward_terms": {HOSTILE: 1.0}, "loss": {HOSTILE: 2.0}}],
        [{"iteration": 1, "kind": "eval", "success": 7.0, "episodes": -5, "success_ci": ["a", None]}],
    ],
)
def test_lines_that_lack_anything_still_make_a_page(tmp_path, lines):
    assert text_of(write_run(tmp_path, lines, config={}))


def test_numbers_that_are_none_are_left_out(tmp_path):
    folder = write_run(tmp_path, [train_line(1, 3, random.Random(0))])
    with open(folder / "metrics.jsonl", "a") as file:
        file.write('{"iteration": 2, "kind": "train", "success": NaN, "lr": Infinity, "reward_mean": -Infinity}\n')
    html = write_run_report(folder).read_text()
    assert not re.search(r'[="\s(](nan|inf)', html)


def test_numbers_of_thousands_of_digits_are_no_figures(tmp_path):
    folder = write_run(tmp_path, rl_lines())
    with open(folder / "metrics.jsonl", "a") as file:
        for digits in (400, 4000, 5000):
            file.write('{"kind": "train", "iteration": ' + "9" * digits + "}\n")
    assert len(read_run(folder).train) == len(read_run(write_run(tmp_path / "plain", rl_lines())).train)
    write_run_report(folder)


def test_a_half_written_line_costs_that_line_only(tmp_path):
    folder = write_run(tmp_path, rl_lines(4))
    with open(folder / "metrics.jsonl", "ab") as file:
        file.write(b'{"iteration": 5, "kind": "tr\xff')
    assert len(read_run(folder).train) == 4 and read_run(folder).damaged == 1
    assert "1 line of the metrics could not be read" in text_of(folder)


def test_what_a_resumed_run_wrote_again_counts_once(tmp_path):
    lines = [*rl_lines(6), {**train_line(5, 6, random.Random(1)), "success": 0.25}]
    run = read_run(write_run(tmp_path, lines))
    assert [line["iteration"] for line in run.train] == [1, 2, 3, 4, 5, 6]
    assert run.train[4]["success"] == 0.25


def test_hostile_model_text_stays_text(tmp_path):
    step = Step(observation=HOSTILE, action=HOSTILE, response=HOSTILE, reward_terms={HOSTILE: 1.0}, pending=[HOSTILE])
    step.info = {"actions": [HOSTILE], "state": HOSTILE}
    fault = {"kind": HOSTILE, "detail": HOSTILE}
    bad = Trajectory(id=HOSTILE, steps=[step], env_id=HOSTILE, task=HOSTILE, reward=1.0, fault=fault)
    bad.system_prompt = bad.final_observation = HOSTILE
    lines = [{"iteration": 1, "kind": "warning", "warning": HOSTILE, "detail": HOSTILE}]
    lines += [eval_line(1, 0.5, greedy=False, env_id=HOSTILE), eval_line(1, 0.5, greedy=False, env_id="other")]
    config = {"algorithm": HOSTILE, "versions": {HOSTILE: HOSTILE}}
    html = write_run_report(write_run(tmp_path, lines, config, train=[bad])).read_text(encoding="utf-8")
    tags = Tags(html)
    assert not any(tag in ("script", "iframe") or "onerror" in held for tag, held in tags.found)
    assert tags.text.count("<script>alert(1)</script>") >= 8
    assert not set(html) & {"\x00", "\x1b", "\u202e"}


def test_a_picture_name_that_is_a_path_is_not_followed(tmp_path):
    (tmp_path / "secret.png").write_bytes(b"\x89PNG")
    step = Step(observation="x", images=["../secret"], action="Up", info={"actions": ["Up"]})
    folder = write_run(tmp_path / "run", [], train=[Trajectory(steps=[step], reward=1.0)])
    assert "<img" not in write_run_report(folder).read_text()


def test_secrets_in_the_configuration_are_struck_out(tmp_path):
    folder = write_run(tmp_path, [], config={"arguments": {"api_key": "sk-verysecretvalue", "lr": 1}})
    assert "verysecretvalue" not in write_run_report(folder).read_text()


def test_damaged_trajectories_leave_the_rest_of_the_page(tmp_path):
    folder = write_run(tmp_path, rl_lines(3), train_1=played(0.5, 1, count=2))
    with open(folder / "trajectories" / "train_1.jsonl", "ab") as file:
        file.write(b'{"schema": 1, "steps": [{"obs')
    assert "Best" in text_of(folder)
    (folder / "trajectories" / "train_2.jsonl").write_bytes(b"\x00\xff\nnothing\n")
    (folder / "trajectories" / "train_3.parquet").write_bytes(b"PAR1 nothing")
    assert "Success" in text_of(folder)


def test_the_newest_of_a_long_file_are_found_at_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(episode_strip, "MAX_READ", 3)
    monkeypatch.setattr(episode_strip, "TAIL_BYTES", 20_000)
    folder = write_run(tmp_path, [], train=[*played(0.1, 1, count=8), *played(1.0, 9, count=8)])
    first, last = episode_strip.sample_sections(folder)
    assert first[0] == "Episodes of the first iteration" and last[0] == "Episodes of the last iteration"
    assert "solved" in last[1][1] and len(last[1]) == 5  # what it is told, three episodes, how to draw them


def test_files_are_taken_in_the_order_of_their_numbers(tmp_path):
    for name in ("step_10.jsonl", "step_9.jsonl", "step_9.parquet", "eval_99.jsonl", "notes.txt"):
        (tmp_path / name).touch()
    assert [path.name for path in trajectory_files(tmp_path)] == ["step_9.parquet", "step_10.jsonl"]


def test_best_worst_and_random_are_three_different_episodes_with_known_rewards():
    held = [Trajectory(id=str(i), reward=r) for i, r in enumerate([0.5, None, 2.0, -1.0, 0.7])]
    chosen = {name: one.id for name, one in choose(held)}
    assert chosen["best"] == "2" and chosen["worst"] == "3" and chosen["at random"] in ("0", "4")
    assert choose([]) == [] and [name for name, _ in choose(held[:1])] == ["best"]
    assert [name for name, _ in choose(held[1:2])] == ["one"]


def test_a_fault_and_a_long_episode_are_said(tmp_path):
    env = gym.make(LAKE)
    one = record_episode(env, Halting(0.0, 0), 1)
    one.fault, one.reward = {"kind": "EnvFault", "detail": "gone"}, None
    one.steps = one.steps * 20
    folder = write_run(tmp_path, [], train=[one])
    text = text_of(folder)
    assert "fault: EnvFault" in text and "more turns" in text and "reward not known" in text


def test_intervals_are_worked_out_where_they_are_missing():
    assert interval({"success": 0.5, "episodes": 100}, "success_ci") == pytest.approx((0.404, 0.596), abs=0.001)
    assert interval({"success": 0.5, "episodes": 100, "success_ci": [0.1, 0.9]}, "success_ci") == (0.1, 0.9)
    assert interval({"reward_mean": 0.5, "episodes": 100}, "reward_ci") is None


def test_evaluations_of_several_environments_are_told_apart():
    lines = [eval_line(0, 0.5, greedy=g, env_id=e) for g in (False, True) for e in ("a", "b")]
    assert list(eval_groups(lines)) == ["a sampled", "b sampled", "a greedy", "b greedy"]
    mixed = [train_line(1, 2, random.Random(0), by_env={"a": {"success": 0.1}, "b": {}})]
    assert list(eval_groups(mixed[:0])) == []


def test_a_mix_has_a_table_of_its_environments(tmp_path):
    rng = random.Random(0)
    lines = [train_line(i, 2, rng, by_env={"a": {"success": 0.1 * i}, "b": {"episodes": 3}}) for i in (1, 2)]
    text = text_of(write_run(tmp_path, lines))
    assert "Training success by environment" in text and "10.0 % (iteration 1)20.0 % (iteration 2)" in text


@pytest.mark.parametrize("make", [lambda p: p / "none", lambda p: p])
def test_a_folder_that_is_no_run_is_refused(tmp_path, make):
    with pytest.raises(ConfigError, match="run folder"):
        write_run_report(make(tmp_path))


def test_a_report_that_cannot_be_written_says_so(tmp_path):
    folder = write_run(tmp_path, [])
    (folder / "report.html").mkdir()
    with pytest.raises(ConfigError, match="cannot write the report"):
        write_run_report(folder)


def test_config_that_is_no_json_is_left_out(tmp_path):
    folder = write_run(tmp_path, rl_lines(2))
    (folder / "config.json").write_text('{"algorithm": ')
    assert "Configuration" not in text_of(folder)
    (folder / "config.json").write_text(json.dumps([1]))
    assert "Configuration" not in text_of(folder)
