"""Every instruction of LIBERO in all other words asks for the same, as a reader of its own finds.

The reader knows sentences, not the table of wordings: it looks for verbs and their voice, and takes what stands in the
places of object and goal.
"""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from agentrl.core.errors import ConfigError
from agentrl.envs.libero.bddl import read_problem
from agentrl.envs.libero.package import suites, task_file
from agentrl.envs.libero.paraphrase import JOINED, NAMES, WORDINGS, paraphrase, read_requests
from agentrl.envs.libero.task_ids import Chosen

pytestmark = pytest.mark.extra_robots
TASKS = [(suite, number) for suite, names in suites().items() for number in range(len(names))]

PLACE = r"(?P<place>(?:on top of|on|in|under|to the \w+ of) .+?)"
THING = r"(?P<thing>(?:the|both) .+?)"
ENDS = "(?: when you are finished)?"
READINGS = [  # (sentence, action)
    (rf"do not leave {THING} (?:switched )?(?P<state>off|on|shut|open)", None),
    (rf"I would like {THING} to be pushed {PLACE}", "push"),
    (rf"what has to be pushed {PLACE} is {THING}", "push"),
    (rf"what belongs {PLACE} is {THING}", "move"),
    (rf"I would like {THING} to be (?P<state>on|off|open|closed){ENDS}", None),
    (rf"I would like {THING} to be {PLACE}{ENDS}", "move"),
    (rf"{THING} should be (?:taken and put|stacked) {PLACE}", "move"),
    (rf"{THING} should be pushed {PLACE}", "push"),
    (rf"{THING} should be (?:switched )?(?P<state>on|off|opened|shut)", None),
    (rf"find {THING}, and then (?:set|stack) (?:it|them) (?:down )?{PLACE}", "move"),
    (rf"find {THING}, and then push it {PLACE}", "push"),
    (rf"find {THING}, and then (?:switch it )?(?P<state>on|off|open it|shut it)", None),
    (rf"(?:take|grab|lift) {THING} and (?:set|put|place) (?:it|them) {PLACE}", "move"),
    (rf"(?:slide|shove) {THING} {PLACE}", "push"),
    (rf"pile {THING} {PLACE}", "move"),
    (rf"switch (?P<state>on|off) {THING}", None),
    (rf"switch {THING} (?P<state>on|off)", None),
    (rf"(?:pull|push) {THING} (?P<state>open|shut)", None),
    (rf"(?P<state>open up|shut) {THING}", None),
]
STATES = {"on": "turn on", "off": "turn off", "closed": "close", "shut": "close", "open": "open", "opened": "open"}
OPPOSITE = {"turn on": "turn off", "turn off": "turn on", "close": "open", "open": "close"}


def read(sentence: str) -> tuple[str, str, str]:
    """One request: action, thing and place."""
    for pattern, action in READINGS:
        if found := re.fullmatch(pattern, sentence):
            parts = found.groupdict()
            if action is None:
                action = STATES[parts["state"].split()[0]]
                action = OPPOSITE[action] if sentence.startswith("do not leave") else action
            return action, parts["thing"], parts.get("place") or ""
    raise AssertionError(f"nobody understands {sentence!r}")


def asked(instruction: str) -> list[tuple[str, str, str]]:
    """What the instruction itself asks for; to stack is to move onto something."""
    requests = read_requests(instruction)
    return [
        ("move" if action == "stack" else action, "both bowls" if thing == "them" else thing, place)
        for action, thing, place in requests
    ]


class Choice:
    """Takes the wordings that it is told, one for each request."""

    def __init__(self, numbers: tuple[int, ...]) -> None:
        self.numbers = iter(numbers)

    def integers(self, count: int) -> int:
        return min(next(self.numbers), count - 1)


def test_all_wordings_of_all_instructions_are_read_as_the_same_request():
    seen = set()
    for instruction in dict.fromkeys(Chosen(suite, number, "test", 0).instruction for suite, number in TASKS):
        goal = asked(instruction)
        for level, numbers in itertools.product((1, 2, 3), itertools.product(range(3), repeat=len(goal))):
            said = paraphrase(instruction, level, Choice(numbers))  # pyright: ignore[reportArgumentType]
            assert said != instruction
            seen.add((level, said))
            for name, other in NAMES.items() if level == 3 else ():
                said = said.replace(other, name)
            parts = [said] if len(goal) == 1 else said.split(JOINED[level - 1])
            if len(goal) > 1 and level == 1:  # " and " joins verbs as well
                parts = re.split(r" and (?=take|grab|lift|pull|push|open|shut|switch)", said)
            assert [read(part) for part in parts] == goal, said
    assert len(seen) > 500


def test_the_reader_notices_a_swapped_place_and_an_opposite():
    assert read("what belongs on the plate is the bowl") == ("move", "the bowl", "on the plate")
    assert read("what belongs on the bowl is the plate") != read("what belongs on the plate is the bowl")
    assert read("do not leave the stove switched on")[0] == "turn off" == read("switch the stove off")[0]
    with pytest.raises(AssertionError, match="nobody understands"):
        read("the bowl")


PREDICATES = {"in": "move", "on": "move", "open": "open", "close": "close", "turnon": "turn on", "turnoff": "turn off"}
KINDS = {"frying pan": "frypan", "cookie box": "cookies", "white mug": "porcelain mug", "both bowls": "bowl"}


@pytest.mark.parametrize("suite", suites())
def test_requests_are_those_of_the_goal_in_the_task_file(suite):
    for number, task in enumerate(suites()[suite]):
        problem = read_problem(task_file(suite, task))
        requests = asked(Chosen(suite, number, "test", 0).instruction)
        actions = {"move" if action == "push" else action for action, *_ in requests}
        facts = [fact for fact in problem.goal.facts() if fact not in problem.start]
        # An open drawer is needed for what is put into it, and the file asks for the result alone.
        missing = actions - {PREDICATES[fact.predicate] for fact in facts}
        assert missing <= {"open"} and {PREDICATES[fact.predicate] for fact in facts} <= actions, (task, facts)
        said = " ".join(thing for _, thing, _ in requests)
        for name, kind in KINDS.items():
            said = said.replace(name, f"{name} {kind}")
        for fact in facts:
            if fact.predicate in ("in", "on"):
                words = set(re.sub(r"_\d+$", "", fact.arguments[0]).split("_")) | {fact.arguments[0].split("_")[-2]}
                assert any(word in said or word + "s" in said for word in words), (said, fact)


def test_other_sentences_are_refused():
    with pytest.raises(ConfigError, match="there is no paraphrase of 'dance'"):
        paraphrase("dance", 1, np.random.default_rng(0))
    assert all(len(levels) == 3 and all(len(level) > 1 for level in levels) for levels in WORDINGS.values())
