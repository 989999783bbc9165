"""A run that was stopped, killed or ran out of disk goes on and ends as if nothing had happened."""

from __future__ import annotations

import resource
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from agentrl.core.errors import ConfigError
from agentrl.trainers.algorithms import gigpo, grpo, gspo, ppo, reinforce_pp, rloo, sft, steppo
from agentrl.trainers.run.checkpoint import checkpoints
from agentrl.trainers.update.learner import TrainingFault
from tests.longer import only
from tests.trainers import toys
from tests.trainers.run.kill_driver import arguments
from tests.trainers.runs import assert_same_run, lines, timeless, training_state

TRAINERS: dict[str, Any] = {
    "ppo": ppo,
    "steppo": steppo,
    "sft": sft,
    "grpo": grpo,
    "rloo": rloo,
    "reinforce_pp": reinforce_pp,
    "gspo": gspo,
    "gigpo": gigpo,
}


# The others share all but their advantages with these.
EACH = only(("ppo", "sft"), TRAINERS)


@pytest.fixture(scope="module")
def disturbed(nano, warm, tmp_path_factory) -> Callable[[int], tuple[Path, dict[str, Any]]]:
    """The folder of runs that were killed so often, and how it went."""

    @cache
    def run(kills: int) -> tuple[Path, dict[str, Any]]:
        folder = tmp_path_factory.mktemp("killed")
        return folder, warm.run("tests.trainers.run.kill_driver", str(folder), str(nano), kills)

    return run


@pytest.mark.parametrize("kills", [6, pytest.param(20, marks=pytest.mark.long)])
def test_killed_at_random_moments_a_run_ends_with_the_same_bits(disturbed, kills: int) -> None:
    folder, told = disturbed(kills)
    assert len(told["kills"]) == kills and told["kills"].count("writing") >= kills // 4
    assert len(lines(folder / "whole", "train")) == 3 and len(lines(folder / "whole", "eval")) == 3
    for number in range(told["runs"]):
        assert_same_run(folder / "whole", folder / f"killed-{number}", 3)
    print(f"\n{told['runs']} runs killed {kills} times; an undisturbed one takes {told['seconds']:.1f} s")


@pytest.mark.parametrize("algorithm", EACH)
def test_the_same_run_twice_is_bit_equal_and_another_seed_is_not(nano, tmp_path, algorithm) -> None:
    train: Any = TRAINERS[algorithm].train
    make: Any = getattr(toys, algorithm)
    folders = [train(make(nano, tmp_path / str(n), seed=seed)) for n, seed in enumerate((1, 1, 2))]
    assert_same_run(folders[0], folders[1], 2)
    assert timeless(folders[0]) != timeless(folders[2])


@pytest.mark.parametrize("algorithm", EACH)
def test_a_longer_run_in_two_pieces_is_the_run_in_one(nano, tmp_path, algorithm) -> None:
    train: Any = TRAINERS[algorithm].train
    make: Any = getattr(toys, algorithm)
    whole = train(make(nano, tmp_path / "whole", iterations=4, save_trajectories=3))
    pieces = tmp_path / "pieces"
    train(make(nano, pieces, iterations=2, save_trajectories=3))
    train(make(nano, pieces, iterations=4, save_trajectories=3, resume=True))
    assert_same_run(whole, pieces, 4)


def test_further_rounds_of_an_iteration_survive_a_stop(undecided, tmp_path) -> None:
    options = {"dynamic_sampling_rounds": 2, "save_trajectories": 3, "group_size": 2}
    whole = grpo.train(toys.grpo(undecided, tmp_path / "whole", iterations=4, **options))
    pieces = tmp_path / "pieces"
    grpo.train(toys.grpo(undecided, pieces, iterations=2, **options))
    grpo.train(toys.grpo(undecided, pieces, iterations=4, resume=True, **options))
    assert_same_run(whole, pieces, 4)
    assert lines(whole, "train")[-1]["episodes_total"] > 4 * 16  # there was at least one


