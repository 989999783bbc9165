"""What the results file of an experiment does not say: where runs were made, what was chosen after a first try; and
which results the present code would not give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Raise it when trainers change so that kept results would come out otherwise; cells record the one they were run with.
CODE = 2
OLDER = "older code"
CHANGES = (
    "Results of older code were recorded with trainers that have changed since, and methods had no parameters of their "
    "own: StepPO clipped the ratio of a step at 0.2, which hardly ever clips; AWR's beta was 1, which is imitation of "
    "nearly everything. A repetition gives other numbers."
)


def is_older(results: Mapping[str, Any]) -> bool:
    """Was any of its cells run with trainers that have changed since?"""
    return results.get("code", 1) < CODE


FIRST_RUNS = (
    "The runs were made on a server, imitation on its GPU and RL on its processors; those whose machine is `aarch64` "
    "were ended on a machine with two ARM cores.",
    "They drew random numbers in the order of play. Episodes now draw them by their names, so a repetition gives "
    "other numbers.",
    "Learning rates and starts had been chosen by looking at FrozenLake levels of this same split: orderings suffer "
    "little from that, levels of success some.",
)
PAPER_RULE = (
    "The reward for the form of replies follows the paper's plain rule, `format_rule=paper`: every strict reply is "
    "paid."
)
WHOLE_EPISODES = (
    "In demonstrations with a prediction the turns of an episode were all right or all hasty; since then each turn is "
    "drawn by itself."
)
AFTER_THE_ACTION = (
    "Turn PPO is the released form, whose critic is asked before the last token of a turn, when it sees the action."
)
TILE_BY_TILE = (
    "{} read a lake tile by tile; since then a whole row of a lake is one word of the tiny models' vocabulary."
)
SECOND_TRY = (
    "This is a second try. The first (24 x 128 episodes from a hasty start, one seed, not kept) moved no algorithm, "
    "and a higher learning rate made GRPO collapse. Start and budget were then chosen anew, for all four algorithms "
    "at once."
)
OTHER_START = (
    "Its start is another training of the same imitation than those of the other experiments with SmolLM2: compare "
    "gains, not levels."
)
NOT_RELEASED = (
    "The runs with imitation of good actions were recorded as `loss=released`, in a form whose cap never acted: the "
    "log-ratio was divided by the tokens of the whole mini-batch. Its gradient points where that of "
    "`loss=good_actions` does (cosine 0.99993 and more), under which they stand here."
)
ONE_GPU = "The runs shared one H200. The model is the real SmolLM2-135M."
OLDER_SITES = (
    "The sites had other texts and fewer templates with several changes, and the simplified page other labels and "
    "widths; a repetition gives other numbers."
)

NOTES: dict[str, tuple[str, ...]] = {
    "masked-vanilla": (*FIRST_RUNS, TILE_BY_TILE.format("These runs")),
    "bilevel": (*FIRST_RUNS, PAPER_RULE, AFTER_THE_ACTION, WHOLE_EPISODES),
    "steppo": (*FIRST_RUNS, TILE_BY_TILE.format("These runs"), PAPER_RULE),
    "strategies-frozenlake": (*FIRST_RUNS, PAPER_RULE, WHOLE_EPISODES),
    "strategies-sokoban": (*FIRST_RUNS, PAPER_RULE, WHOLE_EPISODES),
    "base-full-frozenlake": (
        *FIRST_RUNS,
        "The RL beyond the first seed was made on the ARM cores. The first seed began with another training of the "
        "same imitation (sampled 0.376, greedy 0.392) than the others (0.45, 0.56): levels at the end compare within "
        "a seed only.",
        PAPER_RULE,
        WHOLE_EPISODES,
    ),
    "base-full-sokoban": (*FIRST_RUNS, PAPER_RULE, WHOLE_EPISODES),
    "farming": (*FIRST_RUNS, TILE_BY_TILE.format("The runs from almost nothing"), PAPER_RULE),
    "vlm": (*FIRST_RUNS, "With pictures, RL ran on the GPU too."),
    "algorithms-frozenlake": ("The imitation was made on a machine with two ARM cores.", AFTER_THE_ACTION),
    "algorithms-sokoban": (
        AFTER_THE_ACTION,
        "[gigpo-deviation](gigpo-deviation.md) asks why GiGPO falls behind here.",
    ),
    "long-tasks-frozenlake": (SECOND_TRY,),
    "long-tasks-sokoban": (
        SECOND_TRY,
        "GiGPO falls behind, with shorter replies: three of four had two moves at the start, and one of four has them "
        "at the end. [gigpo-deviation](gigpo-deviation.md) asks why.",
    ),
    "gigpo-deviation": (
        "GiGPO falls behind on Sokoban, with shorter replies ([two boxes](long-tasks-sokoban.md)). This experiment "
        "asks with one box whether the division by the deviation does it. Its runs without the deviation were made on "
        "a machine with two ARM cores; the others are those of [algorithms-sokoban](algorithms-sokoban.md).",
        "It does. `mean` leaves the deviation out for trajectories and for places, and as GRPO keeps the first and "
        "does well, the second is the suspect. Our reading, which was not measured apart: where all of a group fail "
        "only the price of moves differs, and the division makes that as large as success elsewhere.",
        "On two boxes, from another start (hasty mistakes; one seed, 300 levels), sampled play went from 0.350 to "
        "0.343 with the deviation and to 0.443 without, greedy play from 0.377 to 0.400 and 0.477.",
    ),
    "one-move-estimators": (
        "The runs shared the sixteen cores of one machine, nine at a time, with other work on its GPU.",
        "None of the three teaches greedy play: it falls from 0.910 in all fifteen runs. Sampled play gains 0.065 with "
        "credit by turn, in every seed, and nothing with both levels. So the order is one of harm more than of "
        "learning; 20 x 64 episodes at a learning rate of 1e-3 are probably too coarse for a start this good.",
        "Token PPO loses the form of its replies. In two of five seeds, in which entropy rises from 0.04 to 0.4, 15 % "
        "and 20 % of the turns are valid at the end (96 % after imitation); the other three fall too. A reply has "
        "about 55 tokens, and lambda 0.95 carries 6 % of a reward across that many; its critic explains less than "
        "nothing (-0.26).",
        "Credit by turn has the best critic (0.22 in the last quarter), both levels the second (0.15): the order of "
        "the critics is that of success.",
        "The score of imitation has no terms of the judge, those after RL have them (4 to 5 of 12 points): these two "
        "do not compare.",
    ),
    "smollm2-algorithms": (ONE_GPU, "What the numbers say is read on [a page of its own](../../results/models.md)."),
    "webrl-baselines-hasty-web": (
        "In three of ten demonstrated turns the task is ended without an answer: the model imitates this, and greedy "
        "play, which takes the likeliest action, hardly suffers. So what there is to gain shows in sampled play.",
    ),
    "webrl-baselines-smollm2": (
        ONE_GPU,
        "This is the fifth run of the experiment, and the first with three seeds. Time on the GPU was up before AWR, "
        "which earlier runs have. [The page about WebRL](../../results/webrl.md) has all five.",
    ),
    "webrl-epochs-smollm2": (ONE_GPU,),
    "webrl-variants-smollm2": (ONE_GPU, OTHER_START),
    "webrl-steps-smollm2": (ONE_GPU, OTHER_START),
    "steppo-webshop": (
        ONE_GPU,
        "The mistakes in the demonstrations: take the first result, or buy without the options.",
        "Device time did not suffice for two seeds at both discounts: the second went to 0.99, as decided before any "
        "of these runs had ended.",
        "A model of two million weights that knows the shop's words (`tiny-shop`, since removed) was tried before: "
        "4,000 steps of imitation taught it the 10,587 goals by heart (loss 0.06), and success on unseen ones was "
        "0.03.",
        "What the numbers say is read on [a page of its own](../../results/web.md).",
    ),
}
for _kind, _worlds in {
    "baselines": ("frozenlake", "web", "hasty-web", "smollm2"),
    "variants": ("frozenlake", "web", "hasty-web", "smollm2"),
    "steps": ("frozenlake", "web", "smollm2"),
    "epochs": ("frozenlake", "web", "smollm2"),
}.items():
    for _name in (f"webrl-{_kind}-{world}" for world in _worlds):
        NOTES[_name] = (*NOTES.get(_name, ()), NOT_RELEASED)
for _kind, _worlds in {  # those that were run; what is run from now on is on the present sites
    "ablations": ("web", "hasty-web"),
    "baselines": ("web", "hasty-web", "smollm2"),
    "beta": ("web", "hasty-web"),
    "epochs": ("web", "smollm2"),
    "rates": ("web",),
    "steps": ("web", "smollm2"),
    "variants": ("web", "hasty-web", "smollm2"),
}.items():
    for _name in (f"webrl-{_kind}-{world}" for world in _worlds):
        NOTES[_name] = (*NOTES.get(_name, ()), OLDER_SITES)
