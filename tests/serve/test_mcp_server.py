"""The tools of an environment, through a client in this process: what is shown, what is refused, what goes wrong."""

from __future__ import annotations

import asyncio
import base64
import io
import json
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import numpy as np
import pytest
from mcp import Client
from mcp.server.mcpserver.exceptions import ToolError
from PIL import Image

from agentrl.rollout.episode import make
from agentrl.serve.mcp_server import MAX_ACTION, EnvironmentTools
from agentrl.serve.sessions import Limits
from tests.rollout.troubled_envs import TROUBLED
from tests.serve.mcp_player import call, play, refused, solved_episode

LAKE = "agentrl/FrozenLake-Text-v0"
SEEN_LAKE = "agentrl/FrozenLake-Visual-v0"


def with_client(tools: EnvironmentTools, use: Callable[[Client], Awaitable[None]]) -> None:
    """Run a client, and close everything after it."""

    async def session() -> None:
        async with Client(tools.server) as client:
            await use(client)

    try:
        asyncio.run(session())
    finally:
        tools.close()


# ---------------------------------------------------------------------- what is shown


def test_texts_and_pictures_come_in_the_order_of_the_observation() -> None:
    env = make(SEEN_LAKE)
    observation, _ = env.reset(seed=7)

    async def use(client: Client) -> None:
        assert client.instructions is not None and client.instructions.startswith(env.get_wrapper_attr("system_prompt"))
        seen, facts = await call(client, "reset", seed=7)
        before, picture, *after = seen
        shown = "".join([before.text, "<image>", *(part.text for part in after)])
        assert shown == observation["text"] and picture.mime_type == "image/png"
        pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(picture.data))))
        assert np.array_equal(pixels, observation["image"]) and facts == {"episode": facts["episode"], "over": False}

    with_client(EnvironmentTools(SEEN_LAKE), use)


def test_the_truth_is_told_only_where_it_is_asked_for() -> None:
    env = make(SEEN_LAKE)
    env.reset(seed=7)
    truth = env.unwrapped.state().to_json()

    async def hidden(client: Client) -> None:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["reset", "step"]
        result = await client.call_tool("reset", {"seed": 7})
        assert not any(row in result.model_dump_json() for row in truth["rows"])
        name = json.loads(result.content[-1].text)["episode"]
        assert "Unknown tool" in await refused(client, "state", episode=name)

    async def shown(client: Client) -> None:
        _, facts = await call(client, "reset", seed=7)
        result = await client.call_tool("state", {"episode": facts["episode"]})
        assert json.loads(result.content[0].text) == truth

    with_client(EnvironmentTools(SEEN_LAKE), hidden)
    with_client(EnvironmentTools(SEEN_LAKE, show_state=True), shown)


def test_an_episode_begins_anew_under_its_own_name() -> None:
    async def use(client: Client) -> None:
        first, facts = await call(client, "reset", seed=7)
        await call(client, "step", episode=facts["episode"], action="no move")
        again, same = await call(client, "reset", episode=facts["episode"], seed=7)
        _, other = await call(client, "reset", seed=7)
        assert [part.text for part in again] == [part.text for part in first]
        assert same["episode"] == facts["episode"] != other["episode"]

    with_client(EnvironmentTools(LAKE), use)


# ---------------------------------------------------------------------- hostile calls


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("step", {"episode": "nobody", "action": "Left"}, "there is no episode 'nobody'"),
        ("reset", {"episode": "\x00\x1b[31m"}, "there is no episode '\\x00\\x1b[31m'"),
        ("reset", {"episode": "x" * 1_000_000}, "there is no episode"),
        ("step", {"episode": "NAME", "action": "x" * 1_000_000}, f"at most {MAX_ACTION} characters"),
        ("step", {"episode": "NAME"}, "action\n  Field required"),
        ("step", {"episode": "NAME", "action": 3}, "action\n  Input should be a valid string"),
        ("step", {"episode": ["NAME"], "action": "Left"}, "episode\n  Input should be a valid string"),
        ("reset", {"seed": -1}, "seed\n  Input should be greater than or equal to 0"),
        ("reset", {"seed": 2**63}, "seed\n  Input should be less than"),
        ("reset", {"seed": 1.5}, "seed\n  Input should be a valid integer"),
        ("reset", {"sed": 1}, "sed\n  Extra inputs are not permitted"),
        ("state", {"episode": "NAME"}, "Unknown tool"),
    ],
)
def test_a_call_that_cannot_be_made_is_an_error_and_costs_nothing(
    tool: str, arguments: dict[str, Any], said: str
) -> None:
    async def use(client: Client) -> None:
        _, facts = await call(client, "reset", seed=episode.seed)
        name = facts["episode"]
        told = await refused(
            client, tool, **{key: name if value == "NAME" else value for key, value in arguments.items()}
        )
        assert said in told and len(told) < 1000
        for action, reward in zip(episode.actions, episode.rewards, strict=True):
            _, facts = await call(client, "step", episode=name, action=action)
            assert facts["reward"] == reward
        assert facts["success"]

    episode = solved_episode(LAKE)
    with_client(EnvironmentTools(LAKE), use)


