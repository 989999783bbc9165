"""The command `agentrl`: an interrupt ends it in one line, also while Python still imports the package."""

import os
import signal
import sys
from types import FrameType


def _leave(number: int, frame: FrameType | None) -> None:
    """At once: an exception in the middle of an import may be caught there and be taken for something else."""
    os.write(2, b"agentrl: interrupted\n")
    os._exit(130)


_before = signal.getsignal(signal.SIGINT)  # ignored in some jobs in the background, and that stays so
if _before is signal.default_int_handler:
    signal.signal(signal.SIGINT, _leave)


def main() -> int:
    """Run the command; its exit status."""
    from agentrl.cli.main import main as run

    signal.signal(signal.SIGINT, _before)
    try:
        return run()
    except KeyboardInterrupt:
        print("agentrl: interrupted", file=sys.stderr)
        return 130
