"""Answers to generated tasks: what a person would write passes, whatever offers a second value does not."""

from __future__ import annotations

import pytest

from agentrl.envs.webarena.evaluators.answers import DIALECTS, Dialect, unmet
from agentrl.envs.webarena.tasks.schema import Requirements, task_from_json

ROLE = ("What role does Ada Berg have in core/engine?", ["Maintainer"], [])
TOTAL = ("What is the grand total of order 000000123?", ["1234.50 |OR| 1,234.50"], [])
COUNT = ("How many orders placed in May 2023 have the status Complete?", ["12"], [])
STARS = ('How many reviews of "Oak Desk" give exactly 3 out of 5 stars? Answer with the number only.', ["3"], [])
RATING = (
    'What rating out of 10 does the author give in the post "Quiet keys" in the gadgets forum?',
    ["8/10 |OR| 8"],
    [],
)
MISSING = ("What is the status of order 000000907? Answer N/A if there is no such order.", ["N/A"], [])
STATUS = (MISSING[0], ["Complete"], [])
REACHABLE = ("Can I walk from City Museum to Old Library within 20 minutes? Answer Yes or No.", ["Yes"], [])
TOO_FAR = (REACHABLE[0], ["No"], [])
DUE = ('When is the issue "Fix the build" in core/engine due?', ["Jun 3, 2025"], [])
DISTANCE = ("What is the walking distance from City Museum to Old Library? Write it as the map does.", ["850m"], [])
TIME = ("How long does it take to drive from City Museum to Old Library? Answer as h:mm.", ["0:07"], [])
PHONE = ("What is the phone number of Elm Pharmacy?", ["+999 74 756 7899"], [])
NEAREST = ("Which pharmacy is nearest to City Museum, as the crow flies?", ["Elm Pharmacy"], [])
DEARER = ("Which product costs more, SKU B0AAA1 or SKU B0BBB2? Answer with its SKU.", ["B0BBB2"], ["B0AAA1"])
NAMES = ("Who was not happy with the product B0AAA1? Give the nicknames of all who gave it 1 or 2 stars.",
         ["Noel", "Kai84"], ["Noel T."])  # fmt: skip
AUTHOR = ('Whose comment below "Quiet keys" in /f/gadgets has the fewest points?', ["fern_harbor"], [])
CLONE = ("Show me the command to clone core/engine with SSH.", ["ssh://git@code.local:2222/core/engine.git"], [])
HOURS = ("When is Elm Pharmacy open? Answer with the opening hours as they are written on the map.",
         ["Mo-Fr 09:00-18:30; Sa 09:00-14:00"], [])  # fmt: skip
WALK = ("How many minutes does it take to walk from City Museum to Old Library and then drive to Dunmore?", ["36"], [])
DAYS = (
    "According to the wiki's guide to DIY, tell me how many days old an account must be to post.",
    ["7"],
    [],
)
POINT = ("What are the coordinates of Elm Pharmacy in decimal degrees?", ["46.83374", "-35.41432"], [])

