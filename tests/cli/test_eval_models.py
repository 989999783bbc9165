"""`agentrl eval` of language models: their options, batches and prompt styles."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentrl.rollout.trajectory_file import read_trajectories

LAKE = "agentrl/FrozenLake-Text-v0"


def test_options_of_a_model_reach_it(agentrl_cli, tmp_path: Path) -> None:
    model = ("--policy", "hf:tiny-text", "--max-new-tokens", "4", "--temperature", "0.5", "--greedy", "--device", "cpu")
    play = (
        "--episodes",
        "3",
        "--prompt-style",
        "step",
        "--history",
        "1",
        "--num-envs",
        "2",
        "--output",
        str(tmp_path / "run"),
    )
    result = agentrl_cli("eval", LAKE, *model, *play, "--json").json
    assert (result["policy"], result["episodes"], result["faults"]) == ("hf:tiny-text", 3, 0)
    for trajectory in read_trajectories(tmp_path / "run" / "trajectories" / "FrozenLake-Text-v0_hf-tiny-text.jsonl"):
        assert len(trajectory.steps) == 3
        for step in trajectory.steps:
            chosen = {name: step.sampling[name] for name in ("temperature", "greedy", "max_new_tokens")}
            assert chosen == {"temperature": 0.5, "greedy": True, "max_new_tokens": 4}
        # A prompt of one step does not grow with the episode; a conversation would.
        assert len(trajectory.steps[2].prompt_ids) < len(trajectory.steps[0].prompt_ids) + 80


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--greedy",), "--greedy: the policy must be a model"),
        (("--policy", "oracle", "--max-new-tokens", "4"), "--max-new-tokens"),
        (("--policy", "hf:tiny-text", "--temperature", "0"), "temperature must be above 0"),
        (("--policy", "hf", "--greedy"), "needs its model"),
        (("--policy", "fh:tiny-text", "--greedy"), "unknown policy 'fh'"),
        (("--policy", "hf:tiny-text", "--device", "tpu-of-tomorrow"), "device"),
        (("--prompt-style", "steps"), 'Did you mean "step"'),
        (("--num-envs", "0"), "num_envs must be"),
        (("--timeout", "-1"), "timeout must be"),
        (("--prompt-style", "step", "--history", "-2"), "history must be"),
    ],
)
def test_options_that_cannot_work_are_refused(agentrl_cli, words: tuple[str, ...], says: str) -> None:
    done = agentrl_cli("eval", LAKE, "--episodes", "1", *words, "--json")
    assert done.status == 2 and says in done.err
