"""Real processes: what is imported, how errors look."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from agentrl.cli.main import VERBS


def start(*words, **options):
    return subprocess.run(
        [sys.executable, "-m", "agentrl.cli", *words], capture_output=True, text=True, timeout=120, **options
    )


def test_help_imports_nothing_beyond_the_package_itself():
    code = (
        "import sys; import agentrl; before = set(sys.modules); "
        "from agentrl.cli.main import main; main(['-h']); "
        "heavy = ('tyro', 'rich', 'PIL', 'msgspec', 'torch'); "
        "print([m for m in set(sys.modules) - before if m.split('.')[0] in heavy])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert all(verb in done.stdout for verb in VERBS)


def test_a_real_evaluation_prints_one_object_and_logs_elsewhere():
    words = ("--policy", "oracle", "--episodes", "20", "--seed", "3", "--json")
    done = start("eval", "agentrl/FrozenLake-Text-v0", *words)
    assert done.returncode == 0
    assert json.loads(done.stdout)["success"] == 1.0
    assert "20/20" in done.stderr


def test_results_do_not_depend_on_the_hash_seed():
    words = ("eval", "agentrl/FrozenLake-Text-v0", "--episodes", "20", "--json")
    results = []
    for hash_seed in ("1", "2"):
        result = json.loads(start(*words, env={**os.environ, "PYTHONHASHSEED": hash_seed}).stdout)
        result.pop("seconds")
        results.append(result)
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (("evla",), 2, 'Did you mean "eval"'),
        (("eval", "agentrl/Sokban-Text-v0"), 2, 'Did you mean "agentrl/Sokoban-Text-v0"'),
    ],
)
def test_mistakes_are_one_line_without_a_traceback(words, status, says):
    done = start(*words)
    assert done.returncode == status
    assert says in done.stderr and len(done.stderr.splitlines()) == 1 and done.stdout == ""


def test_a_reader_that_goes_away_is_no_traceback():
    process = subprocess.Popen(
        [sys.executable, "-m", "agentrl.cli", "info", "agentrl/FrozenLake-Text-v0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.close()
    assert "Traceback" not in process.stderr.read()
    process.stderr.close()
    process.wait(timeout=60)