RIGHT = [
    (ROLE, "Maintainer", "maintainer", "The role is Maintainer.", "Ada Berg is a Maintainer in core/engine.",
     "**Maintainer**", '"Maintainer"', "Ada Berg has the Maintainer role in the project core/engine.",
     "According to the page, the role of Ada Berg is: Maintainer"),
    (TOTAL, "1234.50", "$1,234.50", "1,234.5 USD", "The grand total of order 000000123 is $1,234.50.",
     "Order 123 comes to 1234.50 dollars altogether."),
    (COUNT, "12", "12 orders", "There were 12 orders in May 2023 with the status Complete.", "The answer is 12."),
    (STARS, "3", "There are 3.", "3 reviews"),
    (RATING, "8", "8/10", "The author gives it 8 out of 10 points."),
    (MISSING, "N/A", "n/a", "N/A.", "N/A, there is no such order.", "N/A - order 000000907 does not exist"),
    (STATUS, "Complete", "The status of order 000000907 is Complete."),
    (REACHABLE, "Yes", "yes.", "Yes, the walk takes 17 minutes.", "Yes, I can walk there within 20 minutes."),
    (TOO_FAR, "No", "No, it takes 25 minutes.", "No, it cannot be reached within 20 minutes."),
    (DUE, "Jun 3, 2025", "June 3, 2025", "2025-06-03", "The issue is due on 3 June 2025."),
    (DISTANCE, "850m", "850 m", "0.85 km", "The walking distance is 850 metres."),
    (TIME, "0:07", "It takes 0:07 by car.", "0:07 hours"),
    (PHONE, "+999 74 756 7899", "+999-74-756-7899", "The phone number is +999 74 756 7899."),
    (NEAREST, "Elm Pharmacy", "The nearest pharmacy to City Museum is Elm Pharmacy.", "It's Elm Pharmacy (120 m)."),
    (DEARER, "B0BBB2", "SKU B0BBB2 costs more.", "The product with the SKU B0BBB2"),
    (NAMES, "Noel, Kai84", "Kai84 and Noel", "Noel and Kai84 were not happy with it."),
    (AUTHOR, "fern_harbor", "fern_harbor's comment has the fewest points: -4"),
    (CLONE, "ssh://git@code.local:2222/core/engine.git", "git clone ssh://git@code.local:2222/core/engine.git"),
    (HOURS, "Mo-Fr 09:00-18:30; Sa 09:00-14:00", "It is open Mo-Fr 09:00-18:30;  Sa 09:00-14:00."),
    (WALK, "36", "36 minutes", "It takes 36 min in total."),
    (DAYS, "7", "7 days", "An account must be at least 7 days old."),
    (POINT, "46.83374, -35.41432", "Latitude 46.83374, longitude -35.41432", "(46.83374; -35.41432)"),
]  # fmt: skip
WRONG = [
    (ROLE, "", "Guest Reporter Developer Maintainer Owner", "Maintainer or Owner", "Not Maintainer", "not a maintainer",
     "Maintainer, N/A", "Developer", "What role does Ada Berg have in core/engine?", "Maintainers' friend",
     "Maintainer " * 60),
    (TOTAL, "123", "1234.51", "$1,234.50 or $1,234.60", "11234.50", "1234.50 1235", "Between 1 and 1234.50",
     TOTAL[0]),
    (COUNT, "11 12 13", "11 or 12", "112", "12.5", "-12", "May 2023", COUNT[0], "1, 2, 12"),
    (STARS, "3 5", "3 out of 5", STARS[0], STARS[0][4:], "2", "1 2 3 4 5"),
    (RATING, "8 9", "18/10", "7/10 8/10", RATING[0]),
    (MISSING, "N/A Complete", "N/A 5", "N/A or 12", "Complete", "Yes No N/A", "n", "", MISSING[0], MISSING[0][5:]),
    (STATUS, "N/A", "Complete N/A", "Complete Pending", "Complete, Closed", "Complete or not", MISSING[0]),
    (REACHABLE, "No", "Yes No", "No, yes", "Yes or No", "", REACHABLE[0], REACHABLE[0][3:], "Yes, no"),
    (TOO_FAR, "Yes", "Yes, No", "No Yes", REACHABLE[0], REACHABLE[0][3:], "17"),
    (DUE, "Jun 3", "Jun 4, 2025", "Jun 3, 2025 or Jun 4, 2025", "2025-06-03 2025-06-04", "June 2025"),
    (DISTANCE, "850", "850 km", "850m 900m", "8500m", "800m to 850m"),
    (TIME, "0:06 0:07", "0:07 or 0:08", "10:07", "0:07 0:07:30", "7"),
    (PHONE, "+999 74 756 7898", "+999 74 756 7899 +999 74 756 7898", "7899"),
    (NEAREST, "Elm Pharmacy, Oak Pharmacy", "Oak Pharmacy", "Elm Pharmacy or Oak", "Elm", "Elm Pharmacy Grand Theatre"),
    (DEARER, "B0AAA1", "B0BBB2 B0AAA1", "B0AAA1 and B0BBB2", DEARER[0], DEARER[0][6:], "B0BBB2, B0CCC3"),
    (NAMES, "Noel", "Noel T., Kai84", "Noel, Kai84, Bianca", "Kai", "Noel, Kai85"),
    (AUTHOR, "fern_harbor, gentle_river", "fern", "fern_harbor_2", "gentle_river", "not_fern_harbor"),
    (CLONE, "git clone core/engine", "ssh://git@code.local:2222/core/engine.git/x"),
    (HOURS, "Mo-Fr 09:00-18:30", "Mo-Fr 09:00-18:30; Sa 09:00-14:00 24/7", "Sa 09:00-14:00; Mo-Fr 09:00-18:30"),
    (WALK, "36 37", "35 minutes, 36 minutes", "1:36", "36.5"),
    (DAYS, "7 or 14 days", "1 2 3 7", "70"),
    (POINT, "46.83374", "46.83374, -35.41433", "46.83374, 35.41432", "46.83374, -35.41432, -35.41433"),
]  # fmt: skip


def lacks(case: tuple[str, list[str], list[str]], text: str, dialect: Dialect) -> list[str]:
    instruction, parts, rivals = case
    wanted = Requirements(must_include=tuple(parts), must_exclude=tuple(rivals), nothing_else=True)
    return list(unmet(wanted, text, dialect, is_answer=True, instruction=instruction))


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("case", "text"), [(case, text) for case, *texts in RIGHT for text in texts])
def test_what_a_person_would_write_passes(case, text, dialect):
    assert lacks(case, text, dialect) == []


@pytest.mark.parametrize(("case", "text"), [(case, text) for case, *texts in WRONG for text in texts])
def test_a_second_value_a_denial_and_the_instruction_do_not(case, text):
    assert lacks(case, text, "lite")


def test_hostile_lengths_end_at_once():
    for text in ("Maintainer " * 90_000, "0" * 1_000_000, "((((" * 250_000, "n/a " * 200_000):
        assert lacks(ROLE, text, "lite") == ["must not be so long"]


def test_a_file_that_asks_for_nothing_else_must_say_for_what():
    task = {"intent": "Which?", "sites": ["map"], "eval": {"eval_types": ["string_match"], "reference_answers": {}}}
    for answers in ({"nothing_else": True}, {"exact_match": "5", "nothing_else": True}):
        task["eval"]["reference_answers"] = answers
        with pytest.raises(ValueError, match=r"reference_answers"):
            task_from_json(task)
    task["eval"]["reference_answers"] = {"must_include": ["5"], "nothing_else": True}
    read = task_from_json(task).eval
    assert read is not None and read.reference_answers == Requirements(must_include=("5",), nothing_else=True)
