"""SVG reconstruction: gold earns full marks, nearer drawings earn more, bad answers cost a turn and nothing else."""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import psutil
import pytest

import agentrl  # noqa: F401  (registers the environments)
from agentrl.core.errors import ConfigError, JudgeFault, SnapshotError
from agentrl.core.snapshot import open_blob, seal_blob
from agentrl.envs.svg import pictures
from agentrl.envs.svg.env import SAMPLES, SVGEnv
from agentrl.envs.svg.pictures import in_characters, panel_shape, side_by_side
from agentrl.envs.svg.sandbox.renderer import Renderer
from agentrl.envs.svg.targets.icons import GRADES
from agentrl.rollout.evaluate import evaluate
from agentrl.wrappers import Reasoning, ToolCalls

CLASSICAL = [{"scorer": "classical", "weight": 5.0}]
QUICK: dict[str, Any] = {"scorers": CLASSICAL, "image_size": 64}
BLANK = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"/>'
CIRCLE = SAMPLES[0]


def make(**arguments: Any) -> gym.Env:
    """A quick environment."""
    return gym.make("agentrl/SVG-Visual-v0", **{**QUICK, **arguments})


def bare(env: gym.Env) -> SVGEnv:
    """The environment itself."""
    assert isinstance(env.unwrapped, SVGEnv)
    return env.unwrapped


@pytest.fixture
def env() -> Iterator[gym.Env]:
    """A fresh one, at the beginning of an episode."""
    with make() as made:
        made.reset(seed=5)
        yield made


# ---------------------------------------------------------------------- rewards


def test_gold_scores_full_marks_and_blank_none_in_every_grade_and_split() -> None:
    for split in ("train", "dev", "test"):
        with make(split=split) as env:
            for task in [f"icon:{split}:{grade}:{index}" for grade in GRADES for index in range(4)]:
                env.reset(seed=0, options={"task": task})
                _, nothing, *_ = env.step(BLANK)
                _, gold, terminated, truncated, info = env.step(f"<answer>{bare(env).oracle()}</answer>")
                assert nothing == pytest.approx(0, abs=1e-9) and gold == pytest.approx(5.0), task
                assert terminated and not truncated and info["success"]
                assert info["metrics"] == pytest.approx({"classical": 1.0, "structure_f1": 1.0, "drawn": 1.0})


def test_the_offline_default_gives_full_marks_to_gold_under_its_own_name() -> None:
    with gym.make("agentrl/SVG-Visual-v0", image_size=64) as env:
        env.reset(seed=1)
        *_, info = env.step(bare(env).oracle())
        ((name, value),) = info["reward_terms"].items()
        assert name in ("stlpips", "classical") and value == pytest.approx(5.0)
        _, reward, *_ = env.step(BLANK)
        assert reward == pytest.approx(0, abs=1e-6)


def test_every_turn_is_paid_and_good_drawings_do_not_end_the_episode_early() -> None:
    with make(max_turns=3) as env:
        env.reset(seed=5)
        ends = []
        for _ in range(3):
            _, reward, terminated, truncated, info = env.step(bare(env).oracle())
            ends.append((reward, terminated, truncated, info["success"], bool(info["metrics"])))
        assert ends == [(5.0, False, False, False, False)] * 2 + [(5.0, True, False, True, True)]
        assert bare(env).oracle() is None


def perturbed(amount: float) -> str:
    """A little house, moved and recoloured more and more."""
    shade = round(255 * amount)
    return (
        f'<svg viewBox="0 0 100 100"><g transform="translate({40 * amount:.2f} {24 * amount:.2f})">'
        f'<rect x="10" y="40" width="40" height="35" fill="rgb(200,{shade},40)"/>'
        f'<path d="M5 40L30 15L55 40Z" fill="rgb({shade},60,160)"/></g></svg>'
    )


