"""`agentrl bench skills`: what environments cost beside MuJoCo alone, doing the same in the same run.

* Physics: the oracle's turns through `env.step`, and then every command that the controller got, replayed in a bare
  loop of controller and `mj_step`. What the environment adds is all of its own: checks of reach, contacts, texts.
  The loop without even the controller, whose servos get the recorded targets, is shown as well.
* Pictures: those of the backend beside a `mujoco.Renderer` on the same scene.

Seconds are those of the processor, all threads together, so that other programs on the machine do not count.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np

import agentrl
from agentrl.core.measure import compare, cpu_seconds, machine, result
from agentrl.envs.common.mujoco.arm import STEPS, Arm
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.primitiveskill.env import PrimitiveSkillEnv
from agentrl.envs.primitiveskill.mujoco.backend import MujocoBackend
from agentrl.envs.primitiveskill.mujoco.scene import CAMERA
from agentrl.envs.primitiveskill.tasks import TASKS
from benchmarks.search import anonymous_megabytes

mujoco = load()
PIXELS = 256
REQUIRED = 0.9  # of the rate of MuJoCo alone
PEER, BARE = "mujoco, same controller", "mujoco, mj_step only"
RENDERER = "mujoco.Renderer"
Rows = list[dict[str, Any]]


def run(quick: bool = False) -> dict[str, Any]:
    """Play, replay and draw all tasks."""
    repeats = 1 if quick else 5
    episodes = [Episode(task) for task in TASKS]
    rows = [row for episode in episodes for row in physics_rows(episode, repeats)]
    rows += [row for episode in episodes for row in picture_rows(episode, 2 if quick else 20, repeats)]
    rows += memory_rows(4 if quick else 32)
    ratios = [compare(rows, f"{name} {what}", peer, REQUIRED) for name in TASKS for what, peer in CASES.items()]
    return {
        "schema": 1,
        "name": "skills",
        "machine": machine(),
        "threads": 1,
        "results": rows,
        "peers": {"mujoco": {"installed": True, "version": mujoco.__version__, "reason": None}},
        "ratios": ratios,
        "pass": all(ratio["pass"] for ratio in ratios),
    }


CASES = {"physics": PEER, "pictures": RENDERER}


class Recorder:
    """An arm that writes down what it is told."""

    def __init__(self, arm: Arm) -> None:
        self.arm, self.commands = arm, []
        for name in ("steer", "grip", "advance"):
            setattr(arm, name, self._recording(name, getattr(arm, name)))

    def _recording(self, name: str, method: Callable[..., None]) -> Callable[..., None]:
        def call(*arguments: Any) -> None:
            method(*arguments)
            controls = self.arm.data.ctrl.copy()
            self.commands.append((name, [np.copy(value) for value in arguments], controls))

        return call


class Episode:
    """One start of a task, the oracle's turns in it, and what they make the controller do."""

    def __init__(self, task: str) -> None:
        self.task, self.env = task, PrimitiveSkillEnv(task=task, kind="text")
        self.env.reset(seed=0)
        self.snapshot = self.env.snapshot()
        self.backend = backend_of(self.env)
        self.begin = self.backend.save()
        recorder, self.turns = Recorder(self.backend._motion.arm), []
        while (turn := self.env.oracle()) is not None:
            self.turns.append(turn)
            self.env.step(turn)
        self.commands = recorder.commands
        self.steps = STEPS * sum(name == "advance" for name, _, _ in self.commands)
        self.end = self.backend.data.qpos.copy()

    def play(self) -> None:
        """All turns, as an agent would."""
        for turn in self.turns:
            self.env.step(turn)

    def replay(self, arm: Arm) -> None:
        """The commands alone."""
        for name, arguments, _ in self.commands:
            if name == "advance":
                mujoco.mj_step(arm.model, arm.data, STEPS)
            elif name == "steer":
                arm.steer(*arguments)
            else:
                arm.grip(float(arguments[0]))

    def step_only(self, arm: Arm) -> None:
        """Physics alone, with the targets of the servos."""
        for name, _, controls in self.commands:
            if name == "advance":
                arm.data.ctrl[:] = controls
                mujoco.mj_step(arm.model, arm.data, STEPS)


def backend_of(env: PrimitiveSkillEnv) -> MujocoBackend:
    """The simulation inside an environment."""
    backend = env._table._backend
    assert isinstance(backend, MujocoBackend)
    return backend


def physics_rows(episode: Episode, repeats: int) -> Rows:
    """Simulator steps a second, ours and bare in turn, so that both meet the same machine."""
    found: dict[str, list[float]] = {"agentrl": [], PEER: [], BARE: []}
    for _ in range(repeats):
        episode.env.restore(episode.snapshot)
        found["agentrl"].append(episode.steps / cpu_seconds(episode.play))
        for impl, work in ((PEER, episode.replay), (BARE, episode.step_only)):
            arm = bare_arm(episode)
            found[impl].append(episode.steps / cpu_seconds(lambda work=work, arm=arm: work(arm)))
            if not np.allclose(arm.data.qpos, episode.end, atol=1e-3):
                raise AssertionError("the replay ended elsewhere, so it did not do the same")
    shape = {"obs": "text"}
    return [
        result(f"{episode.task} physics", impl, _version(impl), values, "steps/s", **shape)
        for impl, values in found.items()
    ]


def bare_arm(episode: Episode) -> Arm:
    """The simulation at the beginning of the episode, without an environment."""
    other = MujocoBackend()
    assert episode.env._table.start is not None
    other.begin(episode.env._table.start)
    other.load(episode.begin)
    return other._motion.arm


def picture_rows(episode: Episode, count: int, repeats: int) -> Rows:
    """Pictures a second of the same moment, drawn anew each time."""
    backend, found = episode.backend, {"agentrl": [], RENDERER: []}
    renderer = mujoco.Renderer(backend.model, PIXELS, PIXELS)

    def ours() -> None:
        for _ in range(count):
            backend._finish()  # what a primitive does when it has changed something
            backend.picture(PIXELS)

    def theirs() -> None:
        for _ in range(count):
            mujoco.mj_forward(backend.model, backend.data)
            renderer.update_scene(backend.data, camera=CAMERA)
            renderer.render()

    for work in (ours, theirs):
        work()
    for _ in range(repeats):
        found["agentrl"].append(count / cpu_seconds(ours))
        found[RENDERER].append(count / cpu_seconds(theirs))
    renderer.close()
    return [
        result(f"{episode.task} pictures", impl, _version(impl), values, "pictures/s", obs="image", px=PIXELS)
        for impl, values in found.items()
    ]


def memory_rows(count: int) -> Rows:
    """What one more environment needs, in an episode; models and renderers are shared by a process."""
    rows = []
    for kind in ("text", "visual"):
        gc.collect()
        before = anonymous_megabytes()
        envs = [PrimitiveSkillEnv(kind=kind, task="place", image_size=PIXELS) for _ in range(count)]
        for env in envs:
            env.reset(seed=0)
        found = max(0.0, anonymous_megabytes() - before) / count
        rows.append(result(f"memory of one more, {kind}", "agentrl", agentrl.__version__, [found], "MB", obs=kind))
        for env in envs:
            env.close()
    return rows


def _version(impl: str) -> str:
    return agentrl.__version__ if impl == "agentrl" else mujoco.__version__
