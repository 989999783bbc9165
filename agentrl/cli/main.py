"""`agentrl VERB ...`: finds the verb's file and turns errors into one line.

Nothing but the chosen verb is imported, so that `agentrl -h` answers at once.
"""

from __future__ import annotations

import errno
import json
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module

from agentrl.cli.examples import OVERVIEW
from agentrl.core.measure import IN_CHECKOUT
from agentrl.registry import Site, parts

# A family's row may give its site a verb of its own.
SHORT_FORMS: dict[str, Site] = {site.verb: site for site in parts("sites").values() if site.verb}
# A disk that is full or broken is no mistake of whoever typed the command.
DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
VERBS: dict[str, str] = {
    "list": "list the environments and whether they are available here",
    "info": "one environment: spaces, arguments, limits, prompt",
    "play": "play an environment yourself in the terminal",
    "eval": "evaluate a policy: success, reward, validity, with 95 % intervals",
    "judge": "judge a file of trajectories, or measure the agreement of two judges",
    "orm": "measure judges of outcomes against the true evaluator",
    "train": "train a policy: imitation, PPO, StepPO, GRPO and others; resume, recipes",
    "plan": "simulate an asynchronous run: options for this machine, or 8 to 256 GPUs",
    "recipe": "training runs that come with the package: list, show, copy to edit",
    "check": "test an environment with the public test kit",
    "bench": "benchmark speed against other libraries",
    "setup": "fetch what an environment needs beside Python packages, once",
    "tasks": "propose training tasks like given ones, as a curriculum would get them",
    "site": "serve an environment as a web site on this machine, for a person",
    **{verb: site.summary for verb, site in SHORT_FORMS.items()},
    "serve": "serve environments over WebSocket, for programs here or elsewhere",
    "serve-model": "serve a model on this machine as an OpenAI-compatible endpoint",
    "mcp": "let an assistant play an environment: an MCP server on stdin and stdout, or over HTTP",
    "gateway": "record what agents ask a model, as trajectories to train on",
    "report": "write the page about a training run, or pages about the episodes of a file",
    "export": "write saved episodes as a data set of another library: lerobot",
    "record": "let a policy play and save its episodes as GIF, MP4 and web page",
    "env": "versions, extras, GPUs and caches of this machine, for a bug report",
    "completion": "print the completion of bash, zsh or fish for this command",
    "demo": "train a tiny model in minutes: imitation, then reinforcement learning; a report and a GIF",
}
MODULE = re.compile(r"(?<![\w./:-])([^\W\d]\w*(?:\.[^\W\d]\w*)*):(?=[^\W\d])")  # module:id, module:Class
if not IN_CHECKOUT and all(part.path.startswith("benchmarks.") for part in parts("benches").values()):
    del VERBS["bench"]  # agentrl's own benchmarks live in its checkout, and no installed family brings one


def overview() -> str:
    """What `agentrl -h` prints."""
    lines = [f"  {verb:<13}{summary}" for verb, summary in VERBS.items()]
    head = (
        "usage: agentrl VERB [options]\n\nMulti-turn text and visual environments for LLM and VLM agents.\n\nverbs:\n"
    )
    tail = "Every verb takes --json (one object on stdout) and -h (its own options)."
    return head + "\n".join(lines) + f"\n\n{OVERVIEW}\n\n{tail}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; the exit status: 0 done, 1 failed, 2 wrong usage."""
    words = list(sys.argv[1:] if argv is None else argv)
    if sys.stderr is None:  # closed; `print` would write into stdout instead
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 (until the process ends)
    if sys.stdout is None:
        return _fail("the standard output is closed", [])
    try:
        try:
            return _run(words)
        finally:
            sys.stdout.flush()
    except OSError as error:
        # The reader (head, less) has gone, or the disk is full. Python would complain once more on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1 if isinstance(error, BrokenPipeError) else _fail(str(error), words)


def _run(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help", "help"):
        print(overview())
        return 0
    if words[0] in ("-V", "--version"):
        from agentrl import __version__

        print(f"agentrl {__version__}")
        return 0
    from gymnasium.error import Error as GymnasiumError

    from agentrl.cli.arguments import parse
    from agentrl.core.errors import AgentRLError, ConfigError, did_you_mean

    verb, options = words[0], words[1:]
    if verb not in VERBS:
        return _fail(f"unknown verb {verb!a}.{did_you_mean(verb, VERBS)} See: agentrl -h", options, status=2)
    try:
        reach_own_modules(verb, options)
        site = SHORT_FORMS.get(verb)
        module = import_module(f"agentrl.cli.{'site' if site else verb.replace('-', '_')}")
        if site is not None:
            return module.run_short(site, parse(module.short_arguments(site), verb, options))
        if verb == "train":  # knows its options only once it knows the algorithm
            return module.run(module.parse(options))
        return module.run(parse(module.Arguments, verb, options))
    except ConfigError as error:
        return _fail(str(error), options, status=1 if getattr(error.__cause__, "errno", None) in DISK else 2)
    except (AgentRLError, GymnasiumError) as error:
        return _fail(str(error), options)
    except KeyboardInterrupt:
        return _fail("interrupted", options, status=130)


def reach_own_modules(verb: str, options: Sequence[str]) -> None:
    """Let a module of the working folder be found that these words name, as in `module:id` or {"wrapper":
    "module:Class"}. The folder comes last, and only then: what else lies in it must not stand in for a library."""
    named = {name for word in options for name in MODULE.findall(word)} | (set(options) if verb == "list" else set())
    places = [name.replace(".", os.sep) for name in named]
    if any(os.path.isfile(f"{place}.py") or os.path.isfile(f"{place}/__init__.py") for place in places):
        sys.path.append(os.getcwd())


def _fail(message: str, options: list[str], status: int = 1) -> int:
    from agentrl.core.redact import redact

    line = redact(" ".join(message.split()))
    print(f"agentrl: {line}", file=sys.stderr)
    if "--json" in options:
        print(json.dumps({"schema": 1, "error": line}))
    return status


if __name__ == "__main__":
    sys.exit(main())
