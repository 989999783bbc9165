"""Run folders that are damaged, or that a stranger wrote: refused or an older checkpoint, and nothing is imported."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from agentrl.cli.main import main
from agentrl.cli.training_plan import PLAN
from agentrl.core.manifest import is_own, sealed, signed, write_manifest
from agentrl.trainers.algorithms import ppo
from tests.trainers import toys
from tests.trainers.arms import ARMS

CANARY = "agentrl_canary_run"
LAKE, LIBERO = "agentrl/FrozenLake-Text-v0", "agentrl/LIBERO-Spatial-v0"
LLM = {"kind": "llm", "model": "m", "base_url": "http://127.0.0.1:9"}


@pytest.fixture(scope="module")
def finished(nano: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two iterations with both checkpoints."""
    folder = tmp_path_factory.mktemp("finished") / "run"
    return ppo.train(toys.ppo(nano, folder, iterations=2, save_every=1, save_total_limit=2, eval_every=0))


@pytest.fixture
def canary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A module that could be imported; it must not be."""
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / f"{CANARY}.py").write_text("class Thing:\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path / "path")
    yield
    sys.modules.pop(CANARY, None)


def rewrite(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change a JSON object in a file."""
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def reseal(folder: Path) -> None:
    """As a stranger would who wants it to look whole: every checkpoint gets the options and fitting hashes."""
    for path in (folder / "checkpoints").glob("step_*"):
        shutil.copyfile(folder / "config.json", path / "config.json")
        write_manifest(path, int(path.name[5:]))


def newest(folder: Path) -> Path:
    return folder / "checkpoints" / "step_2"


def with_state(**changes: Any) -> Callable[[Path], None]:
    """Another state in the newest checkpoint, under fitting hashes."""

    def forge(folder: Path) -> None:
        rewrite(newest(folder) / "state.json", lambda content: content.update(changes))
        write_manifest(newest(folder), 2)

    return forge


def with_training(content: Any) -> Callable[[Path], None]:
    """Other weights, critic and optimiser, under fitting hashes."""

    def forge(folder: Path) -> None:
        for path in (folder / "checkpoints").glob("step_*"):
            made = content(torch.load(path / "training.pt")) if callable(content) else content
            if isinstance(made, bytes):
                (path / "training.pt").write_bytes(made)
            else:
                torch.save(made, path / "training.pt")
        reseal(folder)

    return forge


class Thing:
    """Something that only the module of a stranger knows."""


Thing.__module__ = CANARY


def unknown_types(content: dict[str, Any]) -> dict[str, Any]:
    """A training.pt that names a class of the canary."""
    sys.modules[CANARY] = type(sys)(CANARY)
    sys.modules[CANARY].Thing = Thing  # type: ignore[attr-defined]
    try:
        import io

        buffer = io.BytesIO()
        torch.save({**content, "critic": {"x": Thing()}}, buffer)
    finally:
        del sys.modules[CANARY]
    return buffer.getvalue()  # type: ignore[return-value]


DAMAGED: dict[str, Callable[[Path], Any]] = {
    "options of another run": lambda folder: rewrite(
        folder / "config.json", lambda content: content["arguments"].update(env=[f"{CANARY}:x/X-v0"])
    ),
    "wrappers": lambda folder: rewrite(
        folder / "config.json", lambda content: content["arguments"].update(wrap=[{"wrapper": f"{CANARY}:Thing"}])
    ),
    "no options": lambda folder: (folder / "config.json").unlink(),
    "options cut short": lambda folder: (folder / "config.json").write_text("{"),
    "unknown types": with_training(unknown_types),
    "no tensors at all": with_training(b"PK\x03\x04 nothing"),
    "a list": with_training([1, 2]),
    "no critic": with_training(lambda content: {"policy": content["policy"]}),
    "texts as weights": with_training(lambda content: {**content, "policy": dict.fromkeys(content["policy"], "x")}),
    "another optimiser": with_training(lambda content: {**content, "optimiser": {"state": 1, "param_groups": []}}),
    "no manifest": lambda folder: [path.unlink() for path in (folder / "checkpoints").glob("*/manifest.json")],
}
OLDER: dict[str, Callable[[Path], Any]] = {
    "a state of other types": with_state(collector=[], memory=3),
    "a state cut short": lambda folder: (newest(folder) / "state.json").write_text("{"),
    "other weights": lambda folder: (newest(folder) / "policy/model.safetensors").write_bytes(b"x"),
    "a manifest of elsewhere": lambda folder: rewrite(
        newest(folder) / "manifest.json", lambda content: content["files"].update({"../../../x": "0"})
    ),
}
FORGED: dict[str, dict[str, Any]] = {
    "module": {"env": [f"{CANARY}:x/X-v0"]},
    "module in an object": {"env": [{"id": f"{CANARY}:x/X-v0", "kwargs": {}}]},
    "wrapper": {"env": [LAKE], "env_kwargs": {}, "wrap": [{"wrapper": f"{CANARY}:Thing"}]},
    "wrapper of an environment": {"env": [{"id": LAKE, "wrappers": [{"wrapper": f"{CANARY}:Thing"}]}]},
    "wrapper that writes": {"env": [LAKE], "env_kwargs": {}, "wrap": [{"wrapper": "RecordEpisode", "folder": "/tmp"}]},
    "judge": {"env": [LAKE], "env_kwargs": {}, "strategy": "grounding", "judge": LLM},
    "judge of a wrapper": {"env": [LAKE], "env_kwargs": {}, "wrap": [{"wrapper": "ReasoningReward", "judge": LLM}]},
    "program": {"env": [LIBERO], "env_kwargs": {"assets": "official", "python": "/bin/false"}},
    "program of evaluations": {"env": [LIBERO], "env_kwargs": {}, "eval_env_kwargs": {"python": "/bin/false"}},
    "engine": {"env": [LAKE], "env_kwargs": {}, "engine": "vllm", "engine_options": {"python": "/bin/false"}},
    "trackers": {"env": [LAKE], "env_kwargs": {}, "trackers": ["wandb"]},
}


