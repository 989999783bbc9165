"""Save and continue a whole stack: the environment and every wrapper around it.

A blob is a checksum followed by msgpack: what it was taken from (the identity), then the data. Nothing is
pickled, so a blob from an untrusted place can at worst be refused.

A wrapper with state of its own implements the same two methods as an environment, `snapshot() -> bytes` and
`restore(bytes)`, for its own part only; for Gymnasium's wrappers the two are kept in a table here. A wrapper whose
constructor alone sets attributes, to numbers and text, has no state and needs neither.
"""

from __future__ import annotations

import dis
import hashlib
import json
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from types import CodeType
from typing import Any

import gymnasium as gym
import msgspec
import numpy as np
from gymnasium import wrappers as gw

from agentrl.core.errors import SnapshotError, SnapshotUnsupported
from agentrl.core.secrecy import scrub, secrets_in

MAGIC = b"AGRL1"
DIGEST_SIZE = 16


def seal_blob(identity: dict[str, Any], data: dict[str, Any]) -> bytes:
    """Pack data with the identity of what it came from and a checksum over both."""
    body = msgspec.msgpack.encode({"identity": identity, "data": data})
    return MAGIC + hashlib.blake2b(body, digest_size=DIGEST_SIZE).digest() + body


def open_blob(blob: Any, identity: dict[str, Any]) -> dict[str, Any]:
    """The data of a blob that is whole and comes from an equal identity; `SnapshotError` otherwise."""
    if not isinstance(blob, (bytes, bytearray, memoryview)):
        raise SnapshotError(f"a snapshot must be bytes; got {type(blob).__name__}")
    blob = bytes(blob)
    head = len(MAGIC) + DIGEST_SIZE
    if not blob.startswith(MAGIC) or len(blob) < head:
        raise SnapshotError("not a snapshot (or one of another format version)")
    body = blob[head:]
    if hashlib.blake2b(body, digest_size=DIGEST_SIZE).digest() != blob[len(MAGIC) : head]:
        raise SnapshotError("the snapshot is damaged: its checksum does not match")
    try:
        content = msgspec.msgpack.decode(body)
        theirs, data = content["identity"], content["data"]
    except (msgspec.MsgspecError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise SnapshotError(f"the snapshot cannot be read: {error}") from error
    if theirs != msgspec.msgpack.decode(msgspec.msgpack.encode(identity)):
        raise SnapshotError(f"the snapshot was taken elsewhere: {_difference(theirs, identity)}")
    return data


def _difference(theirs: Any, ours: Any, path: str = "") -> str:
    """The first place where two identities differ, in words."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in {**theirs, **ours}:
            if theirs.get(key) != ours.get(key):
                return _difference(theirs.get(key), ours.get(key), f"{path}.{key}" if path else str(key))
    return f"{path} is {theirs!r} there and {ours!r} here"


# ---------------------------------------------------------------------- the whole stack


def snapshot(env: gym.Env) -> bytes:
    """Everything the future of `env` depends on, wrappers included."""
    layers, base = _layers(env)
    if not hasattr(base, "snapshot"):
        raise SnapshotUnsupported(f"{type(base).__name__} has no snapshot(); only agentrl environments can be saved")
    data = [_save_layer(layer) for layer in layers]
    return seal_blob(_stack_identity(env, layers), {"layers": data, "env": base.snapshot()})


def restore(env: gym.Env, blob: bytes) -> None:
    """Continue `env` from a blob taken from an equal stack, in this process or another."""
    layers, base = _layers(env)
    if not hasattr(base, "restore"):
        raise SnapshotUnsupported(f"{type(base).__name__} has no restore(); only agentrl environments can be continued")
    data = open_blob(blob, _stack_identity(env, layers))
    before = [_save_layer(layer) for layer in layers]
    try:
        for layer, saved in zip(layers, data["layers"], strict=True):
            _load_layer(layer, saved)
        base.restore(data["env"])  # last, as the base alone promises to be unchanged if it fails
    except Exception as error:
        for layer, saved in zip(layers, before, strict=True):
            _load_layer(layer, saved)
        if isinstance(error, SnapshotError):
            raise
        raise SnapshotError(f"the snapshot does not fit this stack of wrappers: {error}") from error


def snapshot_layers(env: gym.Env) -> list[bytes]:
    """What each wrapper of `env` remembers, outermost first: all that outlives a seeded reset.

    The environment below is left out, so this works before the first reset, and around environments that cannot be
    saved.
    """
    layers, _ = _layers(env)
    return [seal_blob(_layer_identity(env, layer), {"layer": _save_layer(layer)}) for layer in layers]


def restore_layers(env: gym.Env, blobs: Sequence[bytes]) -> None:
    """Inverse of `snapshot_layers`, for an equal stack; the environment below must be reset before it is played."""
    layers, _ = _layers(env)
    if len(blobs) != len(layers):
        raise SnapshotError(f"the snapshot has {len(blobs)} wrappers; here are {len(layers)}")
    saved = [open_blob(blob, _layer_identity(env, layer)) for layer, blob in zip(layers, blobs, strict=True)]
    before = [_save_layer(layer) for layer in layers]
    try:
        for layer, data in zip(layers, saved, strict=True):
            _load_layer(layer, data["layer"])
    except Exception as error:
        for layer, blob in zip(layers, before, strict=True):
            _load_layer(layer, blob)
        raise SnapshotError(f"the snapshot does not fit this stack of wrappers: {error}") from error


def _layer_identity(env: gym.Env, layer: gym.Wrapper) -> dict[str, Any]:
    return {**_stack_identity(env, []), **_describe(layer)}


def _layers(env: gym.Env) -> tuple[list[gym.Wrapper], Any]:
    layers = []
    while isinstance(env, gym.Wrapper):
        layers.append(env)
        env = env.env
    return layers, env


def _stack_identity(env: gym.Env, layers: list[gym.Wrapper]) -> dict[str, Any]:
    spec = env.unwrapped.spec
    return {"id": spec.id if spec else type(env.unwrapped).__name__, "wrappers": [_describe(layer) for layer in layers]}


def _describe(layer: gym.Wrapper) -> dict[str, Any]:
    """Class and JSON-able constructor arguments; functions and live objects count by their type alone."""
    given = getattr(layer, "_saved_kwargs", {})
    arguments = json.loads(json.dumps(given, default=lambda value: type(value).__name__))
    if any(secrets_in(arguments)):  # snapshots end up in checkpoints
        arguments = scrub(arguments)
    return {"wrapper": type(layer).__name__, "arguments": arguments}


Save = Callable[[Any], bytes]
Load = Callable[[Any, bytes], None]
_KNOWN: dict[type, tuple[Save, Load]] = {}


def register_wrapper(wrapper: type, save: Save, load: Load) -> None:
    """Teach snapshots about a wrapper class that cannot carry the two methods itself."""
    _KNOWN[wrapper] = (save, load)


def save_attributes(wrapper: Any, *names: str) -> bytes:
    """The named attributes as bytes: numbers, strings, lists, dicts, arrays and deques of those."""
    return msgspec.msgpack.encode({name: _pack(getattr(wrapper, name)) for name in names})


def load_attributes(wrapper: Any, blob: bytes, *names: str) -> None:
    """Inverse of `save_attributes`; sets nothing unless everything can be read and is of the kind that is there now."""
    data = msgspec.msgpack.decode(blob)
    values = {name: _unpack(data[name]) for name in names}
    for name, value in values.items():
        now = getattr(wrapper, name)
        if value is not None and now is not None and _kind(value) != _kind(now):
            raise ValueError(f"{name} must be {_kind(now)}; got {_kind(value)}")
    for name, value in values.items():
        setattr(wrapper, name, value)


def _kind(value: Any) -> str:
    """What sort of value this is; numbers are of one kind, as are lists and tuples."""
    if isinstance(value, (bool, int, float, np.generic)):
        return "a number"
    if isinstance(value, deque):
        return f"a deque of at most {value.maxlen}"
    return "a list" if isinstance(value, (list, tuple)) else type(value).__name__


def _remember(wrapper: type, *names: str) -> None:
    """A Gymnasium wrapper whose state is these attributes."""
    register_wrapper(
        wrapper, lambda layer: save_attributes(layer, *names), lambda layer, blob: load_attributes(layer, blob, *names)
    )


def _pack(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return {"__array__": value.tobytes(), "dtype": value.dtype.str, "shape": list(value.shape)}
    if isinstance(value, deque):
        return {"__deque__": [_pack(item) for item in value], "maxlen": value.maxlen}
    if isinstance(value, dict):
        return {key: _pack(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_pack(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def _unpack(value: Any) -> Any:
    if isinstance(value, list):
        return [_unpack(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "__array__" in value:
        return np.frombuffer(value["__array__"], dtype=value["dtype"]).reshape(value["shape"]).copy()
    if "__deque__" in value:
        return deque((_unpack(item) for item in value["__deque__"]), maxlen=value["maxlen"])
    return {key: _unpack(item) for key, item in value.items()}


def _save_layer(layer: gym.Wrapper) -> bytes:
    # Looked up on the class: an instance might forward the name to what it wraps.
    if save := getattr(type(layer), "snapshot", None):
        return save(layer)
    if type(layer) in _KNOWN:
        return _KNOWN[type(layer)][0](layer)
    if type(layer) in _STATELESS:
        return b""
    if not (_varying(layer) or any(map(_stores, _methods(type(layer))))):
        return b""
    raise SnapshotUnsupported(
        f"the state of wrapper {type(layer).__name__} cannot be saved: give it snapshot() and restore(), "
        "or call agentrl.core.snapshot.register_wrapper"
    )


def _varying(layer: gym.Wrapper) -> list[str]:
    """Attributes of a wrapper's own that are not numbers, text or tuples of these: they may change in place."""

    def fixed(value: Any) -> bool:
        if isinstance(value, (tuple, frozenset)):
            return all(map(fixed, value))
        return value is None or isinstance(value, (str, bytes, int, float, complex, np.generic))

    usual = {*vars(gym.Wrapper(layer.env)), "_saved_kwargs"}
    return [name for name, value in vars(layer).items() if name not in usual and not fixed(value)]


def _methods(wrapper: type[gym.Wrapper]) -> Iterator[CodeType]:
    """The code of all methods of a wrapper but constructors and what Gymnasium's own base class has."""
    for cls in wrapper.__mro__:
        for name, member in vars(cls).items() if cls not in gym.Wrapper.__mro__ else ():
            function = getattr(member, "__func__", getattr(member, "fget", member))
            if name != "__init__" and isinstance(code := getattr(function, "__code__", None), CodeType):
                yield code


def _stores(code: CodeType) -> bool:
    """Does it set an attribute or a global variable, as far as can be seen?"""
    if any(step.opname in ("STORE_ATTR", "DELETE_ATTR", "STORE_GLOBAL") for step in dis.get_instructions(code)):
        return True
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return bool({"setattr", "__setattr__", "__dict__", "vars"} & set(code.co_names)) or any(map(_stores, inner))


def _load_layer(layer: gym.Wrapper, blob: bytes) -> None:
    if load := getattr(type(layer), "restore", None):
        load(layer, blob)
    elif type(layer) in _KNOWN:
        _KNOWN[type(layer)][1](layer, blob)


_STATELESS = {
    gw.TransformObservation, gw.FilterObservation, gw.FlattenObservation, gw.GrayscaleObservation,
    gw.ResizeObservation, gw.ReshapeObservation, gw.RescaleObservation, gw.DtypeObservation,
    gw.AddRenderObservation, gw.TransformAction, gw.ClipAction, gw.RescaleAction, gw.TransformReward,
    gw.ClipReward,
}  # fmt: skip


_remember(gw.OrderEnforcing, "_has_reset")
_remember(gw.TimeLimit, "_elapsed_steps")
_remember(gw.Autoreset, "autoreset")
_remember(gw.TimeAwareObservation, "timesteps")
_remember(gw.FrameStackObservation, "obs_queue")


def _load_checker(layer: Any, blob: bytes) -> None:
    # A checker that has seen no reset would compare the first step after the restore with nothing, and raise.
    if getattr(layer, "_previous_data", ()) is None:
        layer.checked_step = layer.checked_data_reuse = True


# The checker only remembers what it has looked at already: nothing that the future depends on.
register_wrapper(gw.PassiveEnvChecker, lambda layer: b"", _load_checker)

_STATISTICS = ("episode_count", "episode_returns", "episode_lengths", "time_queue", "return_queue", "length_queue")


def _load_statistics(layer: Any, blob: bytes) -> None:
    load_attributes(layer, blob, *_STATISTICS)
    layer.episode_start_time = time.perf_counter()  # clocks do not travel


register_wrapper(gw.RecordEpisodeStatistics, lambda layer: save_attributes(layer, *_STATISTICS), _load_statistics)
