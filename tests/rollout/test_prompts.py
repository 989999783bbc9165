"""The prompt styles: what a policy is shown, and that it follows from the record alone."""

from __future__ import annotations

from typing import Any

import pytest
from jinja2.sandbox import ImmutableSandboxedEnvironment

import agentrl  # noqa: F401
from agentrl.core.errors import ConfigError
from agentrl.core.policy import Generation, Message
from agentrl.policies import load_policy
from agentrl.rollout.collect import Collector, EnvSpec, Start
from agentrl.rollout.prompts import ROOM, PresentStep, WholeConversation, prompt_at, prompt_style
from agentrl.rollout.trajectory import Trajectory
from tests.installed import ROOT
from tests.rollout.troubled_envs import TROUBLED, Playing


class Noting(Playing):
    """Keeps every conversation it was shown."""

    def __init__(self, script: Any = None, gold: bool = False) -> None:
        super().__init__(script)
        self.shown: list[list[Any]] = []
        self.gold = load_policy("oracle") if gold else None

    def act(self, conversations: Any, envs: Any = None) -> list[Generation]:
        self.shown += conversations
        if self.gold is None:
            return super().act(conversations, envs)
        answers = self.gold.act(conversations, envs)
        return [Generation(f"I say {a.text}", a.action, [7, n], [-1.0, -2.0]) for n, a in enumerate(answers)]


def play(env_id: str, policy: Noting, **options: Any) -> Trajectory:
    kwargs = options.pop("kwargs", {})
    collector = Collector([EnvSpec(env_id, kwargs)], policy, **options)
    (trajectory,) = collector.collect([Start(4)]).trajectories
    collector.close()
    return trajectory


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def bare(message: Any) -> dict[str, Any]:
    return {"role": message["role"], "content": message["content"]}


def test_a_conversation_holds_everything_said_so_far() -> None:
    policy = Noting({4: ["fine", "good"]})
    play(TROUBLED, policy)
    assert [bare(message) for message in policy.shown[-1]] == [
        {"role": "system", "content": "Be good."},
        user("episode 4 turn 0"),
        {"role": "assistant", "content": "fine"},
        user("episode 4 turn 1"),
    ]


def test_a_step_shows_the_last_actions_with_what_was_said_to_them() -> None:
    policy = Noting({4: ["fine", "good", "fine"]})
    play(TROUBLED, policy, prompt_style="step", history=2, kwargs={"turns": 4})
    assert all([message["role"] for message in shown] == ["system", "user"] for shown in policy.shown)
    assert policy.shown[0][-1]["content"] == "episode 4 turn 0"
    assert (
        policy.shown[1][-1]["content"]
        == "Your turns so far:\n[1] You did: fine. You said fine.\nNow:\nepisode 4 turn 1"
    )
    assert policy.shown[3][-1]["content"] == (
        "Your last 2 turns of 3:\n[2] You did: good. You said good.\n[3] You did: fine. You said fine.\n"
        "Now:\nepisode 4 turn 3"
    )


def test_feedback_that_the_observation_repeats_is_said_once() -> None:
    policy = Noting(gold=True)
    play("agentrl/FrozenLake-Text-v0", policy, prompt_style="step", kwargs={"max_actions_per_turn": 1, "max_turns": 9})
    for shown in policy.shown:
        assert shown[-1]["content"].count("no change") <= 1
    step = PresentStep(2)
    step.begin("", {"role": "user", "content": "a"})
    step.turn({"role": "assistant", "content": "x"}, "x", "Bumped.", {"role": "user", "content": "Bumped.\nb"})
    assert step.messages()[-1]["content"].count("Bumped.") == 1


def test_without_history_a_step_is_the_observation_alone() -> None:
    policy = Noting()
    play(TROUBLED, policy, prompt_style="step", history=0)
    assert [shown[-1]["content"] for shown in policy.shown] == ["episode 4 turn 0", "episode 4 turn 1"]