def forge(folder: Path, **changes: Any) -> None:
    """Other options, in the run and in its checkpoints."""
    rewrite(folder / "config.json", lambda content: content["arguments"].update(changes))
    reseal(folder)


def test_damaged_and_forged_folders_import_nothing(
    canary, finished, tmp_path, monkeypatch, capsys, record_property
) -> None:
    refused = older = 0
    for number, (name, change) in enumerate(DAMAGED.items()):
        change(folder := shutil.copytree(finished, tmp_path / f"damaged-{number}"))
        assert main(["train", "--resume", str(folder)]) in (1, 2), name
        said = capsys.readouterr().err
        assert "Traceback" not in said and said.count("agentrl: ") == 1, (name, said)
        refused += 1
    for number, (name, change) in enumerate(OLDER.items()):
        change(folder := shutil.copytree(finished, tmp_path / f"older-{number}"))
        assert main(["train", "--resume", str(folder)]) == 0, name
        assert "resuming after iteration 1" in capsys.readouterr().err, name
        older += 1
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path / "cache"))  # another user's key
    for number, (name, changes) in enumerate(FORGED.items()):
        forge(folder := shutil.copytree(finished, tmp_path / f"forged-{number}"), **changes)
        assert main(["train", "--resume", str(folder)]) in (1, 2), name
        assert "was not begun by you" in capsys.readouterr().err, name
        refused += 1
    record_property(
        "figures",
        f"threat 18: {refused + older} damaged or forged run folders, {refused} refused, {older} resumed from an older "
        f"checkpoint, {int(CANARY in sys.modules)} imports",
    )
    assert CANARY not in sys.modules and refused + older >= 20


def test_a_plan_of_a_stranger_imports_nothing(canary, tmp_path, monkeypatch, capsys) -> None:
    stage = {"name": "a", "algorithm": "sft", "finished": False, "arguments": {"env": [f"{CANARY}:x/X-v0"]}}
    content = {"schema": 2, "recipe": "", "stages": [stage]}
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / PLAN).write_text(json.dumps(sealed(content)))
    assert main(["train", "--resume", str(tmp_path / "run")]) == 2
    assert "was not begun by you" in capsys.readouterr().err and CANARY not in sys.modules
    (tmp_path / "run" / PLAN).write_text(json.dumps(content))
    assert main(["train", "--resume", str(tmp_path / "run")]) == 2 and CANARY not in sys.modules
    assert "damaged" in capsys.readouterr().err


def test_what_a_user_types_himself_may_be_anything(finished, tmp_path, monkeypatch, capsys) -> None:
    """A run that came from elsewhere goes on once its user has said what it may not say itself."""
    folder = shutil.copytree(finished, tmp_path / "run")
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path / "cache"))
    words = ["train", "--resume", str(folder)]
    assert main(words) == 2
    assert "give --env yourself" in capsys.readouterr().err
    assert main([*words, "--env", ARMS]) == 0


def test_a_signature_is_of_this_user_alone(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path / "mine"))
    content = signed({"a": 1})
    assert is_own(content) and not is_own({**content, "a": 2}) and not is_own({"a": 1})
    assert (tmp_path / "mine" / "signing.key").stat().st_mode & 0o777 == 0o600
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path / "another"))
    assert not is_own(content)
    (tmp_path / "another" / "signing.key").chmod(0o644)  # others may have read it
    assert not is_own(signed({"a": 1}))
