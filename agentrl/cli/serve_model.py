"""`agentrl serve-model MODEL`: an OpenAI-compatible endpoint over a transformers model, on this machine."""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import dataclass
from typing import Annotated

import msgspec
import tyro

from agentrl.cli.arguments import Common
from agentrl.cli.output import log, print_json
from agentrl.models.prompt_settings import read_settings
from agentrl.serve.model_server import ModelServer


@dataclass(kw_only=True)
class Arguments(Common):
    """Serve a model to clients on this machine as an OpenAI-compatible chat endpoint, until interrupted.

    Then, for example: agentrl eval ID --policy openai:NAME --base-url http://127.0.0.1:8000/v1
    """

    model: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="MODEL")]
    """A model folder, tiny-text, tiny-web, tiny-words, tiny-vlm or smollm2."""
    port: int = 8000
    """Port; 0 takes any free one."""
    host: str = "127.0.0.1"
    """A loopback address."""
    name: str = ""
    """Model name for clients; default: its own name or its folder's."""
    api_key_env: str = "AGENTRL_SERVE_KEY"
    """Environment variable with the API key that clients must send; while it is unset, no key is required."""
    max_batch: int = 64
    """Maximum number of requests in one forward pass."""
    device: str = "auto"
    """cpu, cuda, cuda:1 ..."""
    dtype: str = "auto"
    """float32, bfloat16 or float16."""


def run(arguments: Arguments) -> int:
    """Serve until a signal comes."""
    key = os.environ.get(arguments.api_key_env, "").strip() or None
    settings = read_settings(arguments.model)
    server = ModelServer(
        arguments.model,
        name=arguments.name or None,
        host=arguments.host,
        port=arguments.port,
        api_key=key,
        max_batch=arguments.max_batch,
        device=arguments.device,
        dtype=arguments.dtype,
    )
    ended = threading.Event()
    with server:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: ended.set())
        if arguments.json:
            facts = {"schema": 1, "base_url": server.base_url, "model": server.name, "key": key is not None}
            print_json(facts | ({} if settings is None else {"prompting": msgspec.to_builtins(settings)}))
        log(f"{server.name} listens at {server.base_url}; stop it with Ctrl-C")
        if settings is not None:
            options = f"--prompt-style {settings.prompt_style} --history {settings.history}"
            options += f" --strategy {settings.strategy}" if settings.strategy else ""
            options += f" --max-new-tokens {settings.max_new_tokens}"
            log(f"trained with: {options}; clients build prompts themselves, so give these to agentrl eval")
        if key is None:
            log(f"no API key is required from users of this machine; set {arguments.api_key_env} to require one")
        ended.wait()
    log("answered {answered} questions in {batches} batches".format(**server.counts))
    return 0