@pytest.mark.parametrize("scorer", ["classical", "msssim", "colours"])
def test_nearer_drawings_score_higher(scorer: str) -> None:
    with make(scorers=[{"scorer": scorer, "weight": 1.0}], structure_weight=1.0, max_turns=20) as env:
        env.reset(options={"task": perturbed(0)})
        rewards, structures = [], []
        for amount in (0, 0.08, 0.2, 0.4, 0.8):
            *_, info = env.step(perturbed(amount))
            (name,) = info["reward_terms"].keys() - {"structure"}
            rewards.append(info["reward_terms"][name])
            structures.append(info["reward_terms"]["structure"])
        assert rewards[0] == pytest.approx(1.0) and structures[0] == 1.0
        assert all(near > far + 1e-3 for near, far in pairwise(rewards)), rewards
        assert structures == sorted(structures, reverse=True) and structures[-1] < 0.7


def test_terms_are_weighted_and_named_after_their_backends() -> None:
    scorers = [{"scorer": "classical", "weight": 5.0}, {"scorer": {"kind": "colours"}, "weight": 0.0001}]
    with make(scorers=scorers, structure_weight=2.0) as env:
        env.reset(seed=5)
        _, reward, *_, info = env.step(CIRCLE)
        terms = info["reward_terms"]
        assert list(terms) == ["classical", "colours", "structure"]
        assert reward == math.fsum(terms.values()) and 0 <= terms["classical"] < 5 and terms["colours"] <= 0.0001
        _, reward, *_, info = env.step(bare(env).oracle())
        assert info["reward_terms"] == pytest.approx({"classical": 5.0, "colours": 0.0001, "structure": 2.0})


def test_the_reward_of_the_paper_with_models_in_local_folders(tmp_path: Path) -> None:
    from benchmarks.random_weights import write_dino, write_dreamsim  # random, but in the real formats

    dreamsim = {"kind": "dreamsim", "folder": str(write_dreamsim(tmp_path / "a")), "device": "cpu"}
    dino = {"kind": "dino", "folder": str(write_dino(tmp_path / "b")), "device": "cpu"}
    scorers = [{"scorer": dreamsim, "weight": 5.0}, {"scorer": dino, "weight": 0.0001}]
    with make(scorers=scorers) as env:
        env.reset(seed=5)
        *_, info = env.step(CIRCLE)
        assert list(info["reward_terms"]) == ["dreamsim", "dino"] and info["reward_terms"]["dreamsim"] < 5.0
        _, reward, *_, info = env.step(bare(env).oracle())
        assert reward == pytest.approx(5.0001, abs=1e-4) and info["metrics"]["dino"] == pytest.approx(1.0, abs=1e-4)


def test_success_is_judged_by_the_drawing_that_stands_at_the_end() -> None:
    with make(success_threshold=0.9) as env:
        env.reset(seed=5)
        env.step(bare(env).oracle())
        _, reward, terminated, truncated, info = env.step("no code at all")
        assert terminated and not truncated and info["success"] and not info["valid"] and reward == 0.0
        assert info["metrics"]["classical"] == 1.0
        env.reset(seed=5)
        env.step(bare(env).oracle())
        _, _, terminated, truncated, info = env.step(CIRCLE)
        assert truncated and not terminated and not info["success"] and info["limit"] == "task"
    with make(success_threshold=0.0) as easy:
        easy.reset(seed=5)
        easy.step("nothing")
        *_, truncated, info = easy.step("nothing")
        assert truncated and not info["success"]  # without a drawing there is no success at any threshold
        assert info["metrics"] == {"classical": 0.0, "structure_f1": 0.0, "drawn": 0.0}


# ---------------------------------------------------------------------- bad input

