"""A taskset of verifiers 0.4 played from outside, in an interpreter that has verifiers; see `verifiers_client`.

Its own `Env` runs every episode, with hooks and scoring. The agent in it is whoever calls `step`: there is no harness,
no model endpoint and no process for each rollout.
"""

# pyright: reportMissingImports=false
from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import islice
from types import SimpleNamespace
from typing import Any

from agentrl.core.errors import MissingLibrary

try:
    import verifiers.v1 as vf
    from verifiers.v1.agent import Segment
    from verifiers.v1.configs.agent import agent_config_fields
    from verifiers.v1.graph import prepare_turn
    from verifiers.v1.runtimes import SubprocessConfig, provision_runtime
    from verifiers.v1.session import hook_boundary
    from verifiers.v1.state import state_cls
    from verifiers.v1.trace import AgentInfo, TraceTask
    from verifiers.v1.types import AssistantMessage, Response, SystemMessage, UserMessage, content_text
    from verifiers.v1.utils.decorators import invoke
    from verifiers.v1.utils.loaders import load_environment, resolve_env_config
except ImportError as error:
    raise MissingLibrary("verifiers", "verifiers==0.4.0 uv") from error


class TasksetHost:
    """The first `tasks` tasks of a taskset, each of which can be played in games side by side."""

    def __init__(self, taskset: str, config: dict[str, Any], tasks: int, max_turns: int) -> None:
        self._games: dict[str, Game] = {}
        self._loop, self._max_turns, self.count, self.problem = asyncio.new_event_loop(), max_turns, 0, ""
        try:
            self._env = load_environment(resolve_env_config({"taskset": {**config, "id": taskset}}))
            seats = list(agent_config_fields(self._env.config))
            self._tasks = list(islice(self._env.taskset, tasks))
            kind, own = type(self._env.taskset).task_type(), self._env.config.taskset
            if len(seats) != 1 or kind.NEEDS_CONTAINER or kind.toolsets(own.task) or self._env.taskset.toolsets(own):
                self.problem = "it must have one agent and need no container and no tools"
            (self._seat, *_), self.count = seats, len(self._tasks)
        except Exception as error:  # said in one sentence over there
            self.problem = f"{type(error).__name__}: {error}"

    def reset(self, name: str, index: int) -> dict[str, Any]:
        """Begin the game of this name anew: what the agent is shown, or how the episode ended without it."""
        self.close(name)
        self._games[name] = game = Game(self._max_turns)
        # The env makes agents for each episode: here they are the one who plays from outside.
        self._env._episode_agents = lambda ctx, completed, *_: SimpleNamespace(**{self._seat: Seat(game, completed)})
        game.task = self._loop.create_task(self._env.run_episode(self._tasks[index], None))  # pyright: ignore
        return self._until_asked(game)

    def step(self, name: str, answer: str) -> dict[str, Any]:
        """The agent's answer."""
        self._games[name].answers.put_nowait(answer)
        return self._until_asked(self._games[name])

    def close(self, name: str) -> None:
        """Leave a game, over or not."""
        if (game := self._games.pop(name, None)) is not None and not game.task.done():
            game.task.cancel()
            self._loop.run_until_complete(asyncio.wait([game.task]))

    def _until_asked(self, game: Game) -> dict[str, Any]:
        asked = self._loop.create_task(game.asked.get())
        self._loop.run_until_complete(asyncio.wait([asked, game.task], return_when=asyncio.FIRST_COMPLETED))
        if asked.done():
            return {"over": False, **asked.result()}
        asked.cancel()
        episode = game.task.result()
        errors = [*episode.errors, *(error for trace in episode.traces for error in trace.errors)]
        terms = {name: one.value for trace in episode.traces for name, one in trace.rewards.items() if one}
        metrics = {name: value for trace in episode.traces for name, value in trace.metrics.items()}
        return {
            "over": True,
            "error": "; ".join(error.message for error in errors),
            "truncated": game.out_of_turns,
            "terms": terms,
            "metrics": metrics,
        }


class Game:
    """An episode and the two queues between it and the calls from outside."""

    task: asyncio.Task[Any]

    def __init__(self, max_turns: int) -> None:
        self.asked: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.answers: asyncio.Queue[str] = asyncio.Queue()
        self.turns_left, self.out_of_turns = max_turns, False


class Seat:
    """What an `Env` sees as its agent."""

    trainable = True

    def __init__(self, game: Game, completed: list[vf.Trace]) -> None:
        self._game, self._completed = game, completed

    async def run(self, task: vf.Task, **_: Any) -> vf.Trace:
        """One reply to the task's prompt."""
        async with self.interaction(task) as talk:
            await talk.turn()
        return talk.trace

    @asynccontextmanager
    async def interaction(self, task: vf.Task, **_: Any) -> AsyncIterator[Talk]:
        """A rollout as verifiers has it: set up, talk, finalize, score."""
        told = TraceTask(type=type(task).__name__, data=task.data, key=task.key, hash=task.hash)
        trace = vf.Trace(task=told, state=state_cls(type(task))(), agent=AgentInfo(config=vf.AgentConfig()))
        async with provision_runtime(SubprocessConfig()) as runtime:
            given = {"trace": trace, "runtime": runtime}
            await invoke(task.setup, given)
            yield Talk(self._game, task, trace)
            await invoke(task.finalize, given)
            await task.score(trace, runtime)
        trace.is_completed = trace.ok = True
        self._completed.append(trace)


class Talk:
    """The turns of a rollout."""

    def __init__(self, game: Game, task: vf.Task, trace: vf.Trace) -> None:
        self._game, self.trace, data = game, trace, task.data
        prompt = [UserMessage(content=data.prompt)] if isinstance(data.prompt, str) else list(data.prompt or [])
        self._messages = [*([SystemMessage(content=data.system_prompt)] if data.system_prompt else []), *prompt]
        self._stops = [stop for stop in task.hooks("stop") if hook_boundary(stop, allow_trace=True) is vf.Trace]
        self._seen, self._over = 0, False

    async def turn(self, message: str | list[Any] | None = None) -> Segment:
        """Say something to the agent, or let it answer the prompt; its reply."""
        said = [message] if isinstance(message, str) else message or []
        self._messages += [UserMessage(content=one) if isinstance(one, str) else _user(one) for one in said]
        self._game.out_of_turns = self._game.turns_left == 0 and not self._over
        if self._over or self._game.out_of_turns:
            return Segment([], terminated=True)
        self._game.turns_left -= 1
        rules = "\n\n".join(content_text(one.content) for one in self._messages if one.role == "system")
        news = [content_text(one.content) for one in self._messages[self._seen :] if one.role != "system"]
        await self._game.asked.put({"rules": rules, "text": "\n\n".join(news)})
        reply = AssistantMessage(content=await self._game.answers.get())
        response = Response(id="agentrl", created=0, model="agentrl", message=reply, finish_reason="stop")
        prepare_turn(self.trace, self._messages).commit(response)
        self._messages.append(reply)
        self._seen = len(self._messages)
        self._over = any([await invoke(stop, {"trace": self.trace}) for stop in self._stops])
        return Segment([reply])


def _user(message: Any) -> UserMessage:
    return message if isinstance(message, UserMessage) else UserMessage.model_validate(message)
