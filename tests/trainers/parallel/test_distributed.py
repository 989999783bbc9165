"""How rows and episodes are shared out among processes, without any: everybody knows everybody's share."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from agentrl.core.errors import ConfigError
from agentrl.rollout.collect import Collection, Start, grouped
from agentrl.rollout.trajectory import Step, Trajectory, picture_hash
from agentrl.trainers.parallel import ranks as distributed
from agentrl.trainers.parallel.ranks import MEETING, ProcessFault, ProcessGroup, is_lost, join, local_device
from agentrl.trainers.parallel.rollout import own_starts, packed, unpacked
from agentrl.trainers.parallel.rows import Assignment, assign_rows, shares
from agentrl.trainers.update.batch import micro_batches, padding_share
from agentrl.trainers.update.learner import sum_metrics
from agentrl.trainers.update.policy import MOMENTS, with_explained_variance

LENGTHS = [5, 9, 2, 7, 7, 30, 1]


def dealt(processes: ProcessGroup, lengths: list[int] = LENGTHS) -> Assignment:
    return assign_rows(processes, lengths, lambda own: micro_batches(own, 16), padding_share)


@pytest.mark.parametrize("size", [1, 2, 3, 9])
def test_every_row_is_read_by_one_process_and_all_read_equally_often(size) -> None:
    deals = [dealt(ProcessGroup(rank, size)) for rank in range(size)]
    read = sorted(row for one in deals for turn in one.turns if turn.counts for row in turn.rows)
    assert read == list(range(len(LENGTHS)))
    assert len({len(one.turns) for one in deals}) == 1
    assert all(turn.rows == [6] for one in deals for turn in one.turns if not turn.counts)  # the shortest, for company
    assert len({one.padding for one in deals}) == 1
    for rank, one in enumerate(deals):
        assert sorted(row for turn in one.turns if turn.counts for row in turn.rows) == one.owners[rank]


def test_alone_everything_is_as_without_processes() -> None:
    assert [turn.rows for turn in dealt(ProcessGroup()).turns] == micro_batches(LENGTHS, 16)
    assert all(turn.counts for turn in dealt(ProcessGroup()).turns)
    assert dealt(ProcessGroup(1, 2), []).turns == []


def test_shares_are_alike_in_number_and_length() -> None:
    lengths = [int(n) for n in np.random.default_rng(0).integers(1, 500, 101)]
    parts = shares(lengths, 4)
    assert sorted(map(len, parts)) == [25, 25, 25, 26]
    totals = [sum(lengths[index] for index in part) for part in parts]
    assert max(totals) - min(totals) < 2 * max(lengths)  # of 6,400 on the average


def test_groups_stay_whole_and_every_start_is_played_once() -> None:
    starts = grouped([Start(seed, id=f"1-{seed}") for seed in range(5)], 3)
    parts = [own_starts(starts, rank, 2) for rank in range(2)]
    assert sorted(parts[0] + parts[1]) == list(range(15)) and [len(part) for part in parts] == [9, 6]
    names = [{starts[index].group_id for index in part} for part in parts]
    assert not names[0] & names[1]
    assert own_starts([Start(1), Start(1)], 1, 3) == [1] and own_starts([Start(1), Start(1)], 2, 3) == []


def test_records_and_pictures_survive_the_way_to_another_process() -> None:
    picture = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    name = picture_hash(picture)
    steps = [Step(images=[name], response_ids=[1, 2], prompt_ids=[3], logprobs=[-0.1, -1e-9], info={"big": 1 << 70})]
    record = Trajectory(id="a", steps=steps, final_images=[name], reward=0.1, final_observation="\ud800")
    record.pictures = {name: picture}
    blind = Trajectory(id="b", reward=None, fault={"kind": "EnvFault", "detail": "gone"})
    facts, found = unpacked(packed([4, 1], Collection([record, blind], {"generate": 0.5}, 1, 2)))
    assert facts == {"seconds": {"generate": 0.5}, "faults": 1, "retries": 2}
    assert [place for place, _ in found] == [4, 1] and [one for _, one in found] == [record, blind]
    assert np.array_equal(found[0][1].pictures[name], picture) and found[1][1].pictures == {}


def test_metrics_of_parts_are_those_of_the_whole() -> None:
    found = sum_metrics([{"kl": 1.0, "ratio_max": 1.0}, {"kl": 6.0, "ratio_max": 3.0, "rare": 3.0}])
    assert found == {"kl": 7.0, "ratio_max": 3.0, "rare": 3.0}
    returns, values = np.array([1.0, 2.0, 4.0]), np.array([1.0, 1.0, 5.0])
    missed = returns - values
    means = (returns.mean(), (returns**2).mean(), missed.mean(), (missed**2).mean())
    explained = with_explained_variance(dict(zip(MOMENTS, means, strict=True)))
    assert explained == {"explained_variance": pytest.approx(1 - missed.var() / returns.var())}
    flat = with_explained_variance(dict(zip(MOMENTS, (0.1, 0.1**2, 0.0, 0.3), strict=True)))
    assert flat == {"explained_variance": 0.0}


# ---------------------------------------------------------------------- joining


def test_without_others_a_process_is_alone_and_its_own_first(monkeypatch) -> None:
    for name in ("RANK", "WORLD_SIZE", MEETING):
        monkeypatch.delenv(name, raising=False)
    group = join()
    assert (group.rank, group.size, group.is_main, group.distributed) == (0, 1, True, False)
    assert group.gather(1) == [1] and group.gather_bytes(b"x") == [b"x"] and group.on_main(lambda: 3) == 3
    monkeypatch.setenv("WORLD_SIZE", "4")  # some cluster's habit, which alone means nothing
    assert not join().distributed


@pytest.mark.parametrize(("rank", "said"), [("2", "RANK must be below WORLD_SIZE"), ("x", "RANK must be a whole")])
def test_a_place_that_cannot_be_is_named(rank, said, monkeypatch, tmp_path) -> None:
    for name, value in (("RANK", rank), ("WORLD_SIZE", "2"), (MEETING, str(tmp_path / "meeting"))):
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError, match=said):
        join("cpu")
    assert distributed._joined is None


def test_others_that_never_come_are_a_fault(monkeypatch, tmp_path) -> None:
    for name, value in (("RANK", "1"), ("WORLD_SIZE", "2"), (MEETING, str(tmp_path / "meeting"))):
        monkeypatch.setenv(name, value)
    with pytest.raises(ProcessFault, match="does not answer"):
        join("cpu", timeout=0.5)
    distributed.leave()


def test_a_gpu_for_each_process_or_none(monkeypatch) -> None:
    assert local_device("cpu", 3) == "cpu"
    monkeypatch.setattr(distributed, "chosen_device", lambda device: device)
    with pytest.raises(ConfigError, match="each takes a GPU of its own"):
        local_device("cuda:1", 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(ConfigError, match="3 processes need as many GPUs; here are 2"):
        local_device("cuda", 2)


def test_only_errors_about_others_are_called_so() -> None:
    assert is_lost(RuntimeError("[gloo/transport/tcp/pair.cc:553] Connection closed by peer"))
    assert not is_lost(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
    with pytest.raises(RuntimeError, match="shapes"), ProcessGroup(distributed=True).guard():
        raise RuntimeError("shapes cannot be multiplied")
    with pytest.raises(ConfigError, match="timed out"), ProcessGroup(distributed=True).guard():
        raise ConfigError("timed out is a word in this message")
