"""Checks that the same seed is the same story: in this process, in another one, and without global random state."""

from __future__ import annotations

import atexit
import base64
import json
import os
import random
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec

from agentrl.core.errors import SnapshotUnsupported
from agentrl.core.snapshot import restore, snapshot
from agentrl.testing.compare import difference, digest, fingerprint, require_same_results
from agentrl.testing.report import CheckFailed, require
from agentrl.testing.subject import Player, Subject, base, spec_of, start, trajectory

HASH_SEEDS = ("1", "2")
PROCESS_SECONDS = 300
OTHER_SEEDS = 8
TURNS_AFTER_RESTORE = 8
WATCHED_SEED = 2_718_281_828


def check_seed_determinism(subject: Subject) -> str:
    """A seed repeats its episodes, in a used environment and in a new one; another seed does not."""
    with subject.opened() as env, subject.opened() as new:
        first = trajectory(env, subject.seed, subject.episodes)
        again = trajectory(env, subject.seed, subject.episodes)
        require_same_results(first, again, "the same seed twice in one environment")
        require_same_results(first, trajectory(new, subject.seed, subject.episodes), "the same seed in a new one")
        if len(base(env).tasks()) < 2:
            return f"{len(first)} calls repeat; there is one task only, so seeds need not differ"
        openings = set()  # how the first episodes of each seed begin
        for other in range(OTHER_SEEDS):
            seeds = [subject.seed + other, *[None] * (subject.episodes - 1)]
            openings.add(digest([start(env, seed=seed)[1:] for seed in seeds]))
    require(len(openings) > 1, f"{OTHER_SEEDS} different seeds all start the same {subject.episodes} episodes")
    return f"{len(first)} calls repeat; {len(openings)} of {OTHER_SEEDS} seeds differ"


# ---------------------------------------------------------------------- other processes


def check_process_determinism(subject: Subject) -> str:
    """Processes with different hash seeds, and this one, play exactly the same episodes, also from a snapshot."""
    with subject.opened() as env:
        spec = spec_of(env)
    if callable(spec.entry_point):
        # A callable object has no such name; the form it is printed in has a "<" as well.
        module, local = spec.entry_point.__module__, getattr(spec.entry_point, "__qualname__", repr(spec.entry_point))
        require("<" not in local, f"the entry point {local} is local to a function: no other process can import it")
        spec = replace(spec, entry_point=f"{module}:{local}")
    in_script = str(spec.entry_point).startswith("__main__:")
    require(not in_script, f"{spec.entry_point} lives in a script: move it to a module that other processes can import")
    job: dict[str, Any] = {"spec": replace(spec, vector_entry_point=None).to_json(), "seed": subject.seed}
    job |= {"episodes": subject.episodes, "blob": None}
    with subject.opened() as env, suppress(SnapshotUnsupported):  # from the middle of an episode, to be continued
        start(env, seed=subject.seed + 1)
        Player(env, subject.seed).play(1)
        job["blob"] = base64.b64encode(snapshot(env)).decode()
    # What can be imported here can be imported there, the module of a third-party environment included.
    path = os.pathsep.join(path or os.getcwd() for path in sys.path)
    children = {f"a process with PYTHONHASHSEED={seed}": child_process(seed, path) for seed in HASH_SEEDS}
    for child in children.values():  # all of them first: they work side by side
        child.send(job)
    # All answers are read before any is judged: an answer left behind would be taken for that of the next job.
    try:
        expected = json.loads(json.dumps(replay(job)))
    finally:
        answers = [(name, child.receive()) for name, child in children.items()]
    for name, answer in answers:
        if "error" in answer:
            raise CheckFailed(f"another process could not play the environment: {answer['error']}")
        if place := difference(expected, answer):
            raise CheckFailed(f"this process and {name} differ: {place}")
    return f"{len(expected['episodes'])} calls equal in {1 + len(children)} processes"


