"""MultiHopQA: search an encyclopaedia until the answer to a question of several hops is found."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import msgspec
from gymnasium import spaces

from agentrl.core.arguments import one_of, whole_number
from agentrl.core.env import Outcome
from agentrl.core.errors import ConfigError
from agentrl.core.parsing import CLOSE, OPEN, Turn
from agentrl.core.spaces import AnyText
from agentrl.envs.common.calls import Call, TextTool, TextToolEnv
from agentrl.envs.common.search.encoders import PACKAGE
from agentrl.envs.multihop.actions import MAX_ANSWER, MAX_QUERY, plain, read_turn
from agentrl.envs.multihop.collection import RANKINGS
from agentrl.envs.multihop.opening import open_collection
from agentrl.envs.multihop.questions import Find, Question, exact_match, f1
from agentrl.envs.multihop.state import Made, Saved, SearchState

MOST_CALLS = 16  # of a turn
WORDS = f"Words to search for, {MAX_QUERY} characters at most."
ANSWER = f"A name, a number or a few words, {MAX_ANSWER} characters at most."
TOOLS = (
    TextTool("search", "Search the encyclopaedia.", "query", WORDS),
    TextTool("answer", "Give the final answer.", "text", ANSWER),
)
PROMPT = """\
Answer a question with the help of a search engine over {pages:,} pages of an encyclopaedia. No single page holds the \
answer: find a page that the question names, read there what to look for next, and go on from page to page.
Each turn, write one of these:
- {most} of the form search(your words), one a line; each shows the {hits} best pages.
- the final answer between {open} and {close}: a name, a number or a few words, nothing else. It ends the task.
You have {turns} turns in all. Only an answer that is exactly right is rewarded."""


class MultiHopQAEnv(TextToolEnv):
    """Search an encyclopaedia until the answer to a question of several hops is found.

    ## Description
    Which river flows through the city where the director of a film was born? No page says it: the film's page names the
    director, the director's page the city, the city's page the river. The agent has a search engine and five turns.

    By default the encyclopaedia is generated from a seed: people, places, organisations, works and events with 34 kinds
    of facts, written as 20,000 pages of varied prose. Questions take two to four pages, and are of three kinds:
    *composition* follows facts from what the question names; *bridge* first asks for what two clues fit; *comparison*
    asks for a further fact of the one of two that is older, larger or longer, never for its name, never yes or no.
    Each question was run over the whole graph and has exactly one answer there. With `questions` the files of HotpotQA,
    2WikiMultiHopQA and MuSiQue are played instead.

    ## Observations
    `{"text"}`: what happened last, the question, the searches so far, and the pages that this turn's searches found.
    With `keep_passages=True` the pages of earlier turns stand there, too, so that each observation is a prompt of its
    own, as in the StepPO paper (`--prompt-style step`). Angle brackets of pages become round ones.

    ## Actions
    Bare or in one pair of answer tags, up to `max_actions_per_turn` calls, which run in order:

    - `search(words)`: the best pages for these words. Quotes around them may be left out. At most 500 characters.
    - `answer(words)`: the final answer, at most 200 characters. `<answer>words</answer>` is the same: what stands in
      the tags and is no call is the answer, as published policies write it.

    With `ToolCalls` the tools are `search(query)` and `answer(text)`, called in JSON; `<answer>words</answer>` ends the
    task there, too. Whatever else is written is answered by feedback and takes a turn. Calls beyond the limit are
    dropped.

    ## Rewards
    `exact_match`: 1 if the answer equals the right one or one of its aliases after SQuAD's normalisation (lower case,
    no punctuation, no articles), else 0. An invalid turn costs `invalid_penalty`, nothing by default.

    ## Episode end
    Terminates with an answer. Truncates after `max_turns` turns (`info["limit"] == "task"`). At the end
    `info["metrics"]` holds `exact_match`, `f1` of the words, `support_recall` (the share of the supporting pages that
    were found) and `searches`.

    ## Arguments
    - `pages=20000`, `world_seed=0`: the generated encyclopaedia, from 1,000 to 30,000 pages. A fifth as many
      questions are for training, a fortieth each for dev and test. The first use writes pages, index and questions into
      the cache (`AGENTRL_CACHE`), in about 12 seconds.
    - `hops=None`: play only questions of these numbers of pages, such as `[2]`.
    - `questions=None`: a file of HotpotQA, 2WikiMultiHopQA, MuSiQue (JSON or JSON lines, also as HippoRAG, IRCoT and
      FlashRAG wrote them), or one for each split: `{"train": ..., "test": ...}`.
    - `corpus=None`: the pages to search, as JSON or JSON lines of `title` and `text` (or `contents`); None takes the
      paragraphs that come with the questions of all files, each once.
    - `aliases=None`: the file `id_aliases.json` of 2WikiMultiHopQA.
    - `cuts="hash"`: how one file becomes three splits: 80, 10 and 10 of 100 questions by a hash of their words; with
      `"none"` all of them are in every split.
    - `ranking="bm25"`: `"embeddings"` ranks by the nearest vectors, `"hybrid"` joins both by reciprocal rank (k = 60).
    - `embedder="wordllama"`: whose vectors; or a folder with `model.safetensors` and `tokenizer.json`, static or a BERT
      such as all-MiniLM or BGE. Needs the extra `embeddings`. Runs on numpy; vectors are kept in the cache.
    - `hits=3`: pages for each search, 20 at most. `passage_words=200`: how much of each is shown.
    - `keep_passages=False`: see observations.
    - `max_turns=5`, `max_actions_per_turn=4`, `invalid_penalty=0.0`, `split="train"`, `render_mode=None`.
    - `whole_turn_penalty=False`: of no effect here, where actions cost nothing.
    - `full_info=True`; False: only `success`, `valid` and `effective`, for libraries that store `info` in arrays.

    To train on one data set and evaluate on others, as in the paper, give another file to `agentrl eval`:
    `--env-kwargs '{"questions": "musique_ans_v1.0_dev.jsonl", "cuts": "none"}'`.

    ## Truth
    `state()` supports `natural` and `structured`: searches, the supporting pages that were found, how many are missing,
    whether there is an answer. `oracle()` searches for the supporting pages in order, as many side by side as the turns
    left make necessary, and then answers.

    ## Honest note
    By default this is a generated encyclopaedia, not HotpotQA: scores on it are not scores on the benchmark. Its
    questions are made by rules, and their language shows it. Measured over all 500 test questions (`python -m
    benchmarks.multihop`): the raw question brings up its last page among five in 2 of 100 cases, and 42 of 100
    supporting pages; the commonest answer of the asked kind in training is right once, an entity of the question
    never. The prose has 0.52 distinct trigrams per word in 56,000 words. HotpotQA's own questions
    find 81 of 100 supporting pages, because people who wrote them saw both pages.

    With files of a benchmark the paper searched with vectors of `bge-large-en-v1.5`; the default here is BM25. Its
    corpora are the paragraphs of the questions (`corpus=None`) for HotpotQA and MuSiQue, and all of Wikipedia's first
    paragraphs for 2WikiMultiHopQA, which is a file to be given as `corpus`. Comparison questions of these sets may be
    answered by one of their names, or by yes and no. Questions with an answer of more than 200 characters are left out.
    """

    state_type = SearchState
    task_reward = 1.0
    action_separator = "\n"
    free_answers = True
    text_tools = TOOLS
    representations = frozenset({"natural", "structured"})
    safe_arguments = ("pages", "world_seed", "hops", "cuts", "ranking", "hits", "passage_words", "keep_passages")
    guides: ClassVar[dict[str, str]] = {
        "natural": "Say how many searches were made, which pages that support the answer were found, how many are "
        "still missing, and whether an answer is given.",
        "structured": 'A JSON object with the keys "searches" (a number), "found" (titles of supporting pages), '
        '"missing" (a number) and "answered" (true or false).',
    }

    def __init__(
        self,
        *,
        pages: int = 20_000,
        world_seed: int = 0,
        hops: Sequence[int] | None = None,
        questions: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]] | None = None,
        corpus: str | os.PathLike[str] | None = None,
        aliases: str | os.PathLike[str] | None = None,
        cuts: str = "hash",
        ranking: str = "bm25",
        embedder: str | os.PathLike[str] = PACKAGE,
        hits: int = 3,
        passage_words: int = 200,
        keep_passages: bool = False,
        max_turns: int = 5,
        max_actions_per_turn: int = 4,
        invalid_penalty: float = 0.0,
        **others: Any,
    ) -> None:
        whole_number("max_actions_per_turn", max_actions_per_turn, at_least=1, at_most=MOST_CALLS)
        super().__init__(
            max_turns=max_turns, max_actions_per_turn=max_actions_per_turn, invalid_penalty=invalid_penalty, **others
        )
        if not isinstance(embedder, (str, os.PathLike)):
            raise ConfigError(f"embedder must be {PACKAGE!r} or a folder; got {embedder!r}")
        self.hits = whole_number("hits", hits, at_least=1, at_most=20)
        self.passage_words = whole_number("passage_words", passage_words, at_least=1)
        self.ranking, self.embedder = one_of("ranking", ranking, RANKINGS), os.fspath(embedder)
        self.keep_passages = bool(keep_passages)
        self.collection = open_collection(pages, world_seed, questions, corpus, aliases, cuts)
        self._ids = self._chosen(hops)
        self._known = frozenset(self._ids)
        if ranking != "bm25":
            self.collection.dense(self.embedder)
        self.observation_space = spaces.Dict({"text": AnyText()})
        samples = ("search(river)", "search(novelist)", "search(university)", "answer(1850)", "answer(the river)")
        self.action_space = AnyText(samples, max_words=2, separator=self.action_separator)
        self._place = 0
        self._made: list[Made] = []
        self._given: str | None = None

    # ------------------------------------------------------------------ tasks

    def tasks(self) -> Sequence[str]:
        """The ids of this split's questions."""
        return self._ids

    def _chosen(self, hops: Any) -> Sequence[str]:
        """The ids of the questions of these numbers of pages; `ConfigError` where there are none."""
        asked = self.collection.of_split(self.split)
        if hops is None:
            return self.collection.ids[self.split]
        if isinstance(hops, Sequence) and (found := tuple(each.id for each in asked if each.hops in hops)):
            return found
        there = ", ".join(map(str, sorted({each.hops for each in asked})))
        raise ConfigError(f"hops must be a list of numbers of pages, of which {self.split} has {there}; got {hops!r}")

    def _find_task(self, task: Any) -> int:
        place = self.collection.place(self.split, task)
        if task not in self._known:
            raise self._unknown_task(task)
        return place

    def instruction_of(self, task: str) -> str:
        """The question."""
        return self.collection.of_split(self.split)[self._find_task(task)].text

    def _begin(self, task: int) -> None:
        self._place, self._made, self._given = task, [], None

    def _task(self) -> str:
        return self.question.id

    @property
    def question(self) -> Question:
        """What is asked."""
        return self.collection.questions[self.split][self._place]

    # ------------------------------------------------------------------ turns

    def _read(self, action: Any) -> Turn:
        return read_turn(action, self.max_actions_per_turn)

    def _act(self, call: Call) -> Outcome:
        if call.tool == "answer":
            self._given = call.argument
            right = exact_match(call.argument, self.question.accepted)
            feedback = "The answer is right." if right else "The answer is wrong."
            return Outcome({"exact_match": float(right)}, True, True, right, feedback)
        before = self._seen
        pages = list(self._hits(call.argument))
        self._made.append(Made(call.argument, pages, self._turn or 0))
        new = [page for page in pages if page not in before]
        return Outcome({}, bool(new), feedback="" if pages else "Nothing was found.")

    def _hits(self, query: str) -> tuple[int, ...]:
        return self.collection.find(query, self.hits, self.ranking, self.embedder)

    @property
    def _seen(self) -> dict[int, None]:
        """The pages that were shown, in order."""
        return dict.fromkeys(page for made in self._made for page in made.pages)

    def _info(self, actions: list[str], terms: dict[str, float], **facts: Any) -> dict[str, Any]:
        info = super()._info(actions, terms, **facts)
        question, seen = self.question, self._seen
        info["metrics"] = {} if not self._over else {
            "exact_match": float(self._success),
            "f1": f1(self._given or "", question.accepted),
            "support_recall": sum(page in seen for page in question.support) / max(1, question.hops),
            "searches": float(len(self._made)),
        }  # fmt: skip
        return info

    def ending(self) -> str | None:
        """Was it answered?"""
        return None if self._given is None else "answered wrongly"

    def about_task(self) -> dict[str, Any]:
        """Kind of question, how many pages it takes, and how many searches and answers."""
        question = self.question
        return {"group": question.kind, "complexity": question.hops, "steps": question.hops + 1, "hops": question.hops}

    # ------------------------------------------------------------------ the truth

    def state(self) -> SearchState:
        """What supports the answer, and what of it has been found."""
        question, seen = self.question, self._seen
        shown = {page.number: page.title for page in self.collection.pages([*question.support, *seen])}
        return SearchState(
            question=question.text,
            answers=question.accepted,
            kind=question.kind,
            support=tuple(shown[page] for page in question.support),
            found=tuple(shown[page] for page in question.support if page in seen),
            queries=tuple(made.query for made in self._made),
            pages=tuple(shown[page] for page in seen),
            given=self._given,
            turn=self._turn or 0,
        )

    def oracle(self) -> str | None:
        """Searches for the supporting pages that are missing, stage by stage; then the answer."""
        if self._over:
            return None
        question, seen = self.question, self._seen
        stages = [[find for find in stage if find.page not in seen] for stage in question.stages]
        stages = [stage for stage in stages if stage]
        searching = self.max_turns - (self._turn or 0) - 1  # the last turn is for the answer
        if not stages or searching < 1:
            return f"{OPEN}{question.answer}{CLOSE}"
        together = -(-len(stages) // searching)
        finds = [find for stage in stages[:together] for find in stage][: self.max_actions_per_turn]
        return self.action_separator.join(f"search({self._query(find)})" for find in finds)

    def _query(self, find: Find) -> str:
        """A search that brings a page up: the planned one, its title, or ever more of its text."""
        page = self.collection.pages([find.page])[0]
        words = f"{page.title} {page.text}".split()
        tries = [find.query, page.title, *(" ".join(words[:count]) for count in (20, 60))]
        tries = [plain(each.replace("(", " ").replace(")", " "))[:MAX_QUERY] for each in tries]
        return next((each for each in tries if each and find.page in self._hits(each)), tries[-1])

    # ------------------------------------------------------------------ what the agent sees

    @property
    def system_prompt(self) -> str:
        """The task, the two kinds of calls, the limits."""
        count = self.max_actions_per_turn
        most = "one search" if count == 1 else f"up to {count} searches"
        return PROMPT.format(
            pages=len(self.collection), most=most, hits=self.hits, turns=self.max_turns, open=OPEN, close=CLOSE
        )

    def tool_action(self, name: str, arguments: dict[str, Any]) -> str | None:
        """A call as text. Brackets, which could end it, mean nothing to the search engine nor to how answers are
        compared."""
        if name == "search":
            return f"search({arguments['query'].replace('(', ' ').replace(')', ' ')})"
        return f"answer({arguments['text'].replace('(', '').replace(')', '')})"

    def _observe(self) -> dict[str, str]:
        lines = [f"{self._heading()} {self._feedback}".strip(), f"Question: {self.question.text}"]
        if self._made:
            lines.append("Searches so far: " + "; ".join(made.query for made in self._made))
        shown: dict[int, None] = {}
        for made in self._made:
            latest = made.turn == (self._turn or 0) - 1
            if not latest and not self.keep_passages:
                continue
            new = [page for page in made.pages if page not in shown]
            shown |= dict.fromkeys(new)
            lines.append(f"\nPages for: {made.query}")
            for page in self.collection.pages(new):
                words = page.text.split(maxsplit=self.passage_words)
                cut = " ..." if len(words) > self.passage_words else ""
                lines.append(f"[{page.title}] {' '.join(words[: self.passage_words])}{cut}")
            if len(new) < len(made.pages):
                lines.append(f"({len(made.pages) - len(new)} more shown above)")
        return {"text": "\n".join(lines).replace("<", "(").replace(">", ")")}

    # ------------------------------------------------------------------ fork

    def _save(self) -> dict[str, Any]:
        made = msgspec.to_builtins(self._made)
        return {"index": self._index, "stride": self._stride, "place": self._place, "made": made, "given": self._given}

    def _load(self, data: dict[str, Any]) -> None:
        saved = msgspec.convert(data, Saved)
        ids = self.collection.ids[self.split]
        if saved.place >= len(ids) or ids[saved.place] not in self._known:
            raise ValueError("there is no such question")
        if len(saved.made) > self.max_turns * self.max_actions_per_turn or len(saved.given or "") > MAX_ANSWER:
            raise ValueError("there is more of it than an episode can hold")
        for made in saved.made:
            if len(made.query) > MAX_QUERY or len(made.pages) > self.hits or made.turn >= self.max_turns:
                raise ValueError("a search does not fit")
            if any(page >= len(self.collection) for page in made.pages):
                raise ValueError("there is no such page")
        self._restore_walk(saved.index, saved.stride)
        self._place, self._made, self._given = saved.place, saved.made, saved.given
