"""Environments that `agentrl serve` plays, as ordinary Gymnasium environments.

    env = gym.make("agentrl/Remote-v0", url="ws://127.0.0.1:8321/ws", env_id="agentrl/Sokoban-Text-v0")
    envs = gym.make_vec("agentrl/Remote-v0", 64, url=..., env_id=..., vectorization_mode="vector_entry_point")

Spaces, rules, observations and infos are those of the environment there. All further arguments are its own. A
connection that is lost is a `SessionFault`; the next reset opens a new one.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from typing import Any

from gymnasium.vector import AutoresetMode

from agentrl.core.arguments import positive_number, whole_number
from agentrl.core.errors import ConfigError, MissingExtra, SessionFault
from agentrl.core.redact import protect
from agentrl.core.worker_child import encode
from agentrl.rollout.hosts import CALL_SECONDS, GRACE_SECONDS, Call, Region, value_of
from agentrl.rollout.isolated import IsolatedEnv
from agentrl.rollout.starts import Stack
from agentrl.rollout.vector import HostVectorEnv
from agentrl.serve.protocol import read_answer, versions_of

try:
    from websockets.exceptions import InvalidStatus, InvalidURI, WebSocketException
    from websockets.sync.client import ClientConnection, connect
except ImportError as error:  # pragma: no cover (set-up installs it)
    raise MissingExtra("websockets", "serve") from error

TOKEN = "AGENTRL_SERVE_TOKEN"  # the environment variable
OPEN_SECONDS = 20.0
MAX_ANSWER = 256 << 20  # bytes
AHEAD = 16  # frames that are sent before an answer is read
REFUSED = {401: "the token must be the server's", 403: "the server must be reached under its own name"}


class RemoteHost:
    """A connection to a server, which holds many environments; to `IsolatedEnv` it is what a host is."""

    def __init__(self, url: str, token: str | None = None, timeout: float | None = None) -> None:
        if not isinstance(url, str) or not url.startswith(("ws://", "wss://")):
            raise ConfigError(f"url must be an address such as ws://127.0.0.1:8321/ws; got {url!r}")
        self.url, self._token = url, token or os.environ.get(TOKEN) or None
        if self._token is not None:
            protect(self._token)
        self._timeout = CALL_SECONDS if timeout is None else positive_number("timeout", timeout)
        self._lock = threading.Lock()  # one exchange at a time
        self._link: ClientConnection | None = None
        self._open, self._numbers = ExitStack(), itertools.count(1)

    @property
    def life(self) -> ClientConnection:
        """The connection; a new one after the last was lost."""
        with self._lock:
            if self._link is None:
                headers = {} if self._token is None else {"Authorization": f"Bearer {self._token}"}
                try:
                    self._link = self._open.enter_context(
                        connect(
                            self.url,
                            additional_headers=headers,
                            compression=None,
                            max_size=MAX_ANSWER,
                            open_timeout=OPEN_SECONDS,
                            close_timeout=1,
                            proxy=None,
                        )
                    )
                except InvalidStatus as error:
                    status = error.response.status_code
                    if status in REFUSED:
                        raise ConfigError(f"{self.url} refuses the connection: {REFUSED[status]}") from error
                    raise self._lost(f"it answers with status {status}", "limit") from error
                except InvalidURI as error:
                    raise ConfigError(f"url must be an address of a WebSocket; got {self.url!r}") from error
                except (OSError, WebSocketException) as error:
                    raise self._lost(str(error) or type(error).__name__) from error
            return self._link

    def _lost(self, why: str, reason: Any = "connection") -> SessionFault:
        return SessionFault(f"the connection to {self.url} failed: {why}", reason)

    def lives(self, life: Any) -> bool:
        """Is that still the connection?"""
        return life is not None and self._link is life

    def call(self, calls: Sequence[Call], seconds: float | None = None) -> list[Any]:
        """In the place of each call its value, or the error that it met."""
        return self.send(calls, seconds)()

    def send(self, calls: Sequence[Call], seconds: float | None = None) -> Callable[[], list[Any]]:
        """Begin calls; what this returns must be called, and waits for their answers. Steps share one frame."""
        self._lock.acquire()
        found: dict[int, Any] = {}
        frames, link = self._frames(calls), self._link
        waiting: dict[int, list[int]] = {}  # number of a frame -> places of its calls
        until = time.monotonic() + (seconds or self._timeout) * len(calls) + GRACE_SECONDS
        places = [place for place, call in enumerate(calls) if call[0] is link and link is not None]

        def push() -> None:
            assert link is not None
            for frame, own in itertools.islice(frames, AHEAD - len(waiting)):
                waiting[frame[1]] = own
                link.send(bytes(encode(frame)))

        def guarded(work: Callable[[], None]) -> None:
            try:
                work()
            except TimeoutError:
                self._fail(found, places, "no answer came in time")
            except (OSError, WebSocketException, EOFError) as error:
                self._fail(found, places, str(error) or type(error).__name__)
            except (TypeError, ValueError, OverflowError) as error:  # an argument that msgpack does not know
                self._fail(found, places, f"what was to be sent or was received cannot be read: {error}")

        def pull() -> None:
            assert link is not None
            while waiting:
                data = link.recv(max(0.0, until - time.monotonic()))
                number, status, value = read_answer(data if isinstance(data, bytes) else data.encode())
                own = waiting.pop(number, [])
                many = [[status, value]] if len(own) < 2 or status != "ok" else value
                for place, answer in zip(own, many * len(own) if len(many) == 1 else many, strict=True):
                    found[place] = _with_slot(value_of(answer))
                push()

        if places:
            guarded(push)

        def result() -> list[Any]:
            try:
                if waiting and self._link is link:  # else a frame could not be sent, and all of them have failed
                    guarded(pull)
                gone = self._lost("it was lost before")
                return [found.get(place, gone) for place in range(len(calls))]
            finally:
                self._lock.release()

        return result

    def _frames(self, calls: Sequence[Call]) -> Iterator[tuple[list[Any], list[int]]]:
        """The frames of calls in this connection, each with the places of its calls."""
        here = [(place, call) for place, call in enumerate(calls) if call[0] is self._link]
        steps = [(place, call) for place, call in here if call[2] == "step"]
        if len(steps) > 1:
            turns = [[slot, args[0]] for _, (_, slot, _, args) in steps]
            yield ["step_many", next(self._numbers), turns], [place for place, _ in steps]
        for place, (_, slot, method, args) in here:
            if method == "open":
                env_id, kwargs, _ = args[0]
                yield ["open", next(self._numbers), env_id, kwargs, versions_of(env_id)], [place]
            elif method != "step" or len(steps) == 1:
                yield [method, next(self._numbers), slot, *args], [place]

    def _fail(self, found: dict[int, Any], places: list[int], why: str) -> None:
        """The connection cannot be used any more."""
        self._link = None
        with suppress(Exception):
            self._open.close()
        for place in places:
            found.setdefault(place, self._lost(why))

    def region(self, life: Any, start: int, layout: Any) -> Region:
        """Observations come with the answers."""
        return Region()

    @property
    def busy(self) -> bool:
        """Is a call on its way?"""
        return self._lock.locked()

    def close(self) -> None:
        """End the connection; the server closes its episodes. May be called twice, and the host used again."""
        with self._lock:
            self._link = None
            with suppress(Exception):
                self._open.close()

    kill = close


def _with_slot(value: Any) -> Any:
    """The facts of an environment that was opened, as `IsolatedEnv` reads them."""
    opened = isinstance(value, dict) and "episode" in value and "spaces" in value
    return {**value, "slot": value["episode"], "start": 0, "layout": []} if opened else value


class RemoteEnv(IsolatedEnv):
    """One environment of a server. `token` is the server's (default: the variable AGENTRL_SERVE_TOKEN), `timeout` the
    seconds that one call may take, ten minutes by default; everything else is given to the environment there."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array", "ansi"], "render_fps": 4}

    def __init__(
        self,
        url: str,
        env_id: str,
        *,
        split: str | None = None,
        token: str | None = None,
        timeout: float | None = None,
        host: RemoteHost | None = None,
        **kwargs: Any,
    ) -> None:
        kwargs |= {} if split is None else {"split": split}
        super().__init__(_stack(env_id, kwargs), host or RemoteHost(url, token, timeout))  # pyright: ignore[reportArgumentType]
        self._owner = host is None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode there; on a new connection where the last was lost, and in a new environment where the
        server has closed this one."""
        if self.lost or self._slot is None:
            self._open()
        try:
            return super().reset(seed=seed, options=options)
        except SessionFault as fault:
            if fault.reason not in ("unknown", "connection"):
                raise
        self._open()
        return super().reset(seed=seed, options=options)

    def state(self) -> dict[str, Any]:
        """The true state there, as JSON types; not where the server hides it."""
        return self._ask("state")

    def _seen(self, told: Any) -> Any:
        return told


class RemoteVectorEnv(HostVectorEnv):
    """`num_envs` environments of a server as one vector environment: a step of all of them is one frame.

    Faults, seeds and `autoreset_mode` are those of `agentrl.rollout.vector.HostVectorEnv`.
    """

    def __init__(
        self,
        url: str,
        env_id: str,
        num_envs: int = 1,
        *,
        token: str | None = None,
        timeout: float | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        **kwargs: Any,
    ) -> None:
        self.num_envs = whole_number("num_envs", num_envs, at_least=1)
        self._stack = _stack(env_id, kwargs)
        host: Any = RemoteHost(url, token, timeout)
        self._hosts = [host]
        try:
            first = self._open(host)
            found = first.action_space, first.observation_space
            first.close()
        except BaseException:
            host.close()
            raise
        self._begin(found, autoreset_mode)

    def _open(self, host: Any) -> IsolatedEnv:
        return RemoteEnv(host.url, self._stack.id, host=host, **self._stack.kwargs)


def _stack(env_id: str, kwargs: dict[str, Any]) -> Stack:
    if kwargs.get("render_mode") == "human":
        raise ConfigError("render_mode must be rgb_array, ansi or None: a window would open on the server; got 'human'")
    return Stack(env_id, {name: value for name, value in kwargs.items() if (name, value) != ("render_mode", None)})
