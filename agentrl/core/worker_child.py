"""The child's side of `agentrl.core.worker`, and the frames both sides speak.

The parent runs this file by its path, perhaps with the interpreter of another virtual environment. So it needs nothing
but msgspec and the standard library of Python 3.9 or later, and never imports agentrl itself; the target may.

A frame is a 4-byte big-endian length and that many bytes of msgpack. Arrays travel as an extension type. A request is
`[method, args, kwargs]`; an answer is `["ok", value]` or `[reason, summary, traceback]`.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__" and sys.path and os.path.abspath(sys.path[0]) == os.path.dirname(os.path.abspath(__file__)):
    sys.path.pop(0)  # a script's own folder comes first; ours would offer `errors`, `state`, ... to every import

import signal
import struct
import traceback
from importlib import import_module
from typing import Annotated, Any

try:
    import msgspec
except ImportError:
    if __name__ == "__main__":
        sys.exit(f"a worker needs msgspec, which {sys.executable} lacks; run: {sys.executable} -m pip install msgspec")
    raise

HEADER = struct.Struct(">I")
ARRAY_CODE = 1
# No objects (they would need pickle) and no records (their dtype does not fit into one string).
ARRAY_KINDS = "biufcSUmM"
CHUNK = 1 << 20
MAX_TEXT = 4000
PR_SET_PDEATHSIG = 1


# ---------------------------------------------------------------------- values


def _encode_other(value: Any) -> Any:
    """What msgpack lacks: numpy's arrays and numbers."""
    numpy = sys.modules.get("numpy")  # who never imported numpy has no arrays to send
    if numpy is not None and isinstance(value, numpy.ndarray) and value.dtype.kind in ARRAY_KINDS:
        content = [value.dtype.str, list(value.shape), value.tobytes()]
        return msgspec.msgpack.Ext(ARRAY_CODE, encode(content))
    if numpy is not None and isinstance(value, numpy.generic) and value.dtype.kind in "biufSU":
        return value.item()
    raise TypeError(f"{type(value).__module__}.{type(value).__qualname__} cannot be sent")


_array_content = msgspec.msgpack.Decoder(tuple[str, list[Annotated[int, msgspec.Meta(ge=0)]], bytearray])


def decode_extension(code: int, data: memoryview) -> Any:
    """An array, from the extension that it travels as."""
    if code != ARRAY_CODE:
        raise ValueError(f"unknown extension {code}")
    import numpy

    dtype, shape, raw = _array_content.decode(data)
    if numpy.dtype(dtype).kind not in ARRAY_KINDS:
        raise ValueError(f"no array of {dtype} may be sent")
    return numpy.ndarray(shape, dtype, raw)  # over a bytearray of its own, so it can be written to


_encoder = msgspec.msgpack.Encoder(enc_hook=_encode_other)


def encode(value: Any) -> bytearray:
    """A value as msgpack. Into a buffer of ours: `Encoder.encode` crashes where memory runs out, this raises."""
    buffer = bytearray()
    _encoder.encode_into(value, buffer)
    return buffer


decode = msgspec.msgpack.Decoder(ext_hook=decode_extension).decode


# ---------------------------------------------------------------------- the two pipes


def take_over_pipes() -> tuple[int, int]:
    """Move the frames to descriptors of their own: whatever the target prints or reads cannot touch them."""
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    # So that a crash loses no line.
    sys.stdout.reconfigure(line_buffering=True)  # pyright: ignore[reportAttributeAccessIssue]  (typed as any TextIO)
    return requests, answers


def read_frame(descriptor: int) -> bytearray | None:
    """The next request; None when the parent closed the pipe or died."""
    header = _read_exactly(descriptor, HEADER.size)
    return None if header is None else _read_exactly(descriptor, HEADER.unpack(header)[0])


def _read_exactly(descriptor: int, size: int) -> bytearray | None:
    data = bytearray()
    while len(data) < size:
        chunk = os.read(descriptor, min(size - len(data), CHUNK))
        if not chunk:
            return None
        data += chunk
    return data