BAD_ANSWERS = {
    "": "empty",
    "  \n ": "empty",
    "<answer></answer>": "empty",
    f"```svg\n{CIRCLE}\n```": "markdown",
    f"```\n{CIRCLE}\n```": "markdown",
    f"<answer>```xml\n{CIRCLE}```</answer>": "markdown",
    f"Here is the code: {CIRCLE}": "prose",
    f"{CIRCLE} I hope you like it": "prose",
    f"<answer>Sure! {CIRCLE}</answer>": "prose",
    CIRCLE[:40]: "not_xml",
    CIRCLE.replace("</svg>", ""): "not_xml",
    CIRCLE.replace("/></svg>", "></svg>"): "not_xml",
    CIRCLE + CIRCLE: "not_xml",
    '<svg xmlns="http://www.w3.org/1999/xhtml"><circle r="9"/></svg>': "not_svg",
    "<circle r='9'/>": "not_svg",
    "<!DOCTYPE html><html><body>hello</body></html>": "html",
    "<html><svg></svg></html>": "html",
    "<div><svg></svg></div>": "html",
    "circle 50 50 30": "prose",
    "<answer><svg/></answer><answer><svg/></answer>": "answer_tags",
    f"<answer>{CIRCLE}": "answer_tags",
    "<svg><script>alert(1)</script></svg>": "element",
    '<svg><image href="file:///etc/passwd" width="9" height="9"/></svg>': "element",
    '<svg><use href="http://example.com/a.svg#b"/></svg>': "reference",
    '<!DOCTYPE svg [<!ENTITY a "b">]><svg>&a;</svg>': "doctype_internal_subset",
    "<svg>" + "<g>" * 200 + "</g>" * 200 + "</svg>": "too_deep",
    "<svg>" + "<g/>" * 9000 + "</svg>": "too_many_nodes",
    "<svg>" + " " * 70_000 + "</svg>": "too_long",
}


@pytest.mark.parametrize(("answer", "reason"), BAD_ANSWERS.items(), ids=range(len(BAD_ANSWERS)))
def test_a_bad_answer_is_feedback_and_no_reward_and_the_episode_goes_on(env: gym.Env, answer: str, reason: str) -> None:
    before = bare(env).state()
    obs, reward, terminated, truncated, info = env.step(answer)
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert info["refused"] == reason or {info["refused"], reason} <= {"entity", "doctype_internal_subset"}
    assert info["valid"] is False and info["fault"] == "unparsed" and not info["effective"]
    assert info["feedback"].startswith("Invalid: ") and info["feedback"] in obs["text"]
    assert obs["text"].count("<image>") == 1 and "\n" not in info["feedback"] and len(info["feedback"]) < 300
    assert bare(env).state() == before
    _, reward, terminated, *_ = env.step(bare(env).oracle())
    assert reward == 5.0 and terminated


@pytest.mark.parametrize(
    "answer",
    [
        CIRCLE,
        f"  {CIRCLE}\n",
        f"<think>a circle</think><answer>\n{CIRCLE}\n</answer>",
        CIRCLE.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" '),
        f'<?xml version="1.0" encoding="UTF-8"?>\n{CIRCLE}',
        f'<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">{CIRCLE}',
        f"<!-- a circle -->{CIRCLE}<!-- the end -->",
    ],
)
def test_what_models_ordinarily_write_is_drawn(env: gym.Env, answer: str) -> None:
    *_, info = env.step(answer)
    assert info["valid"] and info["refused"] is None and len(info["actions"]) == 1
    assert [shape.kind for shape in bare(env).state().drawing or ()] == ["circle"]


def test_an_invalid_turn_can_be_made_to_cost() -> None:
    with make(invalid_penalty=-0.1) as env:
        env.reset(seed=0)
        _, reward, *_, info = env.step("nothing")
        assert reward == -0.1 and info["reward_terms"] == {"invalid": -0.1}


def test_the_last_good_drawing_stays_in_the_picture() -> None:
    with make(max_turns=3) as env:
        first, _ = env.reset(seed=5)
        second, *_ = env.step(CIRCLE)
        third, *_ = env.step("<svg")
        assert (first["image"] != second["image"]).any() and (second["image"] == third["image"]).all()
        assert "your last drawing" in third["text"] and "drawing" not in first["text"]


# ---------------------------------------------------------------------- the drawing process


def test_a_drawing_process_that_dies_is_replaced_unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed between turns and while it is idle: the agent's answers are drawn and paid as if nothing had happened."""
    with Renderer(64) as renderer, make(max_turns=20) as env:
        monkeypatch.setattr(pictures, "shared_renderer", lambda size: renderer)
        env.reset(seed=9)
        for turn in range(2):
            drawing = children()
            assert drawing  # otherwise this would show nothing
            for worker in drawing:
                os.kill(worker, signal.SIGKILL)
            code = CIRCLE.replace('r="30"', f'r="{30 + turn}.{os.getpid()}"')  # never drawn before
            _, reward, terminated, truncated, info = env.step(code)
            assert info["valid"] and info["refused"] is None and reward > 0 and not (terminated or truncated)


