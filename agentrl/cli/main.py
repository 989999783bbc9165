"""`agentrl VERB ...`: finds the verb's file and turns errors into one line.

Nothing but the chosen verb is imported, so that `agentrl -h` answers at once.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from importlib import import_module

VERBS: dict[str, str] = {
    "list": "the environments, and which of them can be used here",
    "info": "all about one environment: spaces, arguments, limits, prompt",
    "play": "play an environment yourself in the terminal",
    "eval": "measure a policy: success, reward, validity, with 95 % intervals",
    "judge": "judge a file of trajectories again, or see how far two judges agree",
    "train": "train a policy: imitation, PPO, StepPO; resume, recipes",
    "recipe": "training runs that come with the package: list, show, copy to edit",
    "check": "put an environment, or the judges, through the public test kit",
    "bench": "measure speed beside other libraries",
    "shop": "serve WebShop as a web page, to shop yourself",
    "serve-model": "serve a model on this machine as an OpenAI-compatible endpoint",
    "report": "write the page about a training run: curves, episodes, timing",
    "record": "save episodes as GIF, MP4 or a web page",
    "demo": "imitation, then reinforcement learning, of a tiny model in minutes; a report and a film",
}

EXAMPLES = """examples:
  agentrl list
  agentrl play agentrl/Sokoban-Visual-v0
  agentrl eval agentrl/FrozenLake-Text-v0 --policy random --episodes 200 --json
  agentrl train --recipe frozenlake-demo"""


def overview() -> str:
    """What `agentrl -h` prints."""
    lines = [f"  {verb:<13}{summary}" for verb, summary in VERBS.items()]
    head = (
        "usage: agentrl VERB [options]\n\nMulti-turn text and visual environments for LLM and VLM agents.\n\nverbs:\n"
    )
    tail = "Every verb takes --json (one object on stdout) and -h (its own options)."
    return head + "\n".join(lines) + f"\n\n{EXAMPLES}\n\n{tail}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; the exit status: 0 done, 1 failed, 2 wrong usage."""
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or words[0] in ("-h", "--help", "help"):
        print(overview())
        return 0
    if words[0] in ("-V", "--version"):
        from agentrl import __version__

        print(f"agentrl {__version__}")
        return 0
    verb, options = words[0], words[1:]
    if verb not in VERBS:
        from agentrl.core.errors import did_you_mean

        return _fail(f"there is no verb {verb!a}.{did_you_mean(verb, VERBS)} See: agentrl -h", options, status=2)
    return _run(verb, options)


def _run(verb: str, options: list[str]) -> int:
    from gymnasium.error import Error as GymnasiumError

    from agentrl.cli.arguments import parse
    from agentrl.core.errors import AgentRLError

    try:
        module = import_module(f"agentrl.cli.{verb.replace('-', '_')}")
        # `train` knows its options only once it knows the algorithm, and reads its words by itself.
        custom = verb == "train"
        status = module.run(module.parse(options) if custom else parse(module.Arguments, verb, options))
        sys.stdout.flush()
        return status
    except (AgentRLError, GymnasiumError) as error:
        return _fail(str(error), options)
    except KeyboardInterrupt:
        return _fail("interrupted", options, status=130)
    except BrokenPipeError:
        # The reader (head, less) has gone. Python would complain once more on exit, into the same closed pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _fail(message: str, options: list[str], status: int = 1) -> int:
    line = " ".join(message.split())
    print(f"agentrl: {line}", file=sys.stderr)
    if "--json" in options:
        print(json.dumps({"schema": 1, "error": line}))
    return status


if __name__ == "__main__":
    sys.exit(main())
