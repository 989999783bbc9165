"""What goes over the wire between `agentrl serve` and its clients: WebSocket messages of msgpack.

A frame is `[operation, number, episode, ...]`, its answer `[number, status, value]`. Answers to different episodes may
come in another order than the frames; calls of one episode are made in order. Arrays are extension 1: msgpack of dtype,
shape and bytes. Nothing is pickled.
"""

from __future__ import annotations

from importlib import metadata
from typing import Annotated, Any

import msgspec

import agentrl
from agentrl.core.errors import ConfigError
from agentrl.core.worker_child import decode_extension, encode
from agentrl.registry import known

MAX_PLAIN = 4 << 20  # bytes of a frame that is no `restore`: a few bytes of msgpack can become a large object
Number = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Name = Annotated[str, msgspec.Meta(max_length=64)]
Turns = Annotated[list[tuple[Name, Any]], msgspec.Meta(min_length=1, max_length=4096)]


class Open(msgspec.Struct, array_like=True, forbid_unknown_fields=True, tag="open"):
    """Make an environment. `versions` are the client's: see `versions_of`."""

    number: Number
    id: Annotated[str, msgspec.Meta(max_length=200)]
    kwargs: dict[str, Any]
    versions: dict[str, str | None]


class Reset(msgspec.Struct, array_like=True, forbid_unknown_fields=True, tag="reset"):
    """Begin an episode: observation, info, rules."""

    number: Number
    episode: Name
    seed: int | None = None
    options: dict[str, Any] | None = None


class Step(msgspec.Struct, array_like=True, forbid_unknown_fields=True, tag="step"):
    """Play a turn: observation, reward, terminated, truncated, info."""

    number: Number
    episode: Name
    action: Any


class StepMany(msgspec.Struct, array_like=True, forbid_unknown_fields=True, tag="step_many"):
    """Play a turn in each of many episodes: a list of `[status, value]`."""

    number: Number
    turns: Turns


class Restore(msgspec.Struct, array_like=True, forbid_unknown_fields=True, tag="restore"):
    """Continue from a snapshot."""

    number: Number
    episode: Name
    blob: bytes


class Ask(msgspec.Struct, array_like=True, forbid_unknown_fields=True, tag="ask"):
    """What a policy or a record asks of an environment: `oracle`, `about_task` and the like."""

    number: Number
    episode: Name
    name: Name
    args: list[Any] = []


class _Bare(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    number: Number
    episode: Name


class GetState(_Bare, tag="state"):
    """The true state."""


class Snapshot(_Bare, tag="snapshot"):
    """Everything the future depends on, as bytes."""


class Render(_Bare, tag="render"):
    """A picture, or a drawing in characters."""


class Legal(_Bare, tag="legal"):
    """Whole turns that make sense at this moment."""


class Close(_Bare, tag="close"):
    """End the episode."""


Frame = Open | Reset | Step | StepMany | Restore | Ask | GetState | Snapshot | Render | Legal | Close
_decode = msgspec.msgpack.Decoder(Frame, ext_hook=decode_extension).decode
_decode_parts = msgspec.msgpack.Decoder(list[msgspec.Raw]).decode
_decode_answer = msgspec.msgpack.Decoder(tuple[int, str, Any], ext_hook=decode_extension).decode


def read_frame(data: bytes) -> Frame:
    """A frame of a client; `ConfigError` says what is wrong with it."""
    if len(data) > MAX_PLAIN and data[1:9] != b"\xa7restore":
        raise ConfigError(f"a frame must have at most {MAX_PLAIN} bytes, unless it is a restore; got {len(data)}")
    try:
        return _decode(data)
    except Exception as error:  # of msgspec, or of numpy for an array
        raise ConfigError(f"a frame must be one of the protocol: {error!s:.200}") from error


def number_of(data: bytes) -> int:
    """The number of a frame that cannot be read, where it has one; else 0."""
    try:
        return msgspec.msgpack.decode(_decode_parts(data)[1], type=Number)
    except Exception:
        return 0


def read_answer(data: bytes) -> tuple[int, str, Any]:
    """Number, status and value."""
    return _decode_answer(data)


def write_answer(number: int, status: str, value: Any) -> bytearray:
    """An answer; what cannot be sent is told in its place."""
    try:
        return encode([number, status, value])
    except Exception as error:
        return encode([number, "config", f"the answer cannot be sent: {error!s:.200}"])


# ---------------------------------------------------------------------- versions


def versions_of(env_id: str) -> dict[str, str | None]:
    """Of agentrl, and of the package that an environment comes from, where that is another one and installed here."""
    backends = {entry.id: entry.backend for entry in known()}
    package = backends.get(env_id, "")
    found = None
    if package.startswith("package "):
        try:
            found = metadata.version(package.removeprefix("package "))
        except metadata.PackageNotFoundError:
            found = None
    return {"agentrl": agentrl.__version__, "environment": found}


def check_versions(env_id: str, theirs: dict[str, str | None]) -> None:
    """`ConfigError` where a client would play another version than it thinks."""
    ours = versions_of(env_id)
    for name, what in (("agentrl", "agentrl"), ("environment", f"the package of {env_id}")):
        here, there = ours[name], theirs.get(name)
        if here != there and (name == "agentrl" or (here and there)):
            raise ConfigError(f"{what} must have the same version on both sides; got {there} there and {here} here")