def children() -> list[int]:
    """The processes that this one has started and that draw."""
    started = psutil.Process().children(recursive=True)
    alive = [child for child in started if child.status() != psutil.STATUS_ZOMBIE]
    return [child.pid for child in alive if "worker_child" in " ".join(child.cmdline())]


def test_pictures_and_scores_are_remembered_up_to_a_limit() -> None:
    made: list[int] = []
    store: pictures.Recent[bytes] = pictures.Recent(100, len)
    for number in (*range(20), 19, 0):
        store.get(number, lambda number=number: made.append(number) or bytes(10))
    assert made == [*range(20), 0] and store.held <= 100 and len(store) == 10
    assert store.get("large", lambda: bytes(1000)) == bytes(1000) and len(store) == 1


# ---------------------------------------------------------------------- tasks, arguments, forks


def test_a_task_can_be_code_of_ones_own(env: gym.Env) -> None:
    _, info = env.reset(options={"task": CIRCLE})
    assert info["task"] == CIRCLE and [shape.kind for shape in bare(env).state().target] == ["circle"]
    for bad in ("<svg", "<svg/>", "<html/>", "icon:dev:1:0", "icon:train:9:0"):
        with pytest.raises(ConfigError):
            env.reset(options={"task": bad})
    assert bare(env)._task() == CIRCLE


def test_difficulty_and_number_of_icons_are_chosen_by_arguments() -> None:
    with make(difficulty=3, icons=2) as env:
        met = {env.reset(seed=seed)[1]["task"] for seed in range(12)}
        assert met == {"icon:train:3:0", "icon:train:3:1"}
        env.reset(seed=0)
        assert {env.reset()[1]["task"] for _ in range(2)} == met  # the walk visits all before any comes back


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"scorers": "classical"}, "scorers"),
        ({"scorers": []}, "scorers"),
        ({"scorers": [{"scorer": "classical"}]}, "scorers"),
        ({"scorers": [{"scorer": "classical", "weight": "much"}]}, "weight"),
        ({"scorers": [{"scorer": "no such", "weight": 1}]}, "no such"),
        ({"scorers": [{"scorer": {"kind": "classical", "colour": 1}, "weight": 1}]}, "colour"),
        ({"scorers": CLASSICAL * 2}, "same name"),
        ({"image_size": 20}, "image_size"),
        ({"success_threshold": math.nan}, "success_threshold"),
        ({"structure_weight": "a"}, "structure_weight"),
        ({"max_actions_per_turn": 2}, "max_actions_per_turn"),
        ({"difficulty": 9}, "difficulty"),
        ({"tarets": "x"}, "targets"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, Any], word: str) -> None:
    with pytest.raises(ConfigError, match=word):
        make(**arguments)


class Broken:
    """A scorer with an outage, or one that answers nonsense."""

    name = "broken"

    def __init__(self, answer: float | None = None) -> None:
        self.answer = answer

    def score_pairs(self, pairs: Any) -> list[float]:
        """Fails, or says the answer for each."""
        if self.answer is None:
            raise JudgeFault("out of order")
        return [self.answer for _ in pairs]


@pytest.mark.parametrize("answer", [None, math.nan, math.inf])
def test_an_outage_of_a_scorer_is_a_fault_and_never_a_zero(answer: float | None) -> None:
    with make(scorers=[{"scorer": Broken(answer), "weight": 5.0}]) as env:
        env.reset(seed=5)
        with pytest.raises(JudgeFault):
            env.step(CIRCLE)
        assert bare(env).state().drawing is None  # the turn did not happen


def test_a_live_scorer_is_asked_every_time_and_equal_specs_share_one() -> None:
    with make(scorers=[{"scorer": Broken(0.5), "weight": 5.0}]) as env:
        env.reset(seed=5)
        _, reward, *_, info = env.step(CIRCLE)
        assert reward == 2.5 and info["reward_terms"] == {"broken": 2.5}
    with make() as one, make() as other:
        assert bare(one)._measures[0].scorer is bare(other)._measures[0].scorer


