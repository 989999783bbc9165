"""`agentrl site guess`: the environment as a web page."""

from __future__ import annotations

from html import escape
from types import SimpleNamespace

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from guess_family.env import GuessEnv


def make_site(split: str = "train", seed: int = 0) -> SimpleNamespace:
    """One game at a time, shared by whoever opens the page."""
    env = GuessEnv(split=split)
    observation, info = env.reset(seed=seed)

    async def page(request: Request) -> HTMLResponse:
        nonlocal observation, info
        if "guess" in request.query_params:
            observation, *_, info = env.step(request.query_params["guess"])
        elif "new" in request.query_params:
            observation, info = env.reset()
        form = '<form><input name="guess" autofocus><button>Guess</button> <a href="?new=1">new game</a></form>'
        verdict = "<p><b>Well done.</b></p>" if info["success"] else ""
        return HTMLResponse(f"<!doctype html><title>Guess</title><p>{escape(observation['text'])}</p>{verdict}{form}")

    app = Starlette(routes=[Route("/", page)])
    return SimpleNamespace(
        app=app, summary="guess a number from 0 to 99", facts={"split": split, "tasks": len(env.tasks())}
    )
