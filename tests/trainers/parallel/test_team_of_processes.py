"""Two processes train as one does: same episodes, same losses, same weights; and they stop, fail and go on together."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import torch

from agentrl.algorithms import arguments_class, train_function
from agentrl.rollout.trajectory_file import TrajectoryReader
from agentrl.trainers.run.checkpoint import checkpoints
from tests.trainers.arms import ARMS
from tests.trainers.runs import lines, training_state
from tests.trainers.toys import QUICK
from tests.trainers.warm import WarmProcess

DRIVER = "tests.trainers.parallel.team_driver"
CLOSE = 1e-4

COMMON: dict[str, Any] = QUICK | {
    "env": [ARMS],
    "env_kwargs": {"turns": 3, "form": 0.1, "form_for": ["Left"]},
    "num_envs": 4,
    "iterations": 2,
    "token_budget": 300,
    "save_trajectories": -1,
}
RL: dict[str, Any] = COMMON | {"episodes": 7, "minibatches": 2, "lr": 3e-3, "kl_coef": 0.01, "epochs": 1}
CRITIC: dict[str, Any] = RL | {"critic_lr": 1e-2}

OFF_POLICY: dict[str, Any] = COMMON | {
    "tasks_per_phase": 5,
    "batch_size": 7,
    "lr": 3e-3,
    "critic_lr": 1e-2,
    "beta": 0.1,
}

# Pictures in some rows only: now one process has some to read, now the other, now none.
LAKES = ["agentrl/FrozenLake-Text-v0", {"id": "agentrl/FrozenLake-Visual-v0", "kwargs": {"image_size": 64}}]
PICTURES: dict[str, Any] = (
    QUICK
    | {"env": LAKES, "env_kwargs": {"max_turns": 2}, "model": "tiny-vlm"}
    | {
        **{"demonstrations": 5, "steps_per_iteration": 3, "batch_size": 2, "iterations": 2, "lr": 1e-3},
    }
)

# Between them: every kind of critic, all of the weights or adapters, both optimisers, both prompt styles, one pass over
# the data or two, a mini-batch with fewer rows than processes, groups, bootstrapping, checkpointed gradients.
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "masked": ("ppo", CRITIC | {"minibatches": 7, "eval_every": 2, "eval_episodes": 5, "critic_truth": True}),
    "bilevel": (
        "ppo",
        CRITIC | {"variant": "bilevel", "critic": "shared", "bootstrap_truncated": True, "critic_truth": True},
    ),
    "adapters": ("ppo", CRITIC | {"variant": "turn", "critic": "head", "lora_rank": 2, "critic_warmup": 1}),
    "steps": ("steppo", CRITIC | {"optimiser": "muon", "weight_decay": 0.01, "epochs": 2}),
    "checkpointing": ("steppo", CRITIC | {"gradient_checkpointing": True, "kl_in": "loss", "kl_estimator": "k3"}),
    "groups": ("grpo", RL | {"episodes": 6, "group_size": 2, "entropy_coef": 0.01}),
    "imitation": (
        "sft",
        COMMON | {"demonstrations": 9, "mistake_rate": 0.5, "steps_per_iteration": 2, "batch_size": 5},
    ),
    "pictures": ("sft", PICTURES),
    **{name: (name, RL | {"iterations": 1, "episodes": 6, "group_size": 2}) for name in ("rloo", "gspo", "gigpo")},
    "reinforce_pp": ("reinforce_pp", RL | {"iterations": 1}),
    "phases": ("webrl", OFF_POLICY),
}
QUICK_CASES = ("masked", "phases")  # the others in `make test-all`
MORE = tuple(name for name in CASES if name not in QUICK_CASES)
LONG: dict[str, Any] = CRITIC | {"iterations": 3, "save_every": 1, "warmup": 4, "critic": "shared"}
ENDLESS: dict[str, Any] = LONG | {"iterations": 500, "save_every": 1000}


def arguments(case: dict[str, Any], model: Path, output: Path, **more: Any) -> dict[str, Any]:
    return {"model": str(model)} | case | {"output": str(output)} | more


def trained_alone(algorithm: str, given: dict[str, Any]) -> Path:
    return train_function(algorithm)(arguments_class(algorithm).from_json(given), report=lambda text: None)


def cases(model: Path, root: Path, names: Iterable[str]) -> dict[str, Any]:
    runs = [[CASES[name][0], arguments(CASES[name][1], model, root / "two" / name)] for name in names]
    return {"name": "cases", "size": 2, "runs": runs}


def jobs(model: Path, root: Path) -> list[dict[str, Any]]:
    two = root / "two"

    def ppo(name: str, case: dict[str, Any], **more: Any) -> list[Any]:
        return ["ppo", arguments(case, model, two / name, **more)]

    return [
        {"name": "talk", "size": 2},
        cases(model, root, [name for name in CASES if name not in MORE]),
        {"name": "one", "size": 0, "runs": [ppo("pieces", LONG, iterations=1)]},
        {"name": "then two", "size": 2, "runs": [ppo("pieces", LONG, iterations=2, resume=True)]},
        {"name": "then one", "size": 0, "runs": [ppo("pieces", LONG, iterations=3, resume=True)]},
        {"name": "taken", "size": 2, "runs": [ppo("pieces", LONG)]},
        {"name": "stopped", "size": 2, "runs": [ppo("stopped", ENDLESS)], "trouble": "SIGTERM"},
        {"name": "killed", "size": 2, "runs": [ppo("killed", ENDLESS)], "trouble": "SIGKILL"},
        {"name": "hung", "size": 2, "runs": [ppo("hung", ENDLESS, ddp_timeout=3.0)], "trouble": "SIGSTOP"},
    ]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("team")


@pytest.fixture(scope="module")
def outcomes(undecided: Path, root: Path, warm: WarmProcess) -> dict[str, Any]:
    """Everything that takes several processes, done once."""
    return warm.run(DRIVER, jobs(undecided, root))


@pytest.fixture(scope="module")
def more_outcomes(undecided: Path, root: Path, warm: WarmProcess) -> dict[str, Any]:
    """The cases that only `make test-all` compares."""
    three = ["ppo", arguments(CRITIC, undecided, root / "two" / "three", episodes=2, iterations=1)]
    return warm.run(DRIVER, [cases(undecided, root, MORE), {"name": "three", "size": 3, "runs": [three]}])


def assert_close(one: Any, two: Any, name: str = "") -> None:
    """Numbers within 1e-4 (of themselves, where they are large), all else equal."""
    if isinstance(one, dict):
        assert one.keys() == two.keys(), name
        for key in one:
            assert_close(one[key], two[key], f"{name}/{key}")
    elif isinstance(one, float):
        assert two == pytest.approx(one, abs=CLOSE, rel=CLOSE), name
    else:
        assert one == two, name


def figures(folder: Path) -> list[dict[str, Any]]:
    """The metrics, less what the clock said and how rows were laid side by side."""
    found = lines(folder)
    for line in found:
        for name in ("seconds", "seconds_total"):
            line.pop(name, None)
        line.get("tokens", {}).pop("padding", None)
    return found


def assert_same_training(one: Path, two: Path, number: int) -> None:
    assert len(figures(one)) == len(figures(two))
    for first, second in zip(figures(one), figures(two), strict=True):
        assert_close(first, second)
    first, second = training_state(one, number), training_state(two, number)
    assert first.keys() == second.keys()
    for name, value in first.items():
        if isinstance(value, torch.Tensor):
            torch.testing.assert_close(second[name], value, atol=1e-3, rtol=1e-3)
        else:
            assert second[name] == value, name


def assert_same_episodes(one: Path, two: Path) -> None:
    """To the last token; log-probabilities as close as arithmetic in another order is."""
    names = sorted(path.name for path in (one / "trajectories").iterdir())
    assert names == sorted(path.name for path in (two / "trajectories").iterdir()) and names
    for name in names:
        pairs = zip(*(TrajectoryReader(folder / "trajectories" / name) for folder in (one, two)), strict=True)
        for first, second in pairs:
            for a, b in zip(first.steps, second.steps, strict=True):
                assert b.logprobs == pytest.approx(a.logprobs, abs=CLOSE)
                b.logprobs = a.logprobs
            assert first == second


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.long] * (name in MORE)) for name in CASES])
def test_two_processes_play_the_same_episodes_and_learn_the_same_from_them(name, request, undecided, root) -> None:
    outcome = request.getfixturevalue("more_outcomes" if name in MORE else "outcomes")["cases"]
    assert outcome["codes"] == [0, 0], outcome["said"]
    algorithm, case = CASES[name]
    alone = trained_alone(algorithm, arguments(case, undecided, root / "one" / name))
    together = root / "two" / name
    number = case["iterations"]
    assert_same_training(alone, together, number)
    if algorithm != "sft":
        assert_same_episodes(alone, together)
        spread = [line["reward_ci"] for line in lines(alone, "train")]
        assert all(low < high for low, high in spread)  # there was something to learn
    for file in ("config.json", "policy/config.json", "policy/model.safetensors"):
        folder = "" if file == "config.json" else f"checkpoints/step_{number}/"
        assert (together / f"{folder}{file}").is_file()


def test_the_policy_that_two_processes_export_is_the_one_they_trained(outcomes, root) -> None:
    from agentrl.models.loading import load_model

    model = load_model(root / "two/masked/checkpoints/step_2/policy", "cpu", "float32").model
    trained = training_state(root / "two/masked", 2)
    for name, parameter in model.named_parameters():
        assert torch.equal(parameter, trained[f"/policy/{name}"]), name
    assert type(model).__name__ == "Qwen3ForCausalLM"


@pytest.mark.long
def test_a_process_without_an_episode_or_a_row_keeps_the_others_company(more_outcomes, undecided, root) -> None:
    assert more_outcomes["three"]["codes"] == [0, 0, 0], more_outcomes["three"]["said"]
    given = arguments(CRITIC, undecided, root / "one" / "three", episodes=2, iterations=1)
    assert_same_training(trained_alone("ppo", given), root / "two" / "three", 1)


def test_a_run_goes_on_with_another_number_of_processes(outcomes, undecided, root) -> None:
    for name in ("one", "then two", "then one"):
        assert set(outcomes[name]["codes"]) == {0}, outcomes[name]["said"]
    whole = trained_alone("ppo", arguments(LONG, undecided, root / "one" / "whole"))
    assert_same_training(whole, root / "two" / "pieces", 3)
    assert_same_episodes(whole, root / "two" / "pieces")


def test_an_error_of_the_process_that_writes_is_everybodys_error(outcomes) -> None:
    assert outcomes["taken"]["codes"] == [1, 1]
    assert all("ConfigError" in said and "holds a run already" in said for said in outcomes["taken"]["said"])


def test_a_signal_to_one_process_stops_all_with_a_checkpoint_that_one_process_can_go_on_with(
    outcomes, undecided, root
) -> None:
    assert outcomes["stopped"]["codes"] == [0, 0], outcomes["stopped"]["said"]
    folder = root / "two" / "stopped"
    count = len(lines(folder, "train"))
    assert 1 <= count < 500
    assert checkpoints(folder / "checkpoints")[0].name == f"step_{count}"
    whole = trained_alone("ppo", arguments(ENDLESS, undecided, root / "one" / "stopped", iterations=count + 1))
    trained_alone("ppo", arguments(ENDLESS, undecided, folder, iterations=count + 1, resume=True))
    losses = [[line["loss"]["critic"] for line in lines(one, "train")] for one in (whole, folder)]
    assert losses[1] == pytest.approx(losses[0], abs=CLOSE, rel=0.01)


@pytest.mark.parametrize(("name", "seconds"), [("killed", 20.0), ("hung", 40.0)])
def test_a_process_that_dies_or_hangs_ends_the_others_with_a_word(name, seconds, outcomes) -> None:
    outcome = outcomes[name]
    assert outcome["codes"] == [1, -9]
    assert "ProcessFault: another process of this run has ended or does not answer" in outcome["said"][0]
    assert outcome["after"] < seconds


def test_what_processes_tell_each_other(outcomes) -> None:
    assert outcomes["talk"]["codes"] == [0, 0], outcomes["talk"]["said"]
    first, second = (json.loads(said) for said in outcomes["talk"]["said"])
    assert first == second
    assert first["size"] == 2 and first["same"] and first["lengths"] == [0, 3] and first["nothing"] == [0, 0]
    assert first["values"] == [{"rank": rank, "odd": "\ud800", "big": 1 << 70} for rank in range(2)]
    assert first["lead"] == ["only", 0]
    assert first["config"] == "ConfigError: bad" and first["fault"] == "JudgeFault: late"
