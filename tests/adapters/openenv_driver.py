"""In OpenEnv's virtual environment: its own client against our server, and a server of an environment of its own.

python openenv_driver.py play URL          the eight episodes, as `library_check.to_json` writes them
python openenv_driver.py tasks URL NAME    what its Task API says
python openenv_driver.py serve PORT        an environment that is written for OpenEnv
"""

from __future__ import annotations

import json
import sys
import urllib.request
from typing import Any

from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient
from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, ConcurrencyConfig, Observation, State

from agentrl.adapters.openenv import TextAction, TextObservation
from tests.adapters.library_check import SEEDS, Episode, answer, hash_of_url, to_json


class Client(EnvClient[TextAction, TextObservation, State]):
    """A client as OpenEnv's users write them."""

    def _step_payload(self, action: TextAction) -> dict[str, Any]:
        return action.model_dump()

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[TextObservation]:
        seen = TextObservation(**payload["observation"])
        return StepResult(observation=seen, reward=payload["reward"], done=payload["done"])

    def _parse_state(self, payload: dict[str, Any]) -> State:
        return State(**payload)


def play(url: str) -> list[Episode]:
    """The scripted answers, in sessions that run side by side."""
    clients = [Client(base_url=url).sync() for _ in SEEDS]
    played = []
    for seed, client in zip(SEEDS, clients, strict=True):
        client.connect()
        found = Episode(seed=seed, actions=[], reward=0.0, rewards=[], shown=[])
        played.append((client, found, client.reset(seed=seed)))
    episodes = []
    for client, found, result in played:
        while not result.done:
            seen = result.observation
            text = seen.text
            for picture in seen.images.values():
                text = text.replace("<image>", f"<image {hash_of_url(picture)}>", 1)
            said = answer(found.seed, len(found.actions))
            result = client.step(TextAction(text=said))
            found.shown.append(text)
            found.actions.append(said)
            found.rewards.append(result.reward)
        assert client.state().step_count == len(found.actions)
        told = result.observation.metadata
        found.terminated, found.truncated, found.success = (told[n] for n in ("terminated", "truncated", "success"))
        found.reward = sum(found.rewards)
        client.close()
        episodes.append(found)
    return episodes


def tasks(url: str, name: str) -> dict[str, Any]:
    """Splits, a count and a task; and the first rules of an episode of that task."""

    def ask(path: str, **body: Any) -> Any:
        data = json.dumps(body).encode() if body else None
        request = urllib.request.Request(f"{url}/{name}/{path}", data, {"Content-Type": "application/json"})
        return json.load(urllib.request.urlopen(request, timeout=60))

    chosen = ask("task", split="test", index=3)["task"]
    with Client(base_url=url).sync() as client:
        begun = client.reset(split="test", index=3)
    found = {"splits": [split["name"] for split in ask("splits")], "count": ask("num_tasks", split="test")["num_tasks"]}
    return {**found, "task": chosen, "played": begun.observation.metadata["info"]["task"]}


class Guess(Action):
    """A number as text."""

    message: str


class Heard(Observation):
    """What the other side says."""

    reply: str = ""


class Numbers(Environment[Guess, Heard, State]):
    """Say the number that you are told."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def reset(self, seed: int | None = None, episode_id: str | None = None, **_: Any) -> Heard:
        """A number that follows from the seed."""
        self.number, self.turn = (seed or 0) * 7 % 10, 0
        return Heard(reply=f"Say {self.number}.")

    def step(self, action: Guess, timeout_s: float | None = None, **_: Any) -> Heard:
        """Two turns; one point each."""
        if action.message == "break":
            raise RuntimeError("the environment broke")
        self.turn += 1
        right = str(self.number) in action.message
        return Heard(reply="Yes." if right else "No.", reward=float(right), done=self.turn == 2)

    @property
    def state(self) -> State:
        """Nothing."""
        return State()


if __name__ == "__main__":
    verb, *words = sys.argv[1:]
    if verb == "play":
        print(to_json(play(*words)))
    elif verb == "tasks":
        print(json.dumps(tasks(*words)))
    else:
        import uvicorn

        limits = ConcurrencyConfig(max_concurrent_envs=8, session_timeout=600)
        app = create_app(Numbers, Guess, Heard, env_name="numbers", concurrency_config=limits)
        uvicorn.run(app, host="127.0.0.1", port=int(words[0]), log_level="warning")
