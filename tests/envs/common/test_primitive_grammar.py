"""Calls with whole numbers, read from any text."""

from __future__ import annotations

from agentrl.envs.common.primitives import Action, Grammar

GRAMMAR = Grammar(
    {"pick": ("x", "y", "z"), "turn": ("x", "y", "z", "angle")},
    {"x": (-100, 100), "y": (-100, 100), "z": (0, 300), "angle": (-180, 180)},
)


def test_usage_names_every_verb_with_its_parameters():
    assert GRAMMAR.usage == "pick(x,y,z) or turn(x,y,z,angle)"


def test_calls_are_read_in_order_and_surplus_ones_counted():
    turn = GRAMMAR.read_turn("<answer>PICK( 1, -2,3)|turn(0,0,5,-90)|pick(0,0,0)</answer>", 2)
    assert turn.actions == [Action("pick", (1, -2, 3)), Action("turn", (0, 0, 5, -90))]
    assert (turn.error, turn.surplus) == (None, 1)


def test_numbers_beyond_their_limits_are_named_with_their_unit():
    assert GRAMMAR.read_action("pick(0,0,301)") == (
        "z = 301 is outside the workspace, 0 to 300 mm; the arm did not move"
    )
    assert (
        GRAMMAR.read_action("turn(0,0,0,181)") == "angle = 181 must be from -180 to 180 degrees; the arm did not move"
    )


def test_hostile_text_is_no_action():
    for text in (
        "pick(1,2)",
        "pick(1,2,nan)",
        "pick(1,2,1e3)",
        "fly(1,2,3)",
        "pick(\u0661,2,3)",
        "pick(" + "9" * 5000,
        "",
    ):
        assert isinstance(GRAMMAR.read_action(text), str)
    assert GRAMMAR.read_turn(b"pick(1,2,3)", 1).error is not None


def test_tools_and_text_say_the_same():
    tools = {tool["function"]["name"]: tool for tool in GRAMMAR.tools({"pick": "Grasp.", "turn": "Turn."})}
    assert list(tools) == ["pick", "turn"]
    call = {"name": "turn", "arguments": {"x": 1, "y": 2, "z": 3, "angle": 4}}
    assert GRAMMAR.tool_action(**call) == "turn(1,2,3,4)"
    assert GRAMMAR.tool_calls("turn(1,2,3,4)") == [call]
    assert GRAMMAR.tool_action("fly", {}) is None