def test_a_forged_snapshot_cannot_smuggle_code_past_the_gate(env: gym.Env) -> None:
    env.step(CIRCLE)
    world = bare(env)
    data = open_blob(world.snapshot(), world._identity())
    for key in ("target", "drawing"):
        forged = {**data, "world": {**data["world"], key: "<svg><script>1</script></svg>"}}
        with pytest.raises(SnapshotError):
            world.restore(seal_blob(world._identity(), forged))
    assert [shape.kind for shape in world.state().drawing or ()] == ["circle"]


# ---------------------------------------------------------------------- wrappers, vectors, evaluation


@pytest.mark.parametrize("representation", ["natural", "structured"])
def test_the_reasoning_wrapper_tells_the_truth_around_the_oracle(representation: str) -> None:
    env = Reasoning(make(), "grounding_worldmodeling", representation)
    env.reset(seed=5)
    gold = env.gold()
    assert gold is not None
    _, reward, *_, info = env.step(gold)
    assert info["format"] and reward == 5.5
    assert "drawing" in info["observation"] or "drawn" in info["observation"]
    assert info["prediction"] != info["observation"]
    env.close()


def test_the_drawing_tool_runs_through_tool_calls() -> None:
    env = ToolCalls(make())
    env.reset(seed=5)
    _, reward, *_, info = env.step(env.get_wrapper_attr("oracle")())
    assert info["valid"] and reward == 5.0, info["feedback"]
    env.close()


def test_vectors_of_environments_draw_side_by_side() -> None:
    envs = gym.vector.SyncVectorEnv([make] * 3)
    obs, _ = envs.reset(seed=[1, 2, 3])
    assert obs["image"].shape == (3, *panel_shape(64))
    _, rewards, *_ = envs.step((CIRCLE, "nothing", BLANK))
    assert rewards.shape == (3,) and rewards[1] == rewards[2] == 0.0
    envs.close()


def test_evaluation_reports_the_last_drawing_by_backend() -> None:
    kwargs = {**QUICK, "scorers": [*CLASSICAL, {"scorer": "colours", "weight": 0.0}]}
    result = evaluate("agentrl/SVG-Visual-v0", "oracle", 4, env_kwargs=kwargs)
    assert result.success == 1.0 and result.reward_mean == pytest.approx(10.0)
    assert result.metrics == pytest.approx(
        {
            "classical": 1.0,
            "colours": 1.0,
            "structure_f1": 1.0,
            "drawn": 1.0,
            "turns_margin": 0.0,
            "scored": 4,
            "pending": 0,
        }
    )


# ---------------------------------------------------------------------- pictures


def test_target_and_drawing_stand_side_by_side_under_their_names() -> None:
    target, drawing = (np.full((160, 160, 3), shade, np.uint8) for shade in (0, 100))
    picture = side_by_side(target, drawing)
    assert picture.shape == panel_shape(160)
    assert (picture[-160:, :160] == 0).all() and (picture[-160:, -160:] == 100).all()
    assert (picture[:11] < 100).any()  # letters
    empty = side_by_side(target, None)
    assert len(np.unique(empty[-160:, -160:])) == 1 and (empty[-160:, :160] == 0).all()


def test_a_picture_in_characters_is_dark_where_the_picture_is() -> None:
    picture = np.full((64, 64, 3), 255, np.uint8)
    picture[:32, 32:] = 0
    rows = in_characters(picture)
    assert len(rows) == 16 and rows[0] == " " * 16 + "@" * 16 and rows[-1] == " " * 32


def test_rendering_for_terminals_shows_both(env: gym.Env) -> None:
    with make(render_mode="ansi") as shown:
        shown.reset(seed=5)
        shown.step(CIRCLE)
        text = shown.render()
        assert isinstance(text, str) and text.splitlines()[0].split() == ["target", "|", "drawing"]
        assert len({len(line) for line in text.splitlines()[1:]}) == 1
