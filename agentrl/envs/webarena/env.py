"""WebArena-Lite: tasks on five web sites, done by an agent that browses."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from gymnasium import spaces

from agentrl.core.arguments import whole_number
from agentrl.core.env import AgentEnv, Outcome
from agentrl.core.errors import ConfigError, Fault
from agentrl.core.parsing import Turn, quote
from agentrl.core.spaces import AnyText
from agentrl.core.task_generator import TaskGenerator
from agentrl.envs.webarena import arguments
from agentrl.envs.webarena.acting import grammars
from agentrl.envs.webarena.acting.actions import Action, perform, possible_actions
from agentrl.envs.webarena.acting.grammars import InGrammar, read_turn
from agentrl.envs.webarena.arguments import one_of
from agentrl.envs.webarena.backend import ActionFailed, View
from agentrl.envs.webarena.embedded import EmbeddedSites
from agentrl.envs.webarena.evaluators.answers import DIALECTS
from agentrl.envs.webarena.evaluators.evaluate import evaluate
from agentrl.envs.webarena.evaluators.judge import answer_judge
from agentrl.envs.webarena.observing.modes import EXPLANATIONS, observe
from agentrl.envs.webarena.observing.texts import told
from agentrl.envs.webarena.oracle import about, right_action
from agentrl.envs.webarena.picturing.page_picture import PagePicture
from agentrl.envs.webarena.state import GUIDES, Episode, Saved, WebState, page_facts, quoted_words, records
from agentrl.envs.webarena.tasks.intents import intent_id
from agentrl.envs.webarena.tasks.mutations import WebTaskMutations
from agentrl.envs.webarena.tasks.schema import SITES
from agentrl.envs.webarena.tasks.source import Found, GeneratedTasks, find_task

if TYPE_CHECKING:
    from agentrl.envs.webarena.live.sites import LiveSites

OUTCOME = "outcome"  # the one reward term


class WebArenaLiteEnv(InGrammar, AgentEnv[Any, Any]):
    """Do tasks on five web sites: a shop, its administration, a forum, a code host and a map.

    ## Description
    A person asks for something that takes browsing: find out a fact, bring up a page, or change something (order,
    review, post, merge, invite). The agent sees the page as text, clicks, types, goes back, opens tabs, and ends with
    an answer. The sites are real web applications over a database, with thousands of products, posts, commits and
    places, served in this process: an episode starts in milliseconds, changes nothing for any other episode, and can
    be saved and forked like every environment of the suite.

    ![The five sites](../../_static/webarena.png)

    `agentrl site agentrl/WebArenaLite-Text-v0` serves the sites to a person. Addresses, form names and page hooks are
    those of the benchmark's sites (Magento, Postmill, GitLab, OpenStreetMap), so that its evaluators run on them
    unchanged.

    Pages behave as on the real sites, by a script in a browser and in the same way without one:

    - Menus open while the pointer is on them (`Hover` on the shop's categories). The mini cart, drop-downs with a
      filter (labels and assignee of an issue), dialogs and confirmations (members of projects and groups), tabs (a
      product's details and reviews) and calendars beside date fields open by a click; a click elsewhere or Escape
      closes them, and what lies under them cannot be clicked.
    - Content comes late: the box of a merge request first says that it checks. It is there at the next action,
      whichever that is (`Wait` is one that does nothing else), so that ids of earlier observations may be stale. For a
      person it comes after 0.8 seconds.
    - Lists of activity go on where they are scrolled to their end.
    - The map is zoomed and moved in place by its buttons, dragged with the mouse (by persons, and clients with a
      mouse), and opens a menu on a right click.

    Behaviour is a part of snapshots: a fork keeps an open menu open. Without a script links lead to the same. What does
    not behave: double clicks are clicks, the wheel does not zoom the map, nothing is dropped on anything, menus have
    two levels and do not open by keys, and no address changes without a page load.

    ## Observations
    `{"text"}`: the instruction, what became of the last action where that is worth a word, and the part of the page
    that is in view (1280 x 720 pixels), in one of four forms (`observation_mode`):

    - `"simplified"`: WebRL's simplified HTML. What one can act on has an `id`; attributes tell place and contents.
    - `"accessibility"`: tabs, address and WebArena's tree of roles, names and properties, an id on every line,
      `[12] link 'Checkout'`.
    - `"compact"`: one line for each element and text, at most 800 tokens of SmolLM2, for small models.
    - `"html"`: the HTML of the whole page, without ids.

    Ids are those of what is in view and, but for the tree, can be acted on, counted anew for every observation.

    The Visual kind shows `{"text", "image"}`: the page as a picture, uint8 [720, 1280, 3], in which everything that can
    be acted on has a frame and a tag with its id (set of marks, as in VisualWebArena and WebVoyager). The text has the
    instruction, `<image>` in the place of the picture, and, with `observation_mode="marks"`, a list of the ids such as
    `[12] a Checkout`; `"none"` leaves the list out, and the other modes add what they add to the Text kind.

    ![The shop with marks](../../_static/webarena-marks.png)

    With `backend="browser"` the picture is Chromium's own, with `"dom"` an approximation drawn from the layout: boxes,
    texts, fields and pictures stand where Chromium puts them to the pixel, and the mean difference to its screenshots
    is about 1.5 of 255 steps. What differs: the edges of letters and of the map's streets, signs that the sites' font
    lacks (drawn by us or as a box), shadows, and pictures in other SVG than simple shapes.

    ## Actions
    One a turn, bare or between `<answer>` and `</answer>`, in one of three grammars (`action_format`):

    - `"webrl"`: `do(action="Click", element="12")`, `do(action="Type", argument="text", element="12")`, `Search` (type
      and press Enter), `Select Dropdown Option`, `Hover`, `Right Click`, `Scroll Down`, `Scroll Up`, `Press Enter`,
      `Go Backward`, `Go Forward`, `Switch Tab`, `Wait`, `Go To`, and `exit(message="answer")`. Lines of comment may
      come before it. `strict_upstream=True` reads only what WebRL's own parser reads.
    - `"webarena"`: `click [12]`, `type [12] [text] [1]`, `hover [12]`, `press [Enter]`, `scroll [down]`, `new_tab`,
      `tab_focus [0]`, `close_tab`, `goto [url]`, `go_back`, `go_forward`, `stop [answer]`.
    - `"browsergym"`: `click("12")`, `fill("12", "text")`, `select_option("12", "Blue")`, `press("12", "Enter")`,
      `scroll(0, 400)`, `goto("url")`, `go_back()`, `new_tab()`, `send_msg_to_user("answer")`,
      `report_infeasible("why")`; without ids, at pixels of the picture, `mouse_click(640, 360)`, `mouse_dblclick`,
      `mouse_move`, and `keyboard_type("text")`. It is the call between `<action>` and `</action>`, else the last one
      outside `<think>`. Button, scroll distance and options are BrowserGym's in name: there is a left and a right
      button without modifiers, scrolling is by two thirds of what is seen, one option is chosen at a time.

    An action that cannot be read or done changes nothing; `info["feedback"]` and the next observation say why.
    `info["told_actions"]` adds to each action the name of what it was done to, `click [12] (Checkout)`: outcome judges
    read that, since ids mean something on their own page only.

    ## Rewards
    One term, `outcome`: 1 if the task's evaluator passes at the end, else 0. Evaluators are the benchmark's: the answer
    (exact, containing, or judged), the address of the last page, and what stands on pages of the sites afterwards. They
    run once, when the agent exits or its turns are used up, on a page of their own. Where nobody can tell (a task
    without an evaluator, `hide_outcome=True`, a judge that does not answer) the term is pending: `info["pending"]` is
    `["outcome"]`, and no zero is invented. An invalid action costs `invalid_penalty`, nothing by default.

    In generated tasks an answer must say what is asked for and nothing else, so that listing guesses does not pay.
    "Maintainer", "The role is Maintainer." and "Ada Berg has the Maintainer role in core/engine." pass; "Maintainer or
    Owner" and "not Maintainer" do not. Beside the value may stand words of the instruction and words that any sentence
    has, at most 200 characters more than both; no other name, title or status, and where the value has a number no
    number that the instruction has not. In a choice the other options may not be named. Numbers count in digits, with
    or without unit, dates, distances and telephone numbers in any notation. The instruction repeated is no answer.
    Tasks of files keep the benchmark's rules, unless they set `nothing_else` ([Web tasks on other
    sites](../../web-tasks.md)).

    ## Episode end
    Terminates when the agent exits. After `max_turns` turns the evaluator runs all the same: a pass terminates,
    anything else truncates (`info["limit"] == "task"`). With `early_stop=True` the benchmark's own script is followed,
    which gives up after three replies in a row that cannot be read and after five equal actions in a row.

    ## Arguments
    - `observation_mode=None`: `"simplified"`, `"accessibility"`, `"compact"` or `"html"`, the first by default. In the
      Visual kind also `"marks"`, the default there, and `"none"`.
    - `picture="viewport"`: or `"full"`, four screens of the page (all of it, if it is shorter, with grey below its end;
      else the part around what is in view) with lines above and below what is in view. Marks are on what is in view
      even then: the rest cannot be acted on before it is scrolled to.
    - `marks=True`: frames and ids in pictures.
    - `image_size=None`: how long the longer side of the picture is; by default that of the screen, 1280 (2880 with
      `"full"`). Marks are drawn after scaling, and stay readable.
    - `action_format="webrl"`: `"webrl"`, `"webarena"` or `"browsergym"`.
    - `sites=None`: only tasks that need no other sites than these, of `"shopping"`, `"shopping_admin"`, `"reddit"`,
      `"gitlab"` and `"map"`.
    - `templates=None`: only tasks of these templates, such as `["map-phone", "map-open-page"]`: a small world to study
      learning in. Splits stay what they are; a template that is kept for the test split has no tasks in the others.
    - `joined=0`: N: only N tasks in two parts, none of the single ones, a fixed draw (the first N of any larger one):
      a change on one site, then a task on another, both of the split, and of `sites` and `templates`. 0: single tasks.
    - `task_file=None`: tasks from a file in the benchmark's schema, with ids `file:0`, `file:1`, ... Rows may have no
      evaluator (`intent`, `sites`, `start_url`: the form of WebRL's instructions). Or the benchmark's own, by name:
      `"webarena-lite"` (165) and `"webarena"` (812).
    - `sites_at="embedded"`: the sites of this package. A dict of names and addresses: real sites, which need the back
      end `"browser"` and a `task_file`; `"environment"`: those that `WA_SHOPPING` or `SHOPPING` and so on name.
    - `reset_sites=None`: for real sites, what brings them into their first state before every episode: a function of
      the names of the task's sites, or a command as a list.
    - `accounts=None`: for real sites, a JSON file with other accounts than the benchmark's, `{"shopping": {"name": ...,
      "password": ...}}`; or set `WA_SHOPPING_USERNAME` and `WA_SHOPPING_PASSWORD`.
    - `storage_state=None`: for real sites, the path of a storage state of Playwright to start with, instead of a login.
    - `dialect=None`: whose rules of comparison the evaluators follow, `"lite"` (WebArena-Lite's), `"webarena"`
      (WebArena's, the default with the tasks of that name) or `"browsergym"` (BrowserGym's for WebArena-Lite's tasks).
    - `judge="rule"`: who compares answers that need judgement: rules, a judge spec such as `{"kind": "llm", ...}`, or a
      function.
    - `hide_outcome=False`: leave every outcome pending, for reward models.
    - `early_stop=False`, `strict_upstream=False`: see above.
    - `ids=None`: which elements have ids. `"innermost"`, the default with `"simplified"` and `"html"`: WebRL's rule,
      the innermost of what shows a hand, so that a word inside a link has the id and the rest of the link none.
      `"whole"`, the default elsewhere but for the tree: a link or button has one id, which stands at all of its text;
      pages have fewer ids, and an id says what a click on it does.
    - `prompt="rules"`: the system prompt explains the task, observations begin with the instruction. `"webrl"`: the
      system prompt is the instruction, observations are the page alone, as the prompt style `webrl` needs it for
      WebRL's published models (see [Web tasks on other sites](../../web-tasks.md)).
    - `show_feedback=True`: say in the observation why the last action failed.
    - `show_address=None`: whether tabs and address stand above the page; by default as in the papers, which show them
      with the accessibility tree only.
    - `backend="dom"`: pages are parsed and laid out without a browser. `"browser"`: in the system's Chromium, one for
      the process; same texts, ids and rewards, about a tenth of a second a step. Needs the extra `browser`.
    - `max_turns=30`, `invalid_penalty=0.0`, `max_actions_per_turn=1`, `split="train"`, `render_mode=None`.
    - `whole_turn_penalty=False`: of no effect here, where actions cost nothing.
    - `full_info=True`; False: only `success`, `valid` and `effective`, for libraries that store `info` in arrays.

    ## Tasks
    Generated from templates over the sites' data, each instance with an exact evaluator and a solution. Ids name the
    template: `shop-price-of-product.17`. Instances are divided into splits by what they are about, and some templates
    are kept for the test split altogether. `info["novelty"]` says what a test task has that training had not: "data"
    (the template was trained), "template" (another one with the same skill was), or "skill". `info["template"]` and
    `info["skill"]` name both, and `info["metrics"]` at the end tells success by site and novelty.

    `task_generator()` makes training tasks out of those that failed: another instance of the template (also beyond
    `tasks()`, which takes 120 of each), other templates of the same skill or site with fewer or more steps, other words
    for the same task (`shop-price-of-product.17~1`), and two tasks on different sites in one, joined by `+`, whose two
    evaluators must both pass.

    No answer is that of more than a fifth of a template's tasks, or an even share where there are fewer than five
    answers. Templates whose answer may be N/A ask in the same words about things that exist.

    An id may hold the task itself: `intent:` and the base64 form of a JSON object with `intent`, `sites`, `start_url`.

    [What players earn that do not do the work](../../results/web.md#answers-without-work).

    ## Truth
    `state()` supports `natural` and `structured`: site, kind and title of the page, contents of its form fields and of
    the cart. `to_json()` adds `instruction`, `actions` and `page` (what an outcome judge reads), the rows that the
    episode has changed, and what the evaluator still misses. `oracle()` gives the next right action of a generated
    task from any page.

    ## Honest note
    These are embedded sites with generated data, not the official benchmark, and scores on them are not WebArena-Lite
    scores. For those, run the benchmark's containers and use `sites_at="environment"`, `task_file="webarena-lite"`,
    `backend="browser"` and a language model as `judge` (`pip install --no-deps browsergym-webarenalite==0.14.3` brings
    the tasks): see [Web tasks on other sites](../../web-tasks.md). The benchmark's four tasks on Wikipedia need the
    address of one. Real sites keep what an episode does to them: they cannot be saved (`SnapshotUnsupported`),
    `state()` does not know their records, and what the evaluator misses is known at the end only.
    """

    state_type = WebState
    representations = frozenset({"natural", "structured"})
    task_reward = 1.0
    safe_arguments = (
        "kind", "sites", "templates", "joined", "observation_mode", "action_format", "dialect", "hide_outcome",
        "early_stop", "strict_upstream", "show_feedback", "show_address", "ids", "prompt", "picture", "marks",
        "image_size",
    )  # fmt: skip
    guides = GUIDES

    def __init__(
        self,
        *,
        kind: str = "text",
        sites: Sequence[str] | None = None,
        templates: Sequence[str] | None = None,
        joined: int = 0,
        observation_mode: str | None = None,
        action_format: str = "webrl",
        backend: str = "dom",
        task_file: str | os.PathLike[str] | None = None,
        sites_at: str | Mapping[str, str] = arguments.EMBEDDED,
        accounts: str | os.PathLike[str] | None = None,
        reset_sites: Callable[[Sequence[str]], Any] | Sequence[str] | None = None,
        storage_state: str | os.PathLike[str] | None = None,
        dialect: str | None = None,
        judge: Any = "rule",
        hide_outcome: bool = False,
        early_stop: bool = False,
        strict_upstream: bool = False,
        ids: str | None = None,
        prompt: str = "rules",
        show_feedback: bool = True,
        show_address: bool | None = None,
        picture: str = "viewport",
        marks: bool = True,
        image_size: int | None = None,
        max_turns: int = 30,
        max_actions_per_turn: int = 1,
        invalid_penalty: float = 0.0,
        **others: Any,
    ) -> None:
        whole_number("max_actions_per_turn", max_actions_per_turn, at_least=1, at_most=1)
        super().__init__(max_turns=max_turns, invalid_penalty=invalid_penalty, **others)
        self.kind, self.observation_mode = arguments.kind_and_mode(kind, observation_mode)
        self.action_format = arguments.grammar(action_format, strict_upstream)
        self.dialect = one_of("dialect", dialect or ("webarena" if task_file == "webarena" else "lite"), DIALECTS)
        self._backend_kind = one_of("backend", backend, arguments.BACKENDS)
        answer_judge(judge)  # one that cannot judge answers is refused here, not at the end of an episode
        self.judge, self.hide_outcome, self.early_stop = judge, bool(hide_outcome), bool(early_stop)
        self.strict_upstream, self.show_feedback = bool(strict_upstream), bool(show_feedback)
        self.prompt = one_of("prompt", prompt, arguments.PROMPTS)
        self.ids = arguments.labelling(ids, self.observation_mode)
        self.show_address = show_address if show_address is None else bool(show_address)
        self._addresses = arguments.live_addresses(sites_at)  # None: the embedded sites
        self._live_options = {"accounts": accounts, "reset_sites": reset_sites, "storage_state": storage_state}
        arguments.check_place(self._addresses, self._live_options, self._backend_kind, task_file)
        joined = whole_number("joined", joined, at_least=0, at_most=10_000)
        self._source = arguments.task_source(
            task_file, self._addresses, sites, templates, joined, self.split, self._backend_kind
        )
        self.picture, self.image_size = PagePicture(picture, marks, image_size), image_size
        image = {"image": spaces.Box(0, 255, self.picture.shape, np.uint8)} if self.kind == "visual" else {}
        self.observation_space = spaces.Dict({"text": AnyText(), **image})
        self.action_space = AnyText([self.action_name(action) for action in grammars.SAMPLES])
        self._found: Found | None = None
        self._open()

    def _open(self) -> None:
        """What belongs to this process: connections to the sites' data, and the pages that are open."""
        if self._addresses is None:
            self._sites: EmbeddedSites | LiveSites = EmbeddedSites(self._backend_kind)
        else:
            from agentrl.envs.webarena.live.sites import LiveSites  # an extra

            self._sites = LiveSites(self._addresses, **self._live_options)
        self.world, self.backend = self._sites.world, self._sites.backend
        self.backend.labelling = self.ids
        self._forget()

    def _forget(self) -> None:
        """Nothing has happened yet in this episode."""
        self.picture.forget()
        self._sites.forget()
        self._episode = Episode()

    def tasks(self) -> Sequence[str]:
        """The ids of this split's tasks."""
        return self._source.ids(self.split)

    def _find_task(self, task: Any) -> Found:
        found = find_task(self._source, task, self.split, self._addresses) if isinstance(task, str) else None
        if found is None:
            shown = quote(task) if isinstance(task, str) else type(task).__name__
            raise ConfigError(f"task must be one of tasks(), such as {self.tasks()[0]!r}; got {shown}")
        return found

    def instruction_of(self, task: str) -> str:
        """The intent."""
        return self._find_task(task).task.intent

    def task_for(self, instruction: str, like: str) -> str:
        """An `intent:` id on the sites of another task; `ConfigError` for what is no instruction."""
        other = self._find_task(like).task
        known = dict.fromkeys((*SITES, *(self._addresses or ())))
        return intent_id(instruction, other.sites, other.start_url, known)

    def _task_generator(self) -> TaskGenerator:
        if not isinstance(self._source, GeneratedTasks):
            return super()._task_generator()
        return WebTaskMutations(self._source.sites, self._source.only, self.max_turns, self._solvable)

    def _solvable(self, task: str) -> bool:
        """Does the oracle do it within the turns?"""
        return self._rehearse(task)[1]

    def _begin(self, task: Found) -> None:
        self._found = task
        self._forget()
        self._sites.start(task.task)

    def _task(self) -> str:
        return self._current.id

    @property
    def _current(self) -> Found:
        assert self._found is not None  # since the first reset
        return self._found

    def _read(self, action: Any) -> Turn:
        turn = read_turn(action, self.action_format, strict_upstream=self.strict_upstream)
        self._episode.unread, self._episode.told = 0 if turn.actions else self._episode.unread + 1, []
        return turn

    def _run(self, turn: Turn) -> tuple[list[str], dict[str, float], bool, str | None]:
        done, terms, effective, fault = super()._run(turn)
        if self.early_stop and not self._terminated and (why := self._episode.is_stuck):
            stopped = self._finish("", f"Stopped early: {why}")
            terms = {**terms, **stopped.terms}
            self._terminated, self._success = True, stopped.success
            self._feedback = " ".join(filter(None, (self._feedback, stopped.feedback)))
        return done, terms, effective, fault

    def _act(self, primitive: Action) -> Outcome:
        name, episode = self.action_name(primitive), self._episode
        episode.done.append(name)
        episode.told.append(name)
        if primitive.ends:
            return self._finish(primitive.answer, "")
        view = self.backend.view()
        episode.told[-1] = told(name, view, primitive.element)
        before = self._moment(view)
        if primitive.point is not None and self.kind == "visual":
            to = None if primitive.to is None else self.picture.in_view(primitive.to, view)
            primitive = replace(primitive, point=self.picture.in_view(primitive.point, view), to=to)
        try:
            feedback = perform(primitive, self.backend)
        except ActionFailed as problem:
            return Outcome({}, valid=False, feedback=str(problem))
        after = self.backend.view()
        effective = self._moment(after) != before
        if after.error or after.status >= 400:
            feedback = feedback or after.error or f"The page could not be shown (status {after.status})."
        return Outcome({}, effective=effective, feedback=feedback)

    def _moment(self, view: View) -> tuple[Any, ...]:
        """Differs whenever an action has changed anything."""
        return view.url, view.root, view.scroll, view.active, view.tabs, tuple(view.values.values()), self.world.writes

    def _finish(self, answer: str, feedback: str) -> Outcome:
        """The result of the episode: 1, 0, or pending where nobody can tell yet."""
        episode, task = self._episode, self._current.task
        episode.answer = answer
        if not self.hide_outcome and task.eval is not None:
            accounts = self._sites.accounts
            try:
                result = evaluate(task, answer, self.backend, self.dialect, self.judge, self._addresses, accounts)
                episode.score, episode.lacks = result.score, tuple(result.lacks)
            except Fault as fault:
                feedback = f"The result could not be judged ({type(fault).__name__}: {fault})."
        terms = {} if episode.score is None else {OUTCOME: episode.score}
        return Outcome(terms, True, True, episode.score == 1.0, feedback)

    def _at_limit(self) -> Outcome:
        """Without an answer; a task that only asked for a change may be done."""
        outcome = self._finish("", "")
        return outcome._replace(terminated=outcome.success)

    def _pending_terms(self) -> list[str]:
        return [OUTCOME] if self._episode.pending else []

    def _info(self, actions: list[str], terms: dict[str, float], **facts: Any) -> dict[str, Any]:
        info = super()._info(actions, terms, **facts)
        task = self._current.about()
        info |= {"url": self.backend.view().url, "told_actions": list(self._episode.told), **task, "metrics": {}}
        if self._over and self._episode.score is not None:
            # The result once more, under what an analysis groups by: each site, and what was new about the task.
            names = [*self._current.task.sites, *([f"new_{task['novelty']}"] if task["novelty"] else [])]
            if getattr(self._source, "is_elsewhere", False):  # they would spoil the figures of the sites
                names = ["official_tasks_elsewhere"]
            info["metrics"] = {f"success_{name}": float(self._episode.score) for name in names}
        return info

    def state(self) -> WebState:
        """The page, the forms, the cart, what was changed, what is still missing."""
        view, task = self.backend.view(), self._current.task
        return WebState(
            instruction=task.intent,
            actions=tuple(self._episode.done),
            page=self._written(),
            site=arguments.site_of(view.url, self._addresses),
            cart=self._sites.cart(),
            records=records(self.world),
            missing=self._sites.missing(task, self.dialect, at_end=self._episode.lacks),
            answer=self._episode.answer,
            outcome=self._episode.score,
            **page_facts(view),
        )

    def oracle(self) -> str | None:
        """The next right action; None for tasks that were not generated here."""
        instance = self._current.instance
        if self._over or instance is None:
            return None
        action = right_action(instance, self.backend, self.world, self.dialect)
        return None if action is None else self.action_name(action)

    def actions_needed(self) -> int | None:
        """How many actions of the oracle the task takes from here."""
        return None if self._over or self._current.instance is None else self._rehearse()[0]

    def _rehearse(self, task: str | None = None) -> tuple[int, bool]:
        """How many actions the oracle takes, and whether it succeeds: from here, or in a task from its start. Played on
        a copy, which asks no judge and opens no browser."""
        with closing(
            type(self)(**{**self._arguments, "backend": "dom", "judge": "rule", "hide_outcome": False})
        ) as copy:
            if task is None:
                copy._load_all(self._save_all())
            else:
                copy.reset(options={"task": task})
            count = 0
            while (action := copy.oracle()) is not None:
                copy.step(action)
                count += 1
            return count, copy._success

    def about_task(self) -> dict[str, Any]:
        """The site, how many requirements the instruction states, and how many actions the solution takes."""
        return about(self._current)

    def hasty_action(self) -> str | None:
        """The end without an answer, as if all were done: what agents do that do not look whether it is."""
        return None if self._over else self.action_name(Action("exit"))

    def legal_actions(self) -> list[str]:
        """Every click, the words of the instruction in every text field, scrolling, going back and giving up."""
        if self._over:
            return []
        words = quoted_words(self._current.task.intent)
        return [self.action_name(action) for action in possible_actions(self.backend.view(), words)]

    @property
    def system_prompt(self) -> str:
        """The task, the observation, the actions and the limits; with `prompt="webrl"` the instruction alone."""
        if self.prompt == "webrl" and self._found is not None:
            return f"Task Instruction: {self._current.task.intent}"
        shown = EXPLANATIONS[self.observation_mode]
        if self.kind == "visual":
            shown = f"{self.picture.explanation} {shown}".rstrip()
        return grammars.system_prompt(shown, self.action_format, self.max_turns, visual=self.kind == "visual")

    def _observe(self) -> dict[str, Any]:
        if self.prompt == "webrl" and self.kind == "text":
            return {"text": self._written()}
        feedback = f"{self._feedback}\n" if self._feedback and self.show_feedback and not self._over else ""
        text = f"Instruction: {self._current.task.intent.replace('<', '(')}\n{feedback}"
        if self.kind == "text":
            return {"text": text + self._written()}
        # The page and its messages may hold the mark of a picture; only ours counts.
        text, page = (part.replace("<image>", "(image)") for part in (text, self._written()))
        return {"text": f"{text}<image>\n{page}".rstrip(), "image": self._draw()}

    def _draw(self) -> np.ndarray:
        return self.picture.take(self.backend)

    def _written(self) -> str:
        """The page as text."""
        return observe(self.backend.view(), self.observation_mode, header=self.show_address)

    def _draw_text(self) -> str:
        return observe(self.backend.view(), "compact")

    def _save(self) -> dict[str, Any]:
        episode = self._episode
        saved = Saved(
            self._index, self._stride, self._task(), self.world.save(), self.backend.save(), list(episode.done),
            episode.unread, episode.answer, episode.score, episode.pending,
        )  # fmt: skip
        return msgspec.structs.asdict(saved)

    def _load(self, data: dict[str, Any]) -> None:
        saved = msgspec.convert(data, Saved)
        found = self._find_task(saved.task)
        self._restore_walk(saved.index, saved.stride)
        self.world.load(saved.world)
        self.backend.load(saved.backend)
        self._found = found
        self._forget()
        self._episode = Episode(saved.done, [], saved.unread, saved.answer, saved.score)

    def close(self) -> None:
        """Close the databases; may be called twice."""
        super().close()
        self.backend.close()
        self.world.close()

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        for name in ("world", "backend", "_sites"):
            del state[name]  # connections and pages belong to their process
        return {**state, "_found": None, "_saved": None if self._turn is None else self._save()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        saved = state.pop("_saved")
        self.__dict__.update(state)
        self._open()
        if saved is not None:
            self._load(saved)