def test_going_on_from_the_very_first_checkpoint_measures_nothing_twice(nano, tmp_path, monkeypatch) -> None:
    measured = {"eval_every": 1, "eval_episodes": 2, "save_every": 1}
    whole = ppo.train(toys.ppo(nano, tmp_path / "whole", **measured))

    def broken(*args: Any, **kwargs: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(ppo, "update_policy", broken)
        ppo.train(toys.ppo(nano, tmp_path / "cut", **measured))
    ppo.train(toys.ppo(nano, tmp_path / "cut", resume=True, **measured))
    assert [line["iteration"] for line in lines(tmp_path / "cut", "eval")] == [0, 0, 1, 1, 2, 2]
    assert_same_run(whole, tmp_path / "cut", 2)


def test_a_damaged_newest_checkpoint_costs_only_the_iterations_since_the_one_before(nano, tmp_path, caplog) -> None:
    options = {"iterations": 3, "save_every": 1, "save_total_limit": 2, "save_trajectories": 2}
    whole = ppo.train(toys.ppo(nano, tmp_path / "whole", **options))
    other = ppo.train(toys.ppo(nano, tmp_path / "other", **options))
    (other / "checkpoints/step_3/training.pt").write_bytes(b"nonsense")
    ppo.train(toys.ppo(nano, other, resume=True, **options))
    assert "step_3 is damaged" in caplog.text
    assert_same_run(whole, other, 3)


def test_a_run_of_which_no_checkpoint_is_left_begins_again(nano, tmp_path) -> None:
    whole = ppo.train(toys.ppo(nano, tmp_path / "run"))
    before = timeless(whole)
    shutil.rmtree(whole / "checkpoints")
    ppo.train(toys.ppo(nano, whole, resume=True))
    assert timeless(whole) == before


def test_sigterm_ends_with_a_checkpoint_and_the_rest_can_follow(nano, disturbed, tmp_path) -> None:
    root, told = disturbed(6)
    folder = Path(shutil.copytree(root / "stopped", tmp_path / "stopped"))
    done = len(lines(folder, "train"))
    assert told["stopped"] and 1 <= done < 3 and "SIGTERM: stopping" in (root / "stopped.txt").read_text()
    assert checkpoints(folder / "checkpoints")[0].name == f"step_{done}"
    ppo.train(arguments(folder, str(nano), save_every=100))
    assert_same_run(root / "whole", folder, 3)


@pytest.mark.parametrize(
    ("file", "share", "said"),
    [
        ("training.pt", 0.9, "checkpoint"),
        ("policy/model.safetensors", 0.9, "checkpoint"),
        ("training.pt", 0.001, "run folder"),
    ],
)
def test_a_full_disk_is_named_and_older_checkpoints_stay(nano, tmp_path, file: str, share: float, said: str) -> None:
    """A limit on the size of files stands in for a full disk: writing fails half-way in the same manner."""
    options = {"save_every": 1, "save_trajectories": 2, "iterations": 3}
    whole = ppo.train(toys.ppo(nano, tmp_path / "whole", **options))
    folder = ppo.train(toys.ppo(nano, tmp_path / "full", **(options | {"iterations": 1})))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = (folder / "checkpoints/step_1" / file).stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(share * size), limits[1]))
    try:
        with pytest.raises(TrainingFault, match=f"^the .*{said}.* make room and resume"):
            ppo.train(toys.ppo(nano, folder, resume=True, **options))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert sorted(path.name for path in folder.glob("checkpoints/*")) == ["step_0", "step_1"]
    ppo.train(toys.ppo(nano, folder, resume=True, **options))
    assert_same_run(whole, folder, 3)


def test_resume_refuses_another_algorithm_model_or_option_and_names_it(nano, tmp_path) -> None:
    run = ppo.train(toys.ppo(nano, tmp_path / "run"))
    state = training_state(run, 2)
    with pytest.raises(ConfigError, match="run of ppo, not of steppo"):
        steppo.train(toys.steppo(nano, run, resume=True))
    for change in ({"lr": 1e-4}, {"variant": "turn"}, {"model": "tiny-text"}, {"seed": 5}, {"episodes": 8}):
        with pytest.raises(ConfigError, match=next(iter(change))):
            ppo.train(replace(toys.ppo(nano, run, resume=True), **change))
    with pytest.raises(ConfigError, match="holds a run already"):
        ppo.train(toys.ppo(nano, run))
    with pytest.raises(ConfigError, match="resume needs output"):
        ppo.train(toys.ppo(nano, "", resume=True))
    assert training_state(run, 2).keys() == state.keys()


def wrapped(name: str) -> list[dict[str, str]]:
    return [{"wrapper": f"tests.trainers.plain_wrappers:{name}"}]


def test_a_plain_wrapper_without_state_is_saved_and_resumed(undecided, tmp_path) -> None:
    whole = ppo.train(toys.ppo(undecided, tmp_path / "whole", wrap=wrapped("Bonus"), iterations=2))
    part = toys.ppo(undecided, tmp_path / "part", wrap=wrapped("Bonus"), iterations=1)
    ppo.train(part)
    assert_same_run(ppo.train(replace(part, iterations=2, resume=True)), whole, 2)


@pytest.mark.parametrize("hosts", [0, pytest.param(1, marks=pytest.mark.long)])
def test_a_wrapper_that_cannot_be_saved_is_told_at_the_start_and_the_run_is_not_resumed(
    undecided, tmp_path, hosts
) -> None:
    said: list[str] = []
    args = toys.ppo(undecided, tmp_path / "run", wrap=wrapped("Counter"), iterations=1, save_every=1, hosts=hosts)
    folder = ppo.train(args, said.append)
    warned = [number for number, line in enumerate(said) if "cannot be resumed" in line and "Counter" in line]
    assert len(warned) == 1 and warned[0] < next(number for number, line in enumerate(said) if "[1/1]" in line)
    (line,) = [line for line in lines(folder, "warning") if line["warning"] == "not_resumable"]
    assert line["iteration"] == 0 and (folder / "checkpoints" / "step_1" / "policy").is_dir()
    with pytest.raises(ConfigError, match=r"cannot be resumed: .*Counter"):
        ppo.train(replace(args, iterations=2, resume=True))