def write_frame(descriptor: int, payload: bytearray) -> None:
    """Send one answer."""
    for part in frame_parts(payload):
        rest = memoryview(part)
        while rest:
            rest = rest[os.write(descriptor, rest) :]


def frame_parts(payload: bytearray) -> tuple[bytes | bytearray, ...]:
    """A small frame in one piece (one wake-up of the reader), a large one in two (no second copy of it)."""
    header = HEADER.pack(len(payload))
    return (header + payload,) if len(payload) < CHUNK else (header, payload)


# ---------------------------------------------------------------------- the target


def load_target(start: dict[str, Any]) -> Any:
    """Import what `module:attribute` names and call it with the constructor's arguments."""
    sys.path[:] = start["replace_path"] or start["path"] + sys.path
    if start["memory_limit"] is not None:
        import resource

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (start["memory_limit"], hard))
    module, _, attribute = start["target"].partition(":")
    found: Any = import_module(module)
    for name in attribute.split("."):
        found = getattr(found, name)
    return found(*start["args"], **start["kwargs"])


def answer(target: Any, request: bytearray, max_frame: int) -> bytearray:
    """Run one request; always gives an answer, whatever the target does short of killing the process."""
    try:
        method, args, kwargs = decode(request)
        found = getattr(target, method)
        value = found(*args, **kwargs) if callable(found) else found
    except MemoryError:
        return _out_of_memory()
    except BaseException as error:  # sys.exit() in a target must not look like a crash
        return describe("raised", error)
    try:
        payload = encode(["ok", value])
    except MemoryError:
        return _out_of_memory()
    except Exception as error:
        return describe("protocol", error)
    if len(payload) > max_frame:
        return encode(["protocol", f"the answer has {len(payload)} bytes, max_frame allows {max_frame}", ""])
    return payload


def _out_of_memory() -> bytearray:
    return encode(["memory", "out of memory", ""])


def describe(reason: str, error: BaseException) -> bytearray:
    """An exception as an answer; its text may be hostile as well."""
    try:
        summary = f"{type(error).__name__}: {error}"
    except Exception:
        summary = type(error).__name__
    try:
        lines = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    except Exception:
        lines = ""
    return encode([reason, _sendable(summary[:MAX_TEXT]), _sendable(lines[-MAX_TEXT:])])


def _sendable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")  # half surrogates have no UTF-8


# ---------------------------------------------------------------------- the process


def die_with_parent(requests: int) -> None:
    """Let nothing outlive the parent, not even a target that hangs."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    else:
        watch_for_parent(requests)


def watch_for_parent(requests: int) -> None:
    """Where the kernel does not help: a thread that waits for the other end of the pipe to go away."""
    import select
    import threading

    def watch() -> None:
        poll = select.poll()
        poll.register(requests, 0)  # hang-ups and errors are always reported
        poll.poll()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def main() -> int:
    """Start the target, then answer requests until the parent is gone."""
    import faulthandler

    requests, answers = take_over_pipes()
    die_with_parent(requests)
    faulthandler.enable()  # a segmentation fault leaves a traceback on stderr
    opening = read_frame(requests)
    if opening is None:
        return 0
    start = decode(opening)
    try:
        target = load_target(start)
    except BaseException as error:
        write_frame(answers, describe("start", error))
        return 1
    write_frame(answers, encode(["ok", None]))
    return serve(target, requests, answers, start["max_frame"])


def serve(target: Any, requests: int, answers: int, max_frame: int) -> int:
    """Answer until the parent closes the pipe."""
    while True:
        try:
            request = read_frame(requests)
        except MemoryError:  # half of it is still in the pipe: say so and leave
            write_frame(answers, _out_of_memory())
            return 1
        if request is None:
            return 0
        write_frame(answers, answer(target, request, max_frame))


if __name__ == "__main__":
    sys.exit(main())