class ChildProcess:
    """Another process that replays jobs, each in a fork of its own: starting one takes longer than most jobs."""

    def __init__(self, hash_seed: str, path: str) -> None:
        command = [sys.executable, "-P", "-c", "from agentrl.testing.repeatability import main; main()"]
        environ = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": hash_seed}
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as the process runs)
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self.errors}
        self.process = subprocess.Popen(command, env=environ, start_new_session=True, **pipes)
        atexit.register(self.end)

    def send(self, job: dict[str, Any]) -> None:
        """Begin a job."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):  # it died already; what it printed says why
            self.process.stdin.write(json.dumps(job).encode() + b"\n")
            self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """The digests of the job, or an error in words."""
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], PROCESS_SECONDS)
        line = self.process.stdout.readline() if ready else b""
        if not line:
            self._kill()
            self.errors.seek(0)
            said = self.errors.read().decode(errors="replace").strip().splitlines()
            last = said[-1] if said and ready else f"exit status {self.process.returncode}"
            return {"error": last}
        return json.loads(line)

    def end(self) -> None:
        """Kill it and forget what it said."""
        self._kill()
        self.process.communicate()
        self.errors.close()

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)  # with the fork that works on a job
        self.process.wait()


CHILDREN: dict[tuple[str, str], ChildProcess] = {}


def child_process(hash_seed: str, path: str) -> ChildProcess:
    """The process with this hash seed and import path; a new one if it is not running."""
    kept = CHILDREN.get((hash_seed, path))
    if kept is None or kept.process.poll() is not None:
        kept = CHILDREN[hash_seed, path] = ChildProcess(hash_seed, path)
    return kept


def replay(job: dict[str, Any]) -> dict[str, Any]:
    """Digests of some episodes from a seed, and of what follows a snapshot."""
    env = gym.make(EnvSpec.from_json(job["spec"]), disable_env_checker=True)
    results = [fingerprint(result) for result in trajectory(env, job["seed"], job["episodes"])]
    continued = []
    if job["blob"] is not None:
        restore(env, base64.b64decode(job["blob"]))
        player = Player(env, job["seed"])
        continued = [fingerprint(result) for result in player.play(TURNS_AFTER_RESTORE)]
    env.close()
    return {"episodes": results, "continued": continued}


def main() -> None:
    """Read jobs from standard input, a line of JSON each, and write a line with the digests of each."""
    # Whatever an environment prints must not get between the digests.
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        # A fork, so that no environment meets what another one has left in its modules.
        if fork := os.fork():
            _, status = os.waitpid(fork, 0)
            if status:
                error = f"exit status {os.waitstatus_to_exitcode(status)}"
                print(json.dumps({"error": error}), file=answer, flush=True)
            continue
        try:
            result = replay(json.loads(line))
        except Exception as error:
            result = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(result), file=answer, flush=True)
        os._exit(0)


# ---------------------------------------------------------------------- global random state


def check_random_state(subject: Subject) -> str:
    """The global generators of `random` and `numpy.random` stand where they stood, whatever is called."""
    with _watched_generators() as unmoved:
        env = subject.make(render_mode="rgb_array")
        unmoved("making the environment")
        for episode in range(subject.episodes):
            start(env, seed=subject.seed if episode == 0 else None)
            unmoved("reset")
            player = Player(env, subject.seed + episode)
            unmoved("oracle or the seeding of the action space")
            for action in [player.action() for _ in range(3)]:
                unmoved("oracle or a sample of the action space")
                env.step(action)
                unmoved(f"step({action!r:.80})")
            env.render()
            unmoved("render")
            base(env).state().to_json()
            unmoved("state")
            with suppress(SnapshotUnsupported):
                restore(env, snapshot(env))
                unmoved("snapshot or restore")
        env.close()
        unmoved("close")
    return f"untouched over {subject.episodes} episodes"


@contextmanager
def _watched_generators() -> Iterator[Callable[[str], None]]:
    """Hands out a function that fails the check if a global generator has moved; puts them back at the end."""
    python, numpy = random.getstate(), np.random.get_state()
    # Somewhere no environment would seed them to: one that always seeds with 0 would otherwise find itself at home.
    random.seed(WATCHED_SEED)
    np.random.seed(WATCHED_SEED)
    python_before, numpy_before = random.getstate(), digest(np.random.get_state())

    def unmoved(what: str) -> None:
        require(random.getstate() == python_before, f"{what} moved the global generator of `random`")
        require(digest(np.random.get_state()) == numpy_before, f"{what} moved the global generator of `numpy.random`")

    try:
        yield unmoved
    finally:
        random.setstate(python)
        np.random.set_state(numpy)
