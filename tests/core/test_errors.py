"""Faults and errors cross processes and records without losing what they say."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

from agentrl.core import errors
from agentrl.core.errors import (
    AgentRLError,
    ConfigError,
    EngineFault,
    EnvFault,
    Fault,
    JudgeFault,
    MissingExtra,
    MissingLibrary,
    SessionFault,
    SnapshotError,
    SnapshotUnsupported,
    UnsupportedRepresentation,
    WorkerFault,
    did_you_mean,
)

SAMPLES = [
    ConfigError("bad size"),
    MissingExtra("pygame", "human"),
    MissingLibrary("verl", "verl==0.9.1"),
    UnsupportedRepresentation("no picture"),
    SnapshotError("damaged"),
    SnapshotUnsupported("no way"),
    EnvFault("hung"),
    JudgeFault("silent"),
    EngineFault("out of tokens"),
    SessionFault("too many", "limit"),
    WorkerFault("gone", "died"),
]


def test_every_error_of_the_vocabulary_is_in_the_samples():
    concrete = {
        value
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, AgentRLError) and value not in (AgentRLError, Fault)
    }
    assert concrete == {type(sample) for sample in SAMPLES}


@pytest.mark.parametrize("error", SAMPLES, ids=lambda error: type(error).__name__)
def test_errors_survive_pickling_and_copying(error):
    for twin in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
        assert type(twin) is type(error) and str(twin) == str(error) and vars(twin) == vars(error)
        assert isinstance(twin, AgentRLError)


@pytest.mark.parametrize("error", [s for s in SAMPLES if isinstance(s, Fault)], ids=lambda error: type(error).__name__)
def test_a_fault_becomes_a_json_record(error):
    record = json.loads(json.dumps(error.to_json()))
    assert record["kind"] == type(error).__name__ and record["detail"] == str(error)


def test_a_worker_fault_records_its_reason():
    assert WorkerFault("late", "deadline").to_json() == {"kind": "WorkerFault", "detail": "late", "reason": "deadline"}


def test_users_may_catch_the_errors_they_know():
    assert issubclass(ConfigError, ValueError) and issubclass(SnapshotError, ValueError)
    assert issubclass(MissingExtra, ImportError)
    assert not any(isinstance(sample, Fault) for sample in SAMPLES[:5])


def test_a_missing_extra_says_how_to_get_it():
    error = MissingExtra("pygame", "human")
    assert str(error) == "pygame is not installed; run: pip install 'agentrl-suite[human]'"
    assert (error.package, error.extra) == ("pygame", "human")


@pytest.mark.parametrize(
    ("word", "known", "expected"),
    [
        ("slipery", ["slippery", "size"], ' Did you mean "slippery"?'),
        ("SIZE", ["slippery", "Size"], ' Did you mean "Size"?'),
        ("xyzzy", ["slippery", "size"], ""),
        ("anything", [], ""),
        ("", ["size"], ""),
    ],
)
def test_the_nearest_known_word_is_suggested_and_nothing_far(word, known, expected):
    assert did_you_mean(word, iter(known)) == expected
