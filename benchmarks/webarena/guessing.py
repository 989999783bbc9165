"""What players earn that answer without doing the work (`agentrl.envs.webarena.guessers`), in tasks that ask for an
answer: the share of a split, and the template where each does best.

python -m benchmarks.webarena.guessing [PREFIX] [--instances N] [--split test]
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict

from agentrl.envs.webarena.env import WebArenaLiteEnv
from agentrl.envs.webarena.evaluators.evaluate import evaluate
from agentrl.envs.webarena.guessers import BLIND, STRATEGIES, guess
from agentrl.envs.webarena.oracle import right_action, text_of
from agentrl.envs.webarena.tasks.generated import find_generated, templates
from benchmarks.webarena.templates import tasks_of

TURNS = 30


class Rates:
    """How often each player was right, by template."""

    def __init__(self) -> None:
        self.tasks: Counter[str] = Counter()
        self.passed: dict[str, Counter[str]] = defaultdict(Counter)

    def add(self, strategy: str, template: str, passed: bool) -> None:
        """Count an answer."""
        self.passed[strategy][template] += passed

    def share(self, strategy: str) -> float:
        """Of all tasks."""
        return self.passed[strategy].total() / max(1, self.tasks.total())

    def best(self, strategy: str) -> tuple[float, str]:
        """The largest share within a template."""
        return max((self.passed[strategy][name] / count, name) for name, count in self.tasks.items())


def string_tasks(split: str, prefix: str = "", instances: int = 10**9) -> list[str]:
    """Tasks that ask for an answer, at most so many of each template."""
    found: list[str] = []
    for name in templates():
        ids = tasks_of(name, split, instances) if name.startswith(prefix) else []
        first = find_generated(ids[0]) if ids else None
        if first is not None and "string_match" in first.official()["eval"]["eval_types"]:
            found += ids
    return found


def play(env: WebArenaLiteEnv, task_id: str, rates: Rates) -> None:
    """One task: the guesses on its first page, then the oracle's way, and the guesses at its end."""
    env.reset(options={"task": task_id})
    found = find_generated(task_id)
    assert found is not None
    task, name = env._current.task, found.template.name
    rates.tasks[name] += 1
    pages = [text_of(env.backend.view().root)]

    def passes(answer: str) -> bool:
        return evaluate(task, answer, env.backend).score == 1.0

    for strategy in BLIND:
        rates.add(strategy, name, passes(guess(strategy, found.template, pages)))
    for _ in range(TURNS):
        action = right_action(found, env.backend, env.world, env.dialect)
        if action is None or action.ends:
            break
        env.step(env.action_name(action))
        pages.append(text_of(env.backend.view().root))
    for strategy in STRATEGIES[len(BLIND) :]:
        rates.add(strategy, name, passes(guess(strategy, found.template, pages)))
    rates.add("oracle", name, action is not None and passes(action.answer))


def measure(split: str = "test", prefix: str = "", instances: int = 10**9) -> Rates:
    """All players on all these tasks."""
    rates, env = Rates(), WebArenaLiteEnv(split=split)
    for task_id in string_tasks(split, prefix, instances):
        play(env, task_id, rates)
    env.close()
    return rates


def main() -> int:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("prefix", nargs="?", default="")
    parser.add_argument("--instances", type=int, default=10**9, help="of each template")
    parser.add_argument("--split", default="test")
    arguments = parser.parse_args()
    rates = measure(arguments.split, arguments.prefix, arguments.instances)
    print(f"{rates.tasks.total()} tasks of {len(rates.tasks)} templates, split {arguments.split}")
    for strategy in (*STRATEGIES, "oracle"):
        most, name = rates.best(strategy)
        print(f"| {strategy} | {100 * rates.share(strategy):.1f} % | {100 * most:.0f} % ({name}) |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