def test_any_text_is_an_action() -> None:
    async def use(client: Client) -> None:
        for action in ("", "\x00\x07\x1b[2J", "\u202e\ufeff\U0001f600", "x" * MAX_ACTION, '{"a": 1}', "[1]", "null"):
            _, facts = await call(client, "reset", seed=7)
            _, facts = await call(client, "step", episode=facts["episode"], action=action)
            assert facts["reward"] < 0 and not facts["success"]

    with_client(EnvironmentTools(LAKE), use)


def test_a_step_after_the_end_is_an_error() -> None:
    async def use(client: Client) -> None:
        facts = await play(client, episode)
        assert "it is over" in await refused(client, "step", episode=facts["episode"], action="Left")
        assert "it is over" in await refused(client, "reset", episode=facts["episode"])

    episode, tools = solved_episode(LAKE), EnvironmentTools(LAKE)
    with_client(tools, use)


def test_of_a_thousand_episodes_those_within_the_limit_are_played() -> None:
    tools = EnvironmentTools(LAKE, limits=Limits(sessions=32, per_address=32))
    episode = solved_episode(LAKE)

    async def use() -> None:
        begun = await asyncio.gather(*(tools.reset(seed=episode.seed) for _ in range(1000)), return_exceptions=True)
        refusals = [each for each in begun if isinstance(each, ToolError)]
        assert len(refusals) == 968 and all("are open; play some to their end" in str(each) for each in refusals)
        for answer in (each for each in begun if isinstance(each, list)):
            name, facts = json.loads(answer[-1])["episode"], {}
            for action in episode.actions:
                facts = json.loads((await tools.step(name, action))[-1])
            assert facts["success"]
        await tools.reset()  # there is room again

    try:
        asyncio.run(use())
    finally:
        tools.close()


# ---------------------------------------------------------------------- several at a time, and faults


def troubled_tools(**options: Any) -> EnvironmentTools:
    """In threads of this process, where trouble could do most harm."""
    return EnvironmentTools(TROUBLED, {"turns": 4, "wait": 0.03}, quick=[TROUBLED], **options)


def test_calls_of_one_episode_are_played_one_after_the_other_in_their_order() -> None:
    async def use(client: Client) -> None:
        names = [(await call(client, "reset", seed=seed))[1]["episode"] for seed in range(3)]
        turns = [(number, name) for _ in range(4) for number, name in enumerate(names)]
        played = await asyncio.gather(*(call(client, "step", episode=name, action="good") for _, name in turns))
        for episode in range(3):
            texts = [seen[0].text for (number, _), (seen, _) in zip(turns, played, strict=True) if number == episode]
            assert texts == [f"episode {episode} turn {turn}" for turn in (1, 2, 3, 4)]

    with_client(troubled_tools(), use)


def test_a_turn_that_the_client_has_given_up_on_is_played_and_counts() -> None:
    tools = EnvironmentTools(TROUBLED, {"turns": 2, "wait": 0.5}, quick=[TROUBLED])

    async def use() -> None:
        name = json.loads((await tools.reset(seed=1))[-1])["episode"]
        for _ in range(2):
            calls = tools.sessions.calls
            async with anyio.create_task_group() as client:
                client.start_soon(tools.step, name, "good")
                while tools.sessions.calls == calls:
                    await anyio.sleep(0.01)
                client.cancel_scope.cancel()
        with pytest.raises(ToolError, match="it is over"):
            await tools.step(name, "good")

    try:
        asyncio.run(use())
    finally:
        tools.close()


@pytest.mark.parametrize(
    ("action", "said"),
    [("fault", "the backend is gone"), ("raise", "a bug of the simulator"), ("nan", "finite"), ("exit", "SystemExit")],
)
def test_a_fault_of_the_environment_is_an_error_and_never_a_reward(action: str, said: str) -> None:
    async def use(client: Client) -> None:
        _, mine = await call(client, "reset", seed=1)
        _, other = await call(client, "reset", seed=2)
        told = await refused(client, "step", episode=mine["episode"], action=action)
        assert "the environment failed" in told and said in told and 'reward":' not in told and "Traceback" not in told
        assert "there is no episode" in await refused(client, "step", episode=mine["episode"], action="good")
        _, facts = await call(client, "step", episode=other["episode"], action="good")
        assert facts["reward"] == 1.0

    with_client(troubled_tools(), use)


def test_a_call_that_takes_too_long_ends_and_the_others_go_on() -> None:
    async def use(client: Client) -> None:
        names = [
            (await call(client, "reset", seed=seed))[1]["episode"] for seed in range(5)
        ]  # more than there are lanes
        late = asyncio.create_task(refused(client, "step", episode=names[0], action="hang"))
        assert "in time" in await late
        for name in names[1:]:
            _, facts = await call(client, "step", episode=name, action="good")
            assert facts["reward"] == 1.0

    with_client(troubled_tools(limits=Limits(call_seconds=4.0)), use)


def test_an_episode_that_nobody_plays_is_closed() -> None:
    async def use(client: Client) -> None:
        _, facts = await call(client, "reset")
        while len(tools.sessions):
            await asyncio.sleep(0.05)
        assert "nobody has played it" in await refused(client, "step", episode=facts["episode"], action="good")

    tools = troubled_tools(limits=Limits(idle_seconds=0.1))
    with_client(tools, use)
