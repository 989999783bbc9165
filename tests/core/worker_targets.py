"""What the supervised workers of the tests run: a target for every way of going wrong."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time


class Target:
    """Well-behaved and ill-behaved methods side by side."""

    label = "a public attribute"
    _secret = "not for callers"

    def __init__(self, start: int = 0, **others: object) -> None:
        self.count = start
        self.others = others

    def add(self, amount: int = 1) -> int:
        self.count += amount
        return self.count

    def echo(self, *args: object, **kwargs: object) -> list:
        return [list(args), kwargs]

    def describe_array(self, array: object) -> list:
        return [type(array).__name__, str(array.dtype), list(array.shape), array.tolist(), array.flags.writeable]

    def picture(self) -> object:
        import numpy as np

        return np.arange(24, dtype=np.uint8).reshape(2, 4, 3)[:, ::-1]

    def numpy_values(self) -> list:
        import numpy as np

        return [np.float32(0.5), np.int64(-3), np.bool_(True)]

    def objects(self) -> object:
        import numpy as np

        return np.array([object()])

    def loaded(self, module: str) -> bool:
        return module in sys.modules

    def search_path(self) -> list:
        return list(sys.path)

    def variable(self, name: str) -> str | None:
        return os.environ.get(name)

    def pid(self) -> int:
        return os.getpid()

    def sleep(self, seconds: float) -> str:
        time.sleep(seconds)
        return "slept"

    def hang_in_c(self) -> None:
        ctypes.PyDLL(None).sleep(600)  # keeps the interpreter's lock: no Python code of this process runs meanwhile

    def leave(self, status: int) -> None:
        os._exit(status)

    def exit(self, status: int) -> None:
        sys.exit(status)

    def kill_itself(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def crash(self) -> None:
        ctypes.string_at(0)

    def bomb(self) -> int:
        hoard = []
        while True:
            hoard.append(bytearray(16 << 20))

    def fail(self, message: str) -> None:
        raise ValueError(message)

    def fail_strangely(self) -> None:
        class Strange(Exception):
            def __str__(self) -> str:
                raise RuntimeError("no text for you")

        raise Strange

    def talk(self, megabytes: int) -> str:
        for _ in range(megabytes):
            print("x" * (1 << 20))
        os.write(1, b"straight to the descriptor")
        subprocess.run([sys.executable, "-c", "print('from a grandchild')"], check=True)
        return "done"

    def listen(self) -> str:
        return sys.stdin.read()

    def unsendable(self) -> object:
        return object()

    def large(self, size: int) -> bytes:
        return bytes(size)

    def spawn(self) -> int:
        return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid

    def fork_and_die(self) -> None:
        if os.fork() == 0:
            time.sleep(600)  # holds every pipe of its parent open
        os._exit(5)

    def close_the_pipes(self) -> None:
        os.closerange(3, 64)

    def chatter_after(self) -> None:
        import threading

        def chatter() -> None:
            while True:
                os.write(2, b"chatter " * 1024)

        threading.Thread(target=chatter, daemon=True).start()


def make(**kwargs: object) -> Target:
    """A function as a target."""
    return Target(**kwargs)


class Outer:
    """Holds a nested target."""

    class Inner(Target):
        """Reached by a dotted name."""


class CannotStart:
    """Raises in its constructor."""

    def __init__(self) -> None:
        raise LookupError("no licence found")


class StartsForEver:
    """Never gets ready."""

    def __init__(self) -> None:
        time.sleep(600)


class DiesAtStart:
    """Ends the process in its constructor."""

    def __init__(self) -> None:
        print("about to leave", file=sys.stderr)
        os._exit(7)


class Tidy:
    """Writes a file when its process ends in good order."""

    def __init__(self, path: str) -> None:
        import atexit

        atexit.register(lambda: open(path, "w").close())

    def ready(self) -> bool:
        return True