def test_a_step_shows_the_present_picture_only_and_no_old_mark() -> None:
    policy = Noting(gold=True)
    play("agentrl/Sokoban-Visual-v0", policy, prompt_style="step")
    for shown in policy.shown:
        assert shown[-1]["content"].count("<image>") == len(shown[-1]["images"]) == 1
    hostile = PresentStep(1)
    hostile.begin("", {"role": "user", "content": "a <image>"})
    hostile.turn(
        {"role": "assistant", "content": "<image>"}, "'x'", "<image> <image>", {"role": "user", "content": "b"}
    )
    assert "<image>" not in hostile.messages()[-1]["content"]


@pytest.mark.parametrize("style", ["conversation", "step"])
@pytest.mark.parametrize(
    "env_id", ["agentrl/FrozenLake-Text-v0", "agentrl/Sokoban-Visual-v0", "agentrl/FrozenLake-Grid-v0"]
)
def test_what_was_shown_follows_from_the_record(env_id: str, style: str) -> None:
    policy = Noting(gold=True)
    trajectory = play(env_id, policy, prompt_style=style)
    assert len(policy.shown) == len(trajectory.steps) > 1
    for turn, shown in enumerate(policy.shown):
        again = prompt_at(trajectory, turn, style)
        without = [{k: v for k, v in message.items() if k not in ("images", "observation")} for message in shown]
        assert [{k: v for k, v in message.items() if k != "images"} for message in again] == without
        for one, other in zip(again, shown, strict=True):
            assert [a is b for a, b in zip(one.get("images", []), other.get("images", []), strict=True)].count(
                False
            ) == 0
    other = prompt_at(trajectory, len(trajectory.steps), "step" if style == "conversation" else "conversation")
    assert trajectory.final_observation in other[-1]["content"]


def test_a_record_without_its_pictures_says_so() -> None:
    trajectory = play("agentrl/Sokoban-Visual-v0", Noting(gold=True))
    read = Trajectory.from_json(trajectory.to_json())
    with pytest.raises(ConfigError, match="not loaded"):
        prompt_at(read, 0)
    assert prompt_at(read, 0, pictures=trajectory.pictures)[-1]["images"]
    with pytest.raises(ConfigError, match="turn must be"):
        prompt_at(trajectory, len(trajectory.steps) + 1)


def test_styles_are_chosen_by_name() -> None:
    assert isinstance(prompt_style("conversation"), WholeConversation)
    assert prompt_style("step", 5).history == 5  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(ConfigError, match='Did you mean "conversation"'):
        prompt_style("conversaton")
    with pytest.raises(ConfigError, match="history must be"):
        prompt_style("step", -1)


@pytest.mark.parametrize("style", ["conversation", "step"])
def test_a_record_says_in_which_style_its_prompts_were_made(style: str) -> None:
    assert play(TROUBLED, Noting({4: ["fine"]}), prompt_style=style).prompt_style == style


def page_message(content: str) -> Message:
    return {"role": "user", "content": content, "images": []}


def test_webrls_rounds_are_its_prompt_to_the_letter():
    page = (ROOT / "docs/web-tasks.md").read_text().partition("<!-- file: chat_template.jinja -->")[2]
    source = page.split("```text\n")[1].split("```")[0]
    template = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True).from_string(source)
    rounds = prompt_style("webrl")
    rounds.begin("Task Instruction: Open it", page_message("<html>0</html>"))
    ends = "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n"
    asks = "<|eot_id|><|start_header_id|>user<|end_header_id|>\n"

    def shown() -> str:
        return template.render(messages=rounds.messages(), bos_token="", add_generation_prompt=True)

    assert shown() == f"Task Instruction: Open it\n\nRound 0\n\n{asks}<html>0</html>\n\n{ends}"
    rounds.turn({"role": "assistant", "content": "do(1)"}, "", "", page_message("<html>1</html>"))
    rounds.turn({"role": "assistant", "content": "do(2)"}, "", "", page_message("x" * 20_000))
    past = f"Round 0\n\n{asks}Open it\n\n{ends}do(1)\n\nRound 1\n\n{asks}** Simplified html **\n\n{ends}do(2)\n\n"
    assert shown() == f"Task Instruction: Open it\n\n{past}Round 2\n\n{asks}{'x' * (ROOM - len(past))}\n\n{ends}"
    with pytest.raises(ConfigError, match='prompt="webrl"'):
        prompt_style("webrl").begin("The rules of a game", page_message("x"))
