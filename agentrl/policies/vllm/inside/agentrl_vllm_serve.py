"""Starts vLLM's own server so that it ends with its parent process: `python agentrl_vllm_serve.py OPTIONS...`."""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading

SERVER = "vllm.entrypoints.openai.api_server"


def leave_with_parent() -> None:
    """Wait until the other end of our standard input goes away, then end the whole process group."""
    while os.read(0, 4096):
        pass
    os.killpg(0, signal.SIGKILL)


def main() -> None:
    """Serve until ended."""
    threading.Thread(target=leave_with_parent, daemon=True).start()
    sys.argv[0] = SERVER
    runpy.run_module(SERVER, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
