"""Memory that this process and those that inherit its descriptor share."""

from __future__ import annotations

import os
import tempfile


def shared_memory(name: str, size: int) -> int:
    """The descriptor of so many bytes, for `mmap`. They have no name in any folder, so no file
    remains when a process dies. What is not written to takes no memory."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create(f"agentrl-{name}")
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.ftruncate(descriptor, size)
    return descriptor
