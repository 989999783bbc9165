"""Paper search: find the papers that a research question asks for, by searches and along citations."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import msgspec
import numpy as np
from gymnasium import spaces

from agentrl.core.arguments import number_from_zero, one_of, true_or_false, whole_number
from agentrl.core.env import Outcome
from agentrl.core.errors import ConfigError
from agentrl.core.parsing import Turn, quote
from agentrl.core.spaces import AnyText
from agentrl.envs.common.calls import Call, TextTool, TextToolEnv
from agentrl.envs.papersearch.actions import EXPAND, FINISH, SEARCH, SEPARATOR, plain, read_turn, unbroken
from agentrl.envs.papersearch.library import MOST_CITATIONS, MOST_REFERENCES, Question, open_library
from agentrl.envs.papersearch.players import right_calls
from agentrl.envs.papersearch.state import PaperSearchState, Saved

BEST = 3  # so many newly found papers count
FAULT = -0.5  # for a repeated or an invalid call
GOAL = 0.8  # of the relevant papers
DEFAULT_PAPERS = 100_000
PAID = ("call", "step")
ABSTRACT_WORDS = 400
SAMPLES = (
    *(f"search({words})" for words in ("recent papers", "graph neural networks", "medical images", "language models")),
    *("expand(P000001)", "expand(P050000)", "finish()"),
)
TOOLS = (
    TextTool(SEARCH, "Search for papers.", "query", "Words to search titles and abstracts for."),
    TextTool(
        EXPAND, "Find the papers that cite a paper, and those it cites.", "paper_id", "The id of a paper in the list."
    ),
    TextTool(FINISH, "End the task."),
)
PROMPT = """\
You are a research assistant. Find all papers that answer the user's question.

What you find is kept in a pool. Each turn shows the question, what you did, and a list of the pool: the {half} best \
papers already expanded and the {half} best of the others, with a relevance score from 0 to 1. Papers without any \
relevance are not kept.

Two tools find papers:
search(words): adds the {hits} papers whose titles and abstracts fit the words best. Papers call the same thing by \
different names, so vary the words.
expand(id): adds the papers that cite a paper of the pool ({citations} at most) and those that it cites ({references} \
at most).
finish() ends the task. It ends by itself when everything is found, and after {turns} turns.

