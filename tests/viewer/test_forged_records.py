"""Records of unknown origin reach no program, no address and no key, whichever way they are drawn."""

from __future__ import annotations

import http.server
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from agentrl.cli.main import main
from agentrl.core.env import AgentEnv, keyword_arguments
from agentrl.core.env_class import env_class
from agentrl.core.errors import ConfigError
from agentrl.core.untrusted import check_environment, trusted_arguments, unsafe_arguments
from agentrl.registry import known
from agentrl.rollout.trajectory import Step, Trajectory
from agentrl.rollout.trajectory_file import TrajectoryWriter
from agentrl.viewer.replay import replay
from tests.viewer.run_folders import LAKE, played, rl_lines, write_run

WEB, SHOP, SVG = "agentrl/WebArenaLite-Text-v0", "agentrl/WebShop-Text-v0", "agentrl/SVG-Visual-v0"
LIBERO, HOME, SKILL = "agentrl/LIBERO-Spatial-v0", "agentrl/Navigation-Visual-v0", "agentrl/PrimitiveSkill-Visual-v0"
KEY = "sk-canary-0123456789abcdef"
CANARY = "agentrl_canary_record"
FUZZY = {"eval_types": ["string_match"], "reference_answers": {"fuzzy_match": ["a red boat"]}}


