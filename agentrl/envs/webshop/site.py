"""The shop as a web site for a person: the same pages, search and score that an agent gets, one session a visitor.

No script, a strict content policy, everything escaped. Looking at the shop makes nobody a visitor: a first GET shows a
goal, and the first action starts a session with that goal, identified by a cookie.
`agentrl site` serves it, and answers to this machine only.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Awaitable, Callable
from html import escape
from typing import Any
from urllib.parse import parse_qs

from agentrl.core.arguments import positive_number, whole_number
from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.envs.common.visitors import NoRoom, Visitors
from agentrl.envs.webshop.env import WebShopEnv
from agentrl.envs.webshop.page_html import page_html, photo_png, stylesheet

try:
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import HTMLResponse, RedirectResponse, Response
    from starlette.routing import Route
except ImportError as error:  # pragma: no cover (set-up installs it)
    raise MissingExtra("starlette", "serve") from error

COOKIE = "agentrl_shop"
GOAL = "goal"  # the field of a form that says which goal was shown
MAX_FORM = 16 << 10  # bytes; a search has at most 1,000 characters
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
PART_NAMES = {"type": "kind of product", "attributes": "attributes", "options": "options", "price": "price"}
Handler = Callable[[Request], Awaitable[Response]]
ShopFull = NoRoom


class Visitor:
    """One shopping trip after the other, one request at a time."""

    def __init__(self, env: WebShopEnv, task: str | None = None) -> None:
        self.env, self.lock = env, threading.Lock()
        self.info: dict[str, Any] = env.reset(options={"task": task})[1]

    def act(self, action: str) -> None:
        """One turn; after the end nothing happens any more."""
        with self.lock:
            if self.info["available_actions"]["clickables"]:
                self.info = self.env.step(action)[4]

    def next_goal(self) -> None:
        """The next goal of the split."""
        with self.lock:
            self.info = self.env.reset()[1]

    def close(self) -> None:
        """The visitor is gone."""
        self.env.close()


class Sessions(Visitors[Visitor]):
    """Visitors by name; those who were idle too long are forgotten."""

    def __init__(
        self, make: Callable[[], WebShopEnv], most: int, idle: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(most, idle, clock)
        self._make = make

    def admit(self, task: str | None = None) -> tuple[str, Visitor]:
        """A new visitor and its secret name; `ShopFull` where there is no room.

        `task` is the goal it has already been shown; one that does not exist is as good as none.
        """
        try:
            return self.welcome(lambda: Visitor(self._make(), task))
        except ConfigError:
            return self.welcome(lambda: Visitor(self._make()))


class ShopSite:
    """The application; `app` is what an ASGI server runs."""

    def __init__(self, *, max_sessions: int = 100, idle_minutes: float = 30.0, **arguments: Any) -> None:
        most = whole_number("max_sessions", max_sessions, at_least=1)
        idle = 60 * positive_number("idle_minutes", idle_minutes)
        if refused := {"kind", "render_mode", "full_info"} & arguments.keys():
            raise ConfigError(f"the site shows the shop its own way; it does not take {', '.join(sorted(refused))}")
        env = WebShopEnv(**arguments)  # complains now, and builds the index before the first visitor comes
        self.shop = env.shop
        self.facts = {"products": len(env.shop.catalogue), "split": env.split}
        self.sessions = Sessions(lambda: WebShopEnv(**arguments), most, idle)
        self.window = Visitor(env)  # what those without a session see
        self.app = Starlette(
            routes=[
                Route("/", self._with_headers(self._show)),
                Route("/act", self._with_headers(self._act), methods=["POST"]),
                Route("/next", self._with_headers(self._next), methods=["POST"]),
                Route("/style.css", self._with_headers(self._style)),
                Route("/photo/{asin}.png", self._with_headers(self._photo)),
            ]
        )

    @property
    def summary(self) -> str:
        """What is served, in a few words."""
        return f"{self.facts['products']:,} products"

    # ------------------------------------------------------------------ requests

    def _with_headers(self, handler: Handler) -> Handler:
        """The handler, with the headers of every page."""

        async def answer(request: Request) -> Response:
            response = await handler(request)
            response.headers.update(HEADERS)
            return response

        return answer

    async def _show(self, request: Request) -> Response:
        visitor = self.sessions.find(request.cookies.get(COOKIE))
        if visitor is None:
            visitor = self.window
            await run_in_threadpool(visitor.next_goal)
        return HTMLResponse(await run_in_threadpool(written, visitor))

    async def _act(self, request: Request) -> Response:
        body, response = b"", RedirectResponse("/", 303)
        try:
            async for piece in request.stream():
                body += piece
                if len(body) > MAX_FORM:
                    return Response("this form is too large\n", 413)
        except ClientDisconnect:
            return response
        form = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)  # short, by `MAX_FORM`
        if "click" in form:  # first, since a search box sends its words with every button
            action = f"click[{form['click'][0]}]"
        elif "search" in form:
            action = f"search[{form['search'][0].replace('[', ' ').replace(']', ' ')}]"
        else:
            return response
        visitor = self.sessions.find(request.cookies.get(COOKIE))
        if visitor is None:
            try:
                cookie, visitor = await run_in_threadpool(self.sessions.admit, form.get(GOAL, [None])[0])
            except ShopFull:
                return Response("The shop is full at the moment. Try again in some minutes.\n", 503)
            response.set_cookie(COOKIE, cookie, httponly=True, samesite="strict")
        await run_in_threadpool(visitor.act, action)
        return response

    async def _next(self, request: Request) -> Response:
        visitor = self.sessions.find(request.cookies.get(COOKIE))
        if visitor is not None:
            await run_in_threadpool(visitor.next_goal)
        return RedirectResponse("/", 303)

    async def _style(self, request: Request) -> Response:
        return Response(stylesheet(), media_type="text/css")

    async def _photo(self, request: Request) -> Response:
        product = self.shop.product(request.path_params["asin"][:64])
        if product is None:
            return Response("no such product\n", 404)
        return Response(await run_in_threadpool(photo_png, product), media_type="image/png")


def make_site(*, max_turns: int = 100, data_dir: str | None = None, **arguments: Any) -> ShopSite:
    """The site with more turns for each goal than agents have; no `data_dir` is a generated shop."""
    return ShopSite(max_turns=max_turns, data_dir=data_dir or None, **arguments)


def written(visitor: Visitor) -> str:
    """The visitor's page, and after it what only a person needs: remarks, the turns left, the parts of the score.

    Its form names the goal, for those who have no session yet.
    """
    with visitor.lock:
        goal = f'<input type="hidden" name="{GOAL}" value="{escape(visitor.info["task"])}"></form>'
        page = page_html(visitor.env.page, _aside(visitor.env, visitor.info))
        return page.replace("</form>", goal, 1)


def _aside(env: WebShopEnv, info: dict[str, Any]) -> str:
    parts = [f'<p class="feedback">{escape(info["feedback"])}</p>'] if info["feedback"] else []
    if info["purchase"] is not None:
        state = env.state()
        rows = [f"<tr><th>{name}</th><td>{info['purchase'][key]:.2f}</td></tr>" for key, name in PART_NAMES.items()]
        missing = f"Not met: {escape('; '.join(state.unmet))}." if state.unmet else "Everything is met."
        parts.append(f"<p>{escape(state.instruction)}</p><table>{''.join(rows)}</table><p>{missing}</p>")
    elif info["limit"]:
        parts.append("<p>All turns are used up; nothing was bought.</p>")
    parts.append(f"<p>Turn {info['turn']} of {env.max_turns}.</p>")
    parts.append('<form method="post" action="/next"><button class="btn">Another instruction</button></form>')
    return f"<aside>{''.join(parts)}</aside>"