Write up to {calls} calls a turn, one a line, for example:
search(image segmentation with few labels)
expand(P012345)
{paid} A call costs {search:g} (search) or {expand:g} (expand); repeated and impossible calls cost {fault:g} each. \
You succeed if the pool holds {goal:.0%} of the relevant papers at the end."""


LEGEND = """\
{count} papers are in the pool. [EXP]: expanded already. [NEW]: not yet expanded.
Format: [paper_id] (score) [STATUS] Title"""


class Listed(NamedTuple):
    """A paper as the list shows it."""

    id: str
    number: int
    score: float | None  # None where scores are hidden
    expanded: bool


class PaperSearchEnv(TextToolEnv):
    """Find the papers that a research question asks for, by searches and along citations.

    ## Description
    A research question names three things: a problem and a method, a problem and a setting, or objects, a method and a
    setting. 6 to 18 of 100,000 papers answer it. The agent searches titles and abstracts and follows citations; what
    it finds is kept in a pool, with a relevance score for each paper. Papers say the same thing in different words, so
    that searching for the words of the question finds a quarter of the answers; the others lie behind other wordings,
    which abstracts sometimes mention side by side, or behind citations.

    The task is the academic paper search of StepPO and PaperScout: their two tools, horizon, scores and metrics, in a
    generated library. Papers have titles, abstracts, authors, years and venues; they cite earlier ones, mostly of their
    own field, and those that are cited often are cited more (6 citations in the median, 1 in 100 papers has 259).

    ## Observations
    `{"text"}`: the turn and what the last calls brought; under `### User Query` the question; under
    `### History Actions` the calls so far, each as `[Search] words` or `[Expand] id`; under `### Paper List` 20 papers
    of the pool, half of them expanded (`[EXP]`), half of them not (`[NEW]`), the best first, as
    `[P012345] (0.25) [NEW] Title` with the abstract in the next line. The headings and this form are those of the
    paper's recipe.

    ## Actions
    Up to 5 calls a turn, one a line or separated by `;`, bare or between `<answer>` and `</answer>`:

    - `search(words)` adds the 10 papers that fit best (BM25; no operators, 1,000 characters at most),
    - `expand(P012345)` adds the papers that cite a paper of the pool (30 at most, the newest) and those that it cites
      (99 at most),
    - `finish()` ends the episode; in the paper's recipe a reply without a call does.

    A search in the same words (in either case) or a second expansion of a paper is a repeated call: it finds nothing,
    and the calls after it run. A call that cannot be read, an empty or endless query, or the id of what is not in the
    pool is invalid: the turn stops there. `ToolCalls` makes the same calls in JSON.

    ## Rewards
    | term | for |
    |---|---|
    | `relevance` | each call: the sum of the three best scores among the papers that it adds to the pool |
    | `cost` | each search `-search_cost`, each expansion `-expand_cost` |
    | `repeated` | -0.5 for each repeated call |
    | `invalid` | `invalid_penalty` (-0.5) for an invalid call, or for a reply without any |

    Scores are grades from the world's truth: 1 for a paper that answers the question; 0.25 if one of the three things
    is only related (another method of its family, another object of its field); 0.1 or 0.05 for a remoter one; papers
    of grade 0 are left out of the pool. As in the paper's recipe each call is paid; with `paid="step"` the three best
    of a whole turn are.

    The recipe of StepPO sets both costs to 0, that of PaperScout to 0.1 and 0.05. With these, expanding whatever is
    there pays more than finding the answers and stopping, since each further call brings something slightly related.
    0.4 is about what such a call brings.

    ## Episode end
    Terminates when everything is found (`success`) or with `finish()`; after `max_turns` turns with success, or else
    truncates (`info["limit"] == "task"`). `success` means that the pool holds at least 80 % of the papers that answer
    the question. At the end `info["metrics"]` holds `f1@all`, `recall@all` and `precision@all` (of the papers with a
    score of at least `threshold`), and the use of tools: `search_calls`, `expand_calls` (as in the paper's Table 3,
    without repeated ones), `calls_per_turn`, `repeated_calls`, `invalid_calls` and `papers`, the size of the pool.

    ## Arguments
    - `papers=100000`, `library_seed=0`: the library. 100,000 papers are drawn, written and indexed at the first use, in
      about 15 s; afterwards they lie in the cache (`AGENTRL_CACHE`, 50 MB), in files that processes share.
    - `data_dir=None`: a folder with questions and papers of your own, see below.
    - `paid="call"`: or `"step"`, see the rewards.
    - `search_cost=0.4`, `expand_cost=0.4`, `invalid_penalty=-0.5`.
    - `threshold=0.2`: papers with this score or a better one count as given for F1 and precision.
    - `shown=20`: papers in the list. `show_scores=True`: False lists the papers found last, without scores.
      `show_details=False`: True adds authors, venue and year.
    - `max_turns=5`, `max_actions_per_turn=5`, `split="train"`, `render_mode=None`.
    - `whole_turn_penalty=False`, `full_info=True`: as everywhere.

    ## Data of your own
    `data_dir` holds `*.jsonl` (or `.jsonl.gz`) files, told apart by the beginnings of their names:

    - questions, in the layout of RealScholarQuery and AutoScholarQuery (the paper's RealResearchQuery):
      `train*.jsonl`, `dev*.jsonl`, `test*.jsonl` with `question`, `answer` (titles), `answer_arxiv_id`, `qid`; without
      ids, answers are found by their titles,
    - papers, as in the datasets of Semantic Scholar: `papers*` (`corpusid`, `externalids`, `title`, `year`, `venue`,
      `authors`; an `abstract` may stand here), `abstracts*` (`corpusid`, `abstract`), `citations*` (`citingcorpusid`,
      `citedcorpusid`),
    - perhaps `scores*` (`qid`, `paper_id`, `score`): what a selector model says of papers.

    Papers go by their arXiv id where they have one. Without `scores*` an answer counts 1 and any other paper 0; scores
    are hidden then, no paper is left out of the pool, and F1 counts all of it. Answers that no paper of the folder is
    count as not found. A broken line is refused in one sentence that names it.

    ## Truth
    `state()` supports `natural` and `structured`: the size of the pool, searches, expansions and the first paper of the
    list; beside these it knows what is asked for and the papers that answer it. `oracle()` plays the calls that find
    most of what is missing, among expansions of the pool and searches for titles; it solves every generated task.

    Splits differ in the objects of the questions: six of the eight of each field are for training.

    ## Honest note
    This is a generated library, not the benchmark: scores on it are not scores on RealScholarQuery. Its scores are the
    truth, where the paper's come from a model (pasa-7b-selector) that errs; its questions are conjunctions of known
    things, where people ask for more. The paper searches by BM25, embeddings or both; here by BM25.
    """

    graded = True
    state_type = PaperSearchState
    text_tools = TOOLS
    representations = frozenset({"natural", "structured"})
    action_separator = SEPARATOR
    safe_arguments = (
        "papers", "library_seed", "paid", "search_cost", "expand_cost", "threshold", "shown", "show_scores",
        "show_details",
    )  # fmt: skip
    guides: ClassVar[dict[str, str]] = {
        "natural": "Say how many papers the pool holds, what was searched for, which papers are expanded and which "
        "paper stands first in the list.",
        "structured": 'A JSON object with the keys "papers" (how many the pool holds), "searches" (a list of texts), '
        '"expanded" (a list of ids) and "best" (the id of the first paper of the list, or "").',
    }

    def __init__(
        self,
        *,
        papers: int = DEFAULT_PAPERS,
        library_seed: int = 0,
        data_dir: str | os.PathLike[str] | None = None,
        paid: str = "call",
        search_cost: float = 0.4,
        expand_cost: float = 0.4,
        threshold: float = 0.2,
        shown: int = 20,
        show_scores: bool = True,
        show_details: bool = False,
        max_turns: int = 5,
        max_actions_per_turn: int = 5,
        invalid_penalty: float = FAULT,
        **others: Any,
    ) -> None:
        super().__init__(
            max_turns=max_turns, max_actions_per_turn=max_actions_per_turn, invalid_penalty=invalid_penalty, **others
        )
        self.paid, self.shown = one_of("paid", paid, PAID), whole_number("shown", shown, at_least=2, at_most=200)
        self.show_details = true_or_false("show_details", show_details)
        self.threshold = number_from_zero("threshold", threshold)
        self.costs = {
            SEARCH: number_from_zero("search_cost", search_cost),
            EXPAND: number_from_zero("expand_cost", expand_cost),
        }
        self.library = open_library(library_seed, papers, data_dir)
        self.show_scores = true_or_false("show_scores", show_scores) and self.library.scored
        self.observation_space = spaces.Dict({"text": AnyText()})
        self.action_space = AnyText(SAMPLES, max_words=self.max_actions_per_turn, separator=SEPARATOR)

    # ------------------------------------------------------------------ tasks

    def tasks(self) -> Sequence[str]:
        """Ids of questions."""
        return self.library.ids[self.split]

    def _find_task(self, task: Any) -> str:
        if not isinstance(task, str) or not self.library.has_task(self.split, task):
            raise ConfigError(f"a task must be the id of a question of split {self.split}; got {str(task)[:100]!a}")
        return task

    def _begin(self, task: str) -> None:
        self._task_id = task
        self._asked: Question = self.library.question(task)
        self._wanted = frozenset(self._asked.relevant.tolist())
        self._done: dict[str, Call] = {}  # searches and expansions, by their text without regard to case
        self._pool: dict[int, float] = {}  # number of a paper -> grade, in the order in which they were found
        self._expanded: set[int] = set()
        self._repeated = self._invalid = 0
        self._finished = False
        self._best: list[float] = []  # the best scores that this turn has found so far

    def _task(self) -> str:
        return self._task_id

    def about_task(self) -> dict[str, Any]:
        """The field, how many facets are asked for, how many papers answer the question."""
        asked = self._asked
        return {"group": asked.group, "complexity": len(asked.asks), "relevant": len(self._wanted)}

    # ------------------------------------------------------------------ a turn

    def _read(self, action: Any) -> Turn:
        return read_turn(action, self.max_actions_per_turn)

    def _run(self, turn: Turn) -> tuple[list[str], dict[str, float], bool, str | None]:
        self._best = []
        done, terms, effective, fault = super()._run(turn)
        self._invalid += fault is not None
        return done, terms, effective, fault

    def _act(self, call: Call) -> Outcome:
        if call.tool == FINISH:
            self._finished = True
            return Outcome({}, terminated=True, success=self.recall >= GOAL, feedback=self._result())
        if call.tool == EXPAND:
            if (number := self.library.number(call.argument)) is None or number not in self._pool:
                return Outcome({}, valid=False, feedback=f"{quote(call.argument)} is not the id of a paper in the pool")
            call = Call(EXPAND, self.library.paper_id(number))
        if str(call).casefold() in self._done:
            self._repeated += 1
            return Outcome({"repeated": FAULT}, effective=False, feedback=f"{self._said(call)} was done before.")
        grades, seen = self._run_call(call)
        terms = {"relevance": self._pay(grades), "cost": -self.costs[call.tool]}
        feedback = f"{self._said(call)} found {seen} papers, {len(grades)} of them new to the pool."
        if self.recall == 1:
            return Outcome(terms, terminated=True, success=True, feedback=f"{feedback} {self._result()}")
        return Outcome(terms, feedback=feedback)

    def _run_call(self, call: Call) -> tuple[list[float], int]:
        """Put what a call finds into the pool: the grades of what is new there, and how many papers it found."""
        if call.tool == SEARCH:
            found = np.array(self.library.search(call.argument), np.int64)
        else:
            number = self.library.number(call.argument) or 0
            found = self.library.neighbours(number)
            self._expanded.add(number)
        grades, fresh = self._asked.grades_of(found), []
        for number, grade in zip(found.tolist(), grades.tolist(), strict=True):
            if number not in self._pool and (grade > 0 or not self.library.scored):
                self._pool[number] = grade
                fresh.append(grade)
        self._done[str(call).casefold()] = call
        return fresh, len(found)

    def _pay(self, grades: list[float]) -> float:
        """The sum of the three best; where turns are paid, what it adds to that sum over all calls of the turn."""
        before = [] if self.paid == "call" else self._best
        self._best = sorted([*before, *grades])[-BEST:]
        return sum(self._best) - sum(before)

    def _at_limit(self) -> Outcome:
        solved = self.recall >= GOAL
        return Outcome({}, terminated=solved, success=solved, feedback=self._result())

    # ------------------------------------------------------------------ results

    @property
    def recall(self) -> float:
        """The share of the relevant papers that the pool holds."""
        return self._found / self._asked.answers

    @property
    def _found(self) -> int:
        return len(self._wanted & self._pool.keys())

    def metrics(self) -> dict[str, float]:
        """F1@all and Recall@all of the pool, and how the tools were used."""
        lowest = self.threshold if self.library.scored else 0.0
        given = sum(grade >= lowest for grade in self._pool.values())
        precision = self._found / given if given else 0.0
        tools = [call.tool for call in self._done.values()]
        calls = len(tools) + self._repeated
        return {
            "f1@all": 2 * precision * self.recall / (precision + self.recall) if self._found else 0.0,
            "recall@all": self.recall,
            "precision@all": precision,
            "search_calls": float(tools.count(SEARCH)),
            "expand_calls": float(tools.count(EXPAND)),
            "calls_per_turn": calls / max(1, self._turn or 0),
            "repeated_calls": float(self._repeated),
            "invalid_calls": float(self._invalid),
            "papers": float(len(self._pool)),
        }

    def _result(self) -> str:
        return f"The pool holds {self._found} of {self._asked.answers} relevant papers."

    def _info(self, actions: list[str], terms: dict[str, float], **facts: Any) -> dict[str, Any]:
        return {**super()._info(actions, terms, **facts), "metrics": self.metrics() if self._over else {}}

    def ending(self) -> str | None:
        """Somebody who finishes too early fails by that."""
        return "finished too early" if self._finished else None

    # ------------------------------------------------------------------ the truth

    def state(self) -> PaperSearchState:
        """What is asked for, what was done, what is found."""
        name, listed = self.library.paper_id, self.listed()
        return PaperSearchState(
            question=self._asked.text,
            asks=dict(self._asked.asks),
            relevant=tuple(map(name, self._asked.relevant.tolist())),
            found=tuple(name(number) for number in self._pool if number in self._wanted),
            papers=len(self._pool),
            searches=self._arguments_of(SEARCH),
            expanded=self._arguments_of(EXPAND),
            best=listed[0].id if listed else "",
        )

    def oracle(self) -> str | None:
        """The calls that find most of what is missing, up to a turn full."""
        if self._over or len(self._wanted) < GOAL * self._asked.answers:
            return None
        pool = [number for number in self._pool if number not in self._expanded]
        missing = [number for number in self._asked.relevant.tolist() if number not in self._pool]
        calls = right_calls(self.library, missing, pool, self._arguments_of(SEARCH), self.max_actions_per_turn)
        return SEPARATOR.join(map(str, calls or [Call(FINISH)]))

    def legal_actions(self) -> list[str]:
        """Whole turns of one call: words of the question in a row, and papers of the list."""
        if self._over:
            return []
        words = plain(self._asked.text).strip("?.").split()
        searches = [f"{SEARCH}({' '.join(words[start : start + 4])})" for start in range(max(1, len(words) - 3))]
        shown = [each.id for each in self.listed() if not each.expanded]
        return [*searches, *(f"{EXPAND}({name})" for name in shown)]

    # ------------------------------------------------------------------ tools

    def tool_action(self, name: str, arguments: dict[str, Any]) -> str | None:
        """A call as text on one line."""
        return str(Call(name, unbroken(next(iter(arguments.values()), ""))))

    # ------------------------------------------------------------------ what the agent sees

    @property
    def system_prompt(self) -> str:
        """The task, the tools, the limits and what is paid."""
        unit = "call" if self.paid == "call" else "turn"
        return PROMPT.format(
            half=self.shown // 2, hits=10, citations=MOST_CITATIONS, references=MOST_REFERENCES, turns=self.max_turns,
            calls=self.max_actions_per_turn, search=self.costs[SEARCH], expand=self.costs[EXPAND],
            paid=f"Each {unit} earns the scores of the {BEST} best papers that it newly found.", fault=-FAULT,
            goal=GOAL,
        )  # fmt: skip

    def _observe(self) -> dict[str, str]:
        history = [f"[{call.tool.capitalize()}] {call.argument}" for call in self._done.values()]
        parts = [
            " ".join(filter(None, (self._heading(), self._feedback))),
            f"### User Query\n{self._asked.text}",
            "### History Actions\n" + ("\n".join(history) or "None"),
            f"### Paper List\n{self._paper_list()}",
        ]
        return {"text": "\n\n".join(parts)}

    def listed(self) -> list[Listed]:
        """What of the pool is shown: half of it expanded papers, half of it others, of both the best (or the last
        found, where scores are hidden)."""
        ranked = list(self._pool)[::-1]
        if self.show_scores:
            ranked.sort(key=lambda number: -self._pool[number])
        room = {True: self.shown // 2, False: self.shown - self.shown // 2}
        shown = []
        for number in ranked:
            old = number in self._expanded
            if room[old]:
                room[old] -= 1
                score = self._pool[number] if self.show_scores else None
                shown.append(Listed(self.library.paper_id(number), number, score, old))
        return shown

    def _paper_list(self) -> str:
        if not self._pool:
            return "No papers in the pool."
        entries = []
        for each in self.listed():
            paper = self.library.paper(each.number)
            score = "" if each.score is None else f"({each.score:.2f}) "
            words = paper.abstract.split(None, ABSTRACT_WORDS)
            abstract = " ".join(words[:ABSTRACT_WORDS]) + ("..." if len(words) > ABSTRACT_WORDS else "")
            entries.append(
                f"[{each.id}] {score}[{'EXP' if each.expanded else 'NEW'}] {paper.title}\nAbstract: {abstract}"
            )
            if self.show_details:
                entries[-1] += f"\n{', '.join(paper.authors)}. {paper.venue}, {paper.year}."
        return "\n\n".join([LEGEND.format(count=len(self._pool)), *entries])

    def _arguments_of(self, tool: str) -> tuple[str, ...]:
        return tuple(call.argument for call in self._done.values() if call.tool == tool)

    def _said(self, call: Call) -> str:
        return f"{call.tool} {quote(call.argument, 60)}"

    # ------------------------------------------------------------------ fork

    def _save(self) -> dict[str, Any]:
        done, tally = list(self._done.values()), (self._repeated, self._invalid, self._finished)
        return msgspec.structs.asdict(Saved(self._index, self._stride, self._task_id, done, *tally))

    def _load(self, data: dict[str, Any]) -> None:
        saved = msgspec.convert(data, Saved)
        self._restore_walk(saved.index, saved.stride)
        self._begin(self._find_task(saved.task))
        if len(saved.done) > self.max_turns * self.max_actions_per_turn:
            raise ValueError("it has more calls than an episode can have")
        for call in saved.done:
            if str(call).casefold() in self._done or call.tool not in (SEARCH, EXPAND):
                raise ValueError("it has a call that cannot have been made")
            if call.tool == EXPAND and self.library.number(call.argument) not in self._pool:
                raise ValueError("it has expanded a paper that is not in the pool")
            self._run_call(call)
        self._repeated, self._invalid, self._finished = saved.repeated, saved.invalid, saved.finished
