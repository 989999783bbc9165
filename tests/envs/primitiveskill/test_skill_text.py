"""What the agent writes and reads: the grammar of actions, the description, the prompt."""

from __future__ import annotations

import pytest

from agentrl.core.parsing import Turn
from agentrl.envs.primitiveskill.backend import Action, Thing, read_action, read_turn
from agentrl.envs.primitiveskill.state import SkillState
from agentrl.envs.primitiveskill.tasks.scene import Scene
from agentrl.envs.primitiveskill.words import describe, facts, rules

PICK = Action("pick", (62, -55, 20))
PLACE = Action("place", (75, 33, 60))


@pytest.mark.parametrize(
    "text",
    [
        "pick(62,-55,20)|place(75,33,60)",
        "<think>red goes on green</think><answer> PICK ( +62 , -55,20 ) |\n Place(75, 33, 060)</answer>",
    ],
)
def test_actions_are_read_whatever_their_case_and_spaces(text: str) -> None:
    assert read_turn(text, 2) == Turn([PICK, PLACE], None, 0)


def test_actions_beyond_the_limit_are_counted_and_not_read() -> None:
    assert read_turn("pick(62,-55,20)|place(75,33,60)|nonsense|push(1,2,3)", 2) == Turn([PICK, PLACE], None, 2)


def test_what_comes_before_a_mistake_stays() -> None:
    turn = read_turn("pick(62,-55,20)|drop(1,2,3)", 2)
    assert turn.actions == [PICK] and turn.error is not None and "'drop' is not an action" in turn.error


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("pick(1,2)", "pick takes 3 numbers; got 2"),
        ("pick()", "pick takes 3 numbers; got 0"),
        ("push(1,2,3)", "push takes 6 numbers; got 3"),
        ("pick(1.5,2,3)", "whole numbers of millimetres; got '1.5'"),
        ("pick(nan,2,3)", "whole numbers of millimetres; got 'nan'"),
        ("pick(inf,2,3)", "got 'inf'"),
        ("pick(1e2,2,3)", "got '1e2'"),
        ("pick(0x10,2,3)", "got '0x10'"),
        ("pick(1_0,2,3)", "got '1_0'"),
        ("pick(\u0661,2,3)", "got '\\u0661'"),  # an Arabic digit
        ("pick(\uff11,2,3)", "got '\\uff11'"),  # a full-width digit
        ("pick(,2,3)", "got ''"),
        ("pick(1,2,3", "is not an action; use pick(x,y,z)"),
        ("pick 1,2,3", "is not an action"),
        ("pick((1,2,3))", "is not an action"),
        ("pick(1,2,3) place(1,2,3)", "is not an action"),
        ("pick(201,0,0)", "x = 201 is outside the workspace, -200 to 200 mm"),
        ("pick(0,0,-1)", "z = -1 is outside the workspace, 0 to 300 mm"),
        ("push(0,0,0,0,-301,0)", "y2 = -301 is outside the workspace, -300 to 300 mm"),
        (f"pick({'9' * 150},0,0)", "x = 999999999... is outside the workspace"),
        (f"pick({'9' * 100_000},0,0)", "is not an action"),
        ("<image>(1,2,3)", "\\x3cimage>"),
    ],
)
def test_every_mistake_has_one_sentence(text: str, says: str) -> None:
    problem = read_action(text)
    assert isinstance(problem, str) and says in problem and len(problem) < 200 and "\n" not in problem


@pytest.mark.parametrize("text", ["", "  ", None, 3, b"pick(1,2,3)", ["pick(1,2,3)"], "|", "<answer></answer>"])
def test_what_is_no_action_at_all_is_told_so(text: object) -> None:
    turn = read_turn(text, 2)
    assert turn.actions == [] and turn.error


# ---------------------------------------------------------------------- what the agent reads


def scene(held: str | None = None, **positions: tuple[float, float, float]) -> Scene:
    shapes = {"cube": 20.0, "target": 35.0, "apple": 30.0, "drawer": 65.0}
    kinds = {"cube": "cube", "target": "disc", "apple": "sphere", "drawer": "drawer"}
    parts = {name: name.rpartition("_")[2] for name in positions}
    things = {name: Thing(name, kinds[part], shapes[part], (1.0, 0.0, 0.0)) for name, part in parts.items()}
    return Scene(things, positions, {}, held)


def test_the_description_tells_places_orders_and_what_is_on_what() -> None:
    said = describe(
        scene(
            red_cube=(80.0, -100.0, 20.0),
            green_cube=(-47.0, 95.0, 20.0),
            yellow_cube=(-46.0, 96.0, 60.0),
            left_target=(81.0, -101.0, 0.0),
        )
    )
    assert said == [
        "The red cube is to your left, near you, on the left target.",
        "The green cube is to your right, far from you.",
        "The yellow cube is to your right, far from you, on the green cube.",
        "The left target is to your left, near you.",
        "From left to right: the left target, the red cube, the green cube, the yellow cube.",
        "From near to far: the left target, the red cube, the yellow cube, the green cube.",
    ]


def test_the_description_tells_what_is_held_and_what_is_inside() -> None:
    held = describe(scene(held="apple", apple=(0.0, 0.0, 180.0), drawer=(-80.0, -160.0, 29.0)))
    assert held[0] == "The apple is in the middle, at half the distance, in the gripper."
    inside = describe(scene(apple=(-75.0, -155.0, 37.0), drawer=(-80.0, -160.0, 29.0)))
    assert inside[0] == "The apple is to your left, far from you, in the drawer."


def test_facts_hold_numbers_and_no_names() -> None:
    lines = facts("Close it.", [(1, -2, 3), (4, 5, 6)], {"drawer_open_value": 82})
    assert lines == [
        "Instruction: Close it.",
        "Workspace: x -200 to 200, y -300 to 300, z 0 to 300",
        "Object positions: [(1,-2,3), (4,5,6)]",
        'Other information: {"drawer_open_value": 82}',
    ]


def test_the_prompt_states_limits_and_its_example_can_be_read() -> None:
    prompt = rules("the picture", 2, 3)
    assert "up to 2 actions a turn" in prompt and "3 turns" in prompt and "x -200 to 200" in prompt
    example = prompt.rpartition("the answer is ")[2].rstrip(".")
    assert len(read_turn(example, 2).actions) == 2


def test_the_truth_has_names_and_whole_millimetres() -> None:
    state = SkillState("Do it.", {"red_cube": (83, -102, 20)}, {"drawer_open_value": 82}, "red_cube", 0)
    assert state.structured() == {"red_cube_position": [83, -102, 20], "drawer_open_value": 82}
    assert state.natural() == [
        "The red cube is at (83, -102, 20).",
        "The drawer open value is 82 mm.",
        "The gripper holds the red cube.",
    ]
    assert state.to_json().items() >= {**state.structured(), "held": "red_cube", "stage": 0}.items()
    assert SkillState.claims() is not None