class Trap:
    """A program that leaves a mark, a module that does, and a server that remembers who asked."""

    def __init__(self, folder: Path) -> None:
        self.mark, self.asked = folder / "ran", list[str]()
        self.program = folder / "program"
        self.program.write_text(f"#!/bin/sh\necho ran >> {self.mark}\nexit 1\n")
        self.program.chmod(0o755)
        (folder / f"{CANARY}.py").write_text(f"open({str(self.mark)!r}, 'a').write('imported\\n')\n")
        self.tasks = folder / "tasks.json"
        task = {"intent": "What is drawn?", "sites": ["reddit"], "start_url": "__REDDIT__", "eval": FUZZY}
        self.tasks.write_text(json.dumps([task]))
        asked = self.asked

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked.append(f"{self.path} {self.headers.get('Authorization')}")
                self.send_error(400)

            do_GET = do_POST

            def log_message(self, *_: Any) -> None:
                """Quiet."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Trap]:
    """In a folder on the path of modules, with a key in the environment."""
    (tmp_path / "trap").mkdir()
    monkeypatch.syspath_prepend(tmp_path / "trap")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    found = Trap(tmp_path / "trap")
    yield found
    found.server.shutdown()
    found.server.server_close()
    sys.modules.pop(CANARY, None)


def forged(trap: Trap) -> list[tuple[str, dict[str, Any]]]:
    """Environments and arguments as a stranger might write them into a record."""
    program, url, tasks = str(trap.program), trap.url, str(trap.tasks)
    llm = {"kind": "llm", "model": "m", "base_url": url}
    sites = {"reddit": url}
    real = {"sites_at": sites, "backend": "browser", "task_file": tasks}
    return [
        (LIBERO, {"suite": "libero_spatial", "assets": "official", "python": program}),
        (LIBERO, {"suite": "libero_spatial", "assets": "official", "python": program, "assets_folder": "/"}),
        (LIBERO, {"suite": "libero_spatial", "assets": "official"}),
        (LIBERO, {"suite": "libero_spatial", "assets_folder": "/etc"}),
        (WEB, {"task_file": tasks, "judge": llm}),
        (WEB, {"task_file": tasks, "judge": {**llm, "api_key_env": "OPENAI_API_KEY"}}),
        (WEB, {"task_file": tasks, "judge": {"kind": "outcome", "model": "m", "base_url": url}}),
        (WEB, {"task_file": tasks, "judge": {"kind": "audited", "judge": "rule", "auditor": llm}}),
        (WEB, {"task_file": tasks, "judge": {"kind": f"{CANARY}:Judge"}}),
        (WEB, {"task_file": tasks, "judge": f"{CANARY}:Judge"}),
        (WEB, {"task_file": tasks}),
        (WEB, {"task_file": "/etc/passwd"}),
        (WEB, {"task_file": 0}),
        (WEB, real),
        (WEB, {**real, "reset_sites": [program]}),
        (WEB, {**real, "storage_state": tasks}),
        (WEB, {**real, "accounts": tasks}),
        (WEB, {"sites_at": "environment", "backend": "browser", "task_file": tasks}),
        (WEB, {"judge": {"kind": "orm", "model": str(trap.program.parent)}}),
        (SHOP, {"data_dir": str(trap.program.parent)}),
        (SHOP, {"data_dir": "/proc/self", "products": "environ"}),
        (SVG, {"targets": tasks}),
        (SVG, {"scorers": [{"scorer": f"{CANARY}:Scorer", "weight": 1.0}]}),
        (SVG, {"scorers": [{"scorer": {"kind": "dino", "folder": str(trap.program.parent)}, "weight": 1.0}]}),
        (HOME, {"backend": "thor"}),
        (SKILL, {"backend": "mani_skill"}),
        (f"{CANARY}:{LAKE}", {}),
        (f"{CANARY}:x", {}),
        ("CartPole-v1", {"render_mode": "rgb_array"}),
        (LAKE, {"size": {"kind": f"{CANARY}:x"}}),
    ]


def episode(env_id: str, kwargs: dict[str, Any], task: str | None = None) -> Trajectory:
    """An episode that ends with an answer, where the environment takes one."""
    usual = {WEB: "file:0", LIBERO: "libero_spatial/0:train:0"}
    steps = [Step(observation="x", action="x", info={"actions": ["exit(message='a boat of some red')"]})]
    return Trajectory(
        id="x", steps=steps, env_id=env_id, task=task or usual.get(env_id, "0"), seed=0, spec={"kwargs": kwargs}
    )


def test_forged_records_run_no_program_and_ask_nobody(trap, tmp_path, record_property, capsys) -> None:
    records = [episode(*one) for one in forged(trap)]
    assert len(records) == 30
    drawn = [replay(record) for record in records]
    with TrajectoryWriter(tmp_path / "forged.jsonl") as writer:
        for record in records:
            writer.write(record)
    assert main(["report", str(tmp_path / "forged.jsonl"), "--replay"]) == 0
    folder = write_run(tmp_path / "run", rl_lines(3), train=records)
    assert main(["report", str(folder), "--replay"]) == 0
    programs = trap.mark.read_text().splitlines() if trap.mark.exists() else []
    keys = [line for line in trap.asked if KEY in line]
    record_property(
        "figures",
        f"threat 16: {len(records)} forged records, {len(programs)} programs run, {len(trap.asked)} requests, "
        f"{len(keys)} keys sent",
    )
    assert not any(drawn) and not programs and not trap.asked and CANARY not in sys.modules


def test_honest_records_are_still_drawn() -> None:
    assert all(replay(record) for record in played(1.0, 1, count=2))


def test_no_safe_argument_names_a_program_a_file_an_address_or_a_key() -> None:
    """Every argument of every environment that takes a path, an object or an address is left to the user."""
    left = {"python", "assets", "assets_folder", "task_file", "sites_at", "accounts", "reset_sites", "storage_state"}
    left |= {
        "judge",
        "data_dir",
        "products",
        "targets",
        "scorers",
        "backend",
        "questions",
        "corpus",
        "aliases",
        "embedder",
    }
    seen = set()
    for entry in known():
        found = env_class(entry.id)
        assert isinstance(found, type) and issubclass(found, AgentEnv)
        for name in keyword_arguments(found):
            seen.add(name)
            assert (unsafe_arguments(entry.id, {name: "/tmp/x"}) == [name]) == (name in left), (entry.id, name)
            assert unsafe_arguments(entry.id, {name: {"kind": "x"}}) == [name]
    assert left <= seen


def test_arguments_that_the_user_gave_himself_are_drawn_again(trap) -> None:
    kwargs = {"task_file": str(trap.tasks)}
    with pytest.raises(ConfigError, match=r"task_file of .* must be given by you"):
        check_environment(WEB, kwargs)
    with trusted_arguments([kwargs]):
        check_environment(WEB, kwargs)
        with pytest.raises(ConfigError, match="task_file"):
            check_environment(WEB, {"task_file": "/etc/passwd"})
    with pytest.raises(ConfigError, match="registered here"):
        check_environment("nothing/X-v0", {})
    assert gym.registry[WEB]
