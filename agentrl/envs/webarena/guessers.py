"""Players that answer without doing the work: what they reach, tasks and evaluators give away.

Some never browse: they answer with a word, with a list of everything that answers are like, with all answers of the
template, with its commonest answer in training, or with what the first page says. Two go the oracle's way and paste the
last page, or all pages, as the answer. Tasks that ask for no answer they end at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache, partial
from typing import Any

from agentrl.envs.webarena.acting.actions import Action
from agentrl.envs.webarena.oracle import right_action, text_of
from agentrl.envs.webarena.players import Memory, ScriptedBrowser
from agentrl.envs.webarena.tasks.generated import SHARES, find_generated, generated_ids, instances_of, templates
from agentrl.envs.webarena.tasks.schema import NOT_ACHIEVABLE
from agentrl.envs.webarena.tasks.template import Answer, Template

_NUMBERS = (*range(201), *(f"{minutes // 60}:{minutes % 60:02}" for minutes in range(120)))
_WORDS = (
    "N/A Yes No Guest Reporter Developer Maintainer Owner Complete Pending Processing Canceled Closed On Hold Fraud"
)
WORDS = {"na": NOT_ACHIEVABLE, "yes": "Yes", "no": "No", "list": " ".join([_WORDS, *map(str, _NUMBERS)])}
BLIND = (*WORDS, "template-list", "prior", "start-page")  # these end at once
STRATEGIES = (*BLIND, "last-page", "all-pages")


class Guesser(ScriptedBrowser):
    """Ends every task with the answer that its strategy, one of `STRATEGIES`, has for it."""

    def __init__(self, strategy: str, *, seed: int = 0) -> None:
        super().__init__(seed=seed)
        self.strategy, self.name = strategy, f"webarena-{strategy}"

    def choose(self, env: Any, memory: Memory) -> Action:
        """The next action of the oracle, or the end with a guess."""
        found = env._current
        if found.task.eval is None or "string_match" not in found.task.eval.eval_types:
            return Action("exit")
        memory.pages.append(text_of(env.backend.view().root))
        if self.strategy not in BLIND and found.instance is not None:
            action = right_action(found.instance, env.backend, env.world, env.dialect)
            if action is not None and not action.ends:
                return action
        template = None if found.instance is None else found.instance.parts[-1].template
        return Action("exit", text=guess(self.strategy, template, memory.pages))


def guess(strategy: str, template: Template | None, pages: Sequence[str]) -> str:
    """The answer of a strategy to a task of this template (None: not generated), after these pages."""
    if strategy in WORDS:
        return WORDS[strategy]
    if strategy in ("template-list", "prior"):
        answers = known_answers(template, strategy) if template is not None else ()
        return " ".join(answers) if strategy == "template-list" else next(iter(answers), NOT_ACHIEVABLE)
    return "\n".join(pages) if strategy == "all-pages" else pages[-1]


@cache
def known_answers(template: Template, strategy: str) -> tuple[str, ...]:
    """The answers of solutions, the commonest first. "template-list": of all instances; "prior": of the training tasks
    that have the template or, if it is held out, its skill."""
    if strategy == "template-list":
        numbers = [number for split, _ in SHARES for number in instances_of(split).get(template.name, ())]
        ids = [f"{template.name}.{number}" for number in numbers]
    else:
        skilled = [each.name for each in templates().values() if each.skill == template.skill]
        ids = generated_ids("train", (), tuple(skilled) if template.held_out else (template.name,))
    solutions = (each.template.solution(each.parameters) for each in map(find_generated, ids) if each is not None)
    acts = (act for solution in solutions for step in solution for act in step.acts)
    counts = Counter(act.text for act in acts if isinstance(act, Answer) and act.text)
    return tuple(answer for answer, _ in counts.most_common())


NotAvailable, Yes, No, List = (partial(Guesser, name) for name in WORDS)
TemplateList, Prior, StartPage = (partial(Guesser, name) for name in ("template-list", "prior", "start-page"))
LastPage, AllPages = (partial(Guesser, name) for name in ("last-page", "all-pages"))
