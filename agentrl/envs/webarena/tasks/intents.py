"""Tasks without an evaluator as ids: `intent:` and the base64 of a JSON object with intent, sites and start_url."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Collection, Sequence

import msgspec

from agentrl.core.errors import ConfigError
from agentrl.envs.webarena.tasks.schema import SITES, WebTask, task_from_json

PREFIX = "intent:"
MAX_LENGTH = 100_000  # characters of an id


def intent_id(intent: str, sites: Sequence[str], start_url: str = "", known: Collection[str] = SITES) -> str:
    """The id that `reset(options={"task": ...})` takes for an instruction of one's own; `known` are the names that
    sites may have."""
    try:
        task = task_from_json({"intent": intent, "sites": list(sites), "start_url": start_url}, known)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    text = msgspec.json.encode(task)
    return PREFIX + base64.urlsafe_b64encode(text).decode().rstrip("=")


def task_of_intent(task_id: str, sites: Collection[str] = SITES) -> WebTask:
    """The task that such an id holds; `ConfigError` for anything else."""
    if not task_id.startswith(PREFIX) or len(task_id) > MAX_LENGTH:
        raise ConfigError(f"task must be {PREFIX!r} and at most {MAX_LENGTH:,} characters; got {task_id[:80]!r}")
    code = task_id.removeprefix(PREFIX).rstrip("=").replace("+", "-").replace("/", "_")
    try:
        text = base64.b64decode(code + "=" * (-len(code) % 4), altchars=b"-_", validate=True).decode()
        task = task_from_json(json.loads(text), sites)
    except (binascii.Error, UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        raise ConfigError(f"task must be {PREFIX!r} and the base64 of a JSON object; got {task_id[:80]!r}") from None
    except ValueError as error:
        raise ConfigError(f"the task in {task_id[:40]!r}: {error}") from None
    return task
