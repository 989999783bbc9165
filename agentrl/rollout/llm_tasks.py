"""New tasks in words, by a language model behind an OpenAI-compatible endpoint.

The model is shown instructions that a policy failed at and writes others; what it writes is read, cleaned, compared
with what is known, and checked by a second question. Such tasks have no evaluator: their reward stays pending until a
judge of outcomes settles it.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agentrl.core.arguments import whole_number
from agentrl.core.env import AgentEnv
from agentrl.core.errors import AgentRLError, ConfigError
from agentrl.core.policy import Conversation, Message
from agentrl.core.task_generator import Task, TaskGenerator
from agentrl.judges.prompting import Prompt, clean, fill, read_prompt
from agentrl.policies.openai import OpenAIPolicy

PROMPTS = {1: "near", 2: "steps", 3: "mixed"}
FOLDER = Path(__file__).with_name("task_prompts")
COUNTS = ("asked", "written", "unreadable", "unfit", "duplicates", "impossible", "kept")
SHOWN = 8  # instructions in one question
PER_CALL = 10  # new ones asked for in one question
SHORTEST, MAX_LENGTH = 12, 400  # characters of an instruction
MAX_REPLY = 100_000
MAX_WORLD = 3_000
REMEMBERED = 100_000  # instructions that count as known
MARKS = re.compile(r"^\s*(?:[-*\u2022]|\(?\d{1,3}[.):])\s*")


class LLMTasks:
    """Asks a language model for tasks like the seeds.

    - `prompt`: 1 (other things of the same kind), 2 (easier, equally hard and harder ones) or 3 (put together anew).
    - `check`: ask the model whether each task is possible; what it does not say YES to is left out.
    - Everything else goes to `OpenAIPolicy`: `base_url`, `temperature`, `timeout`, `extra_body` and so on.

    `counts` says what became of everything that was written. An endpoint that is away raises `EngineFault`.
    """

    def __init__(
        self, env: AgentEnv[Any, Any], model: str, *, prompt: int = 1, check: bool = True, **client: Any
    ) -> None:
        if type(env).task_for is AgentEnv.task_for:
            raise ConfigError(f"{type(env).__name__} plays built-in tasks only; it has no tasks given as text")
        if whole_number("prompt", prompt, at_least=1, at_most=len(PROMPTS)) and not isinstance(check, bool):
            raise ConfigError(f"check must be True or False; got {check!r}")
        self._env, self.check = env, check
        self._prompt = read_prompt(FOLDER / f"{PROMPTS[prompt]}.txt")
        self._question = read_prompt(FOLDER / "feasible.txt")
        self._client = OpenAIPolicy(model, **{"max_new_tokens": 2048, "temperature": 0.7, **client})
        self._known: dict[str, None] = {}  # normalised instructions, oldest first
        self._possible: dict[Task, bool] = {}
        self._examples: list[str] = []  # the newest seeds: what the second question shows
        self.counts: Counter[str] = Counter(dict.fromkeys(COUNTS, 0))

    def close(self) -> None:
        """Give back the connections."""
        self._client.close()

    def state_dict(self) -> dict[str, Any]:
        """What a resumed run has to know, as JSON: without it, tasks of earlier phases would be written again."""
        return {"known": list(self._known), "counts": dict(self.counts)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from there."""
        self._known = dict.fromkeys(state["known"])
        self.counts = Counter(state["counts"])

    # ------------------------------------------------------------------ the protocol

    def propose(self, seeds: Sequence[Task], count: int, rng: np.random.Generator) -> list[Task]:
        """Up to `count` tasks that are new, each in the place of the seeds it was made from."""
        count = whole_number("count", count, at_least=0)
        places = self._places(seeds)
        if not places or not count:
            return []
        self._remember(text for told in places.values() for _, text in told)
        self._examples = [text for told in places.values() for _, text in told][-SHOWN:]
        told = list(places.values())
        sizes = np.array([len(some) for some in told])
        asked: list[list[tuple[Task, str]]] = []
        for _ in range(-(-count // PER_CALL)):  # some seeds of one place; a place is as likely as it has seeds
            chosen = told[int(rng.choice(len(told), p=sizes / sizes.sum()))]
            asked.append([chosen[int(place)] for place in rng.permutation(len(chosen))[:SHOWN]])
        self.counts["asked"] += len(asked)
        questions = [
            _filled(self._prompt, world=self._world(), examples=_listed(text for _, text in shown), count=str(PER_CALL))
            for shown in asked
        ]
        found = []
        for shown, reply in zip(asked, self._ask(questions), strict=True):
            found += self._new_tasks(reply, shown[0][0])
        found = found[:count]
        if self.check:
            self._decide(found)
            possible = [task for task in found if self._possible[task]]
            self.counts["impossible"] += len(found) - len(possible)
            found = possible
        self.counts["kept"] += len(found)
        return found

    def feasible(self, task: Task) -> bool:
        """What the model says of it; without `check`, whether the environment can play it."""
        try:
            instruction = task.instruction or self._env.instruction_of(task.id)
        except AgentRLError:
            return False
        if not instruction or task.kwargs:
            return False
        if self.check and task not in self._possible:
            self._decide([task])
        return self._possible.get(task, True)

    # ------------------------------------------------------------------ what is asked

    def _places(self, seeds: Sequence[Task]) -> dict[str, list[tuple[Task, str]]]:
        """The seeds that can be told in words, by the place where they are played."""
        found: dict[str, list[tuple[Task, str]]] = defaultdict(list)
        for seed in seeds:
            try:
                text = _plain(self._env.instruction_of(seed.id))
                place = self._env.task_for("-", seed.id)  # one id for all seeds of a place
            except (AgentRLError, AttributeError, TypeError):
                continue
            if text and place is not None:
                found[place].append((seed, text))
        return found

    def _world(self) -> str:
        return clean(self._env.system_prompt, MAX_WORLD)

    def _ask(self, conversations: Sequence[Conversation]) -> list[str]:
        return [answer.text for answer in self._client.act(conversations)] if conversations else []

    # ------------------------------------------------------------------ what comes back

    def _new_tasks(self, reply: str, like: Task) -> list[Task]:
        texts = read_list(reply)
        self.counts["written"] += len(texts)
        self.counts["unreadable"] += not texts
        found = []
        for text in map(_plain, texts):
            task = self._task(text, like)
            if task is None:
                self.counts["unfit"] += 1
            elif _normal(text) in self._known:
                self.counts["duplicates"] += 1
            else:
                self._remember([text])
                found.append(task)
        return found

    def _task(self, text: str, like: Task) -> Task | None:
        if not SHORTEST <= len(text) <= MAX_LENGTH or len(_normal(text).split()) < 3:
            return None
        try:
            task = self._env.task_for(text, like.id)
        except ConfigError:
            return None
        return None if task is None else Task(task, instruction=text, kind="llm")

    def _remember(self, texts: Iterable[str]) -> None:
        for text in texts:
            self._known[_normal(text)] = None
        while len(self._known) > REMEMBERED:
            del self._known[next(iter(self._known))]

    def _decide(self, tasks: list[Task]) -> None:
        """Ask about tasks, all at once, and keep the answers; whatever is not YES is no."""
        examples = _listed(self._examples)
        questions = [
            _filled(
                self._question,
                world=self._world(),
                examples=examples or "(none)",
                task=_plain(task.instruction or self._env.instruction_of(task.id)),
            )
            for task in tasks
        ]
        for task, reply in zip(tasks, self._ask(questions), strict=True):
            self._possible[task] = says_yes(reply)


def open_task_generator(spec: Any, env: AgentEnv[Any, Any]) -> TaskGenerator:
    """The generator that a spec describes: "" or "own" (the environment's), or `{"kind": "llm", "model": ...}`, whose
    other entries are the arguments of `LLMTasks`. A ready object is returned as it is."""
    if spec in ("", "own", None) or (isinstance(spec, Mapping) and spec.get("kind") == "own"):
        return env.task_generator()
    if isinstance(spec, Mapping) and spec.get("kind") == "llm":
        arguments = {name: value for name, value in spec.items() if name != "kind"}
        try:
            return LLMTasks(env, **arguments)
        except TypeError as error:
            raise ConfigError(f"the generator cannot be made: {error}") from None
    if isinstance(spec, TaskGenerator):
        return spec
    raise ConfigError(f'a generator must be "own" or {{"kind": "llm", "model": ..., "base_url": ...}}; got {spec!r}')


# ---------------------------------------------------------------------- reading what a model wrote


def read_list(reply: str) -> list[str]:
    """The texts of a JSON list (of texts, or of objects with one), or else the lines; empty for anything else."""
    reply = reply[:MAX_REPLY]
    found = None
    for start in [place.start() for place in re.finditer(r"\[", reply)][:20]:
        try:
            read, _ = json.JSONDecoder().raw_decode(reply, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(read, list) and any(isinstance(one, (str, dict)) for one in read):
            found = read
            break
    if found is None:
        found = [MARKS.sub("", line) for line in reply.splitlines() if MARKS.match(line)]
    texts = [next(iter(one.values()), None) if isinstance(one, dict) else one for one in found]
    return [text for text in texts if isinstance(text, str)][: 4 * PER_CALL]


def says_yes(reply: str) -> bool:
    """Is YES the first of the two words in it?"""
    said = re.search(r"\b(yes|no)\b", reply[:MAX_REPLY], re.IGNORECASE)
    return said is not None and said[1].lower() == "yes"


def _filled(prompt: Prompt, **values: str) -> list[Message]:
    system, user = fill(prompt, values).messages
    return [Message(role="system", content=system["content"]), Message(role="user", content=user["content"])]


def _plain(text: str) -> str:
    """An instruction on one line, without what could pass for a part of the conversation."""
    return " ".join(clean(text, 4 * MAX_LENGTH).split()).strip("\"' ")


def _normal(text: str) -> str:
    """What two wordings of one instruction share: words and numbers in lower case."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def _listed(texts: Iterable[str]) -> str:
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1))
