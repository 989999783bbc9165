"""Does a policy see what it describes? Judged by what would be true of other pictures, and by one text for all."""

from __future__ import annotations

import json

import pytest

from agentrl.algorithms import arguments_class
from agentrl.core.policy import Generation
from agentrl.core.response import build_response
from agentrl.policies.oracle import OraclePolicy
from agentrl.rollout.collect import Collector, Start
from benchmarks.learning.conditions import run_options
from benchmarks.learning.seeing import compared, finished, seen_by
from benchmarks.learning.table import BOTH, EXPERIMENTS

EXPERIMENT = EXPERIMENTS["reasoning-visual"]
ONE_TEXT = "box0 is above and at the same column as the player. target0 is above and on the left side of the player."


class Blind:
    """Plays like the oracle and writes the same about every picture."""

    def act(self, conversations, envs=None):
        parts = {"observation": ONE_TEXT, "reasoning": "So.", "prediction": ONE_TEXT}
        replies = [build_response(BOTH, {**parts, "answer": env.get_wrapper_attr("oracle")()}) for env in envs]
        return [Generation(text=reply, action=reply) for reply in replies]


def arguments(**options):
    run = EXPERIMENT.cells[-1].runs()[-1]
    given = {**run_options(run.algorithm, run.options), "num_envs": 20, "device": "cpu", **options}
    return arguments_class(run.algorithm).from_json(json.loads(json.dumps(given)))


@pytest.mark.parametrize("policy", [OraclePolicy(), Blind()], ids=["sees", "blind"])
def test_a_description_counts_as_seen_where_it_fits_no_other_picture(policy):
    collector = Collector(arguments().specs(), policy, prompt_style="step", history=0, num_envs=20)
    found = compared(collector.collect([Start(seed) for seed in range(60)]).trajectories)
    collector.close()
    assert found.judged == found.success == 1.0 and found.turns >= 60
    if isinstance(policy, Blind):
        assert found.own == pytest.approx(found.others, abs=0.1) and found.own < 0.5
        assert found.constant == pytest.approx(found.own, abs=0.15)
    else:
        assert found.own == 1.0 and found.others < 0.5 and found.constant < 0.6


def test_an_untrained_model_writes_nothing_that_can_be_judged():
    with pytest.raises(ValueError, match="no turn"):
        seen_by(arguments(model="tiny-vlm", max_new_tokens=4), 2)


def test_only_finished_runs_are_asked(tmp_path):
    assert finished(tmp_path, EXPERIMENT) == {}
    start = EXPERIMENT.cells[0].runs()[0]
    (tmp_path / start.name).mkdir()
    (tmp_path / start.name / "done.json").write_text("{}")
    assert finished(tmp_path, EXPERIMENT) == {"imitation": start}
