"""WebShop: find, choose and buy what somebody asked for in a shop of many thousand products."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
import numpy as np
from gymnasium import spaces

from agentrl.core.arguments import one_of, whole_number
from agentrl.core.env import AgentEnv, Outcome
from agentrl.core.errors import ConfigError
from agentrl.core.parsing import Turn, quote
from agentrl.core.spaces import AnyText
from agentrl.core.task_generator import TaskGenerator
from agentrl.core.tools import function_schema
from agentrl.envs.webshop import navigation, page_text
from agentrl.envs.webshop.actions import MAX_SEARCH, Action, plain, read_tagged_turn, read_turn, tagged_reply
from agentrl.envs.webshop.goals import NO_LIMIT, GeneratedGoals, Goal, GoalIds
from agentrl.envs.webshop.official_store import SHUFFLE_SEED
from agentrl.envs.webshop.page_html import page_html
from agentrl.envs.webshop.pages import DONE, ITEM, RESULTS, SEARCH, Page, Place, available_actions, instruction
from agentrl.envs.webshop.protocols import settings_of
from agentrl.envs.webshop.reward import Reward, exact_terms, purchase_parts
from agentrl.envs.webshop.shop import RANDOM, ShopSpec, open_shop
from agentrl.envs.webshop.state import Saved, ShopState
from agentrl.envs.webshop.wishes import WishMutations

if TYPE_CHECKING:
    from agentrl.envs.webshop.browsing import ShopBrowser

WRITERS = {"text": page_text.page_text, "text_rich": page_text.page_rich_text, "html": page_html}
DEFAULT_SIZE = 10_000
SUCCESS_REWARD = 10.0
DRAWS = ("walk", "weight")
BACKENDS = ("embedded", "browser")
# What `action_space.sample()` chooses from without looking at the page; `legal_actions` looks at it.
SAMPLES = (
    *("search[cotton shirt]", "search[<r>]", "click[next >]", "click[< prev]", "click[back to search]"),
    *("click[description]", "click[features]", "click[large]", "click[buy now]"),
)


class WebShopEnv(AgentEnv[Any, Any]):
    """Find, choose and buy what somebody asked for in a shop of many thousand products.

    ## Description
    A person's wish names a kind of product, attributes, options and a price limit. The agent searches, looks at
    results and products, chooses options and buys one product; it is paid by how well the purchase fits. Pages,
    actions, search ranking and reward follow WebShop; the products are generated from a seed (any number from 1,000
    to 1,180,000), in families of near misses, so that the first result is seldom the right one.

    ![Search, results, product and receipt](../../_static/webshop.png)

    `agentrl shop` serves the same shop as a web page, to try a task yourself. `agentrl eval ID --policy webshop-naive`
    searches the instruction and buys the first result: a mean reward of about 0.5, with a success rate of 6 in 100.
    The oracle's is 1.

    ## Observations
    - `Text`: `{"text"}`, the page. `observation_mode="text"` joins its strings by `[SEP]`, `"text_rich"` writes one a
      line and marks what can be clicked, `"html"` is a whole document whose visible strings are those of the text.
    - `Visual`: `{"text", "image"}`: the wish in the text, the page in the picture, drawn in the same arrangement as
      the web page. Type shrinks in steps for long pages; what still does not fit is cut, and a last line says so.
      With `backend="browser"` it is a screenshot, of long pages a smaller one; what is still too long is cut.

    `info["available_actions"]` holds `has_search_bar` and `clickables`, `info["url"]` the page's address in the
    benchmark's scheme. When a turn was invalid, a line above the page says why; `show_feedback=False` leaves it out.
    `prompt="admissible"` adds earlier turns and the actions that the page admits.

    ## Actions
    One a turn, bare or between `<answer>` and `</answer>`: `search[words]`, on any page, or `click[what]` for
    anything of `clickables`. There are 10 results a page and at most 50. `Next >` is always there on results;
    `< Prev` leads from a sub page to its product with the options kept, and from a product to the results, options
    dropped. Choosing another value of an option replaces the first. Special searches: `<r>` finds 50 products at
    random, `<a> attribute`, `<c> category` and `<q> kind` those that have exactly this, 50 at most; the first of these
    three looks through the whole catalogue once (some seconds for 100,000 products) and keeps what it finds.

    An invalid action changes nothing: the page stays, the turn is used up, `info["feedback"]` says why. So it is with
    an empty search, one of more than 1,000 characters, or a click on what is not on the page.

    ## Rewards
    Only for buying: type x (attributes found + options chosen + price within the limit) / (attributes and options
    asked for + 1), between 0 and 1. The terms `attributes`, `options` and `price` are their shares of that and add up
    to it; `info["purchase"]` has the raw parts, the factor for the type among them. `info["success"]` is True for 1.0
    and nothing less. An invalid action costs `invalid_penalty`, nothing by default. With `reward="success"` the one
    term `success` is 10 for a purchase that is worth 1 and 0 for any other; `info["metrics"]` still tells the score.

    ## Episode end
    Terminates with `Buy Now`. Truncates after `max_turns` turns (`info["limit"] == "task"`). At the end
    `info["metrics"]` holds the score, 0 where nothing was bought.

    ## Arguments
    - `observation_mode="text"`: `"text"`, `"text_rich"` or `"html"`.
    - `catalogue_size=10000`, `catalogue_seed=0`: the generated shop. At this size the first use takes some seconds:
      every product is written once to build the search index, which is kept in the cache (`AGENTRL_CACHE`) with what
      results show of each product. 100,000 products give 12,087 goals, fewer products proportionally fewer.
    - `data_dir=None`: a folder with the benchmark's own files (`items_shuffle*.json`, `items_ins_v2*.json`,
      `items_human_ins.json`). With it, `products=None` names one of several `items_shuffle*.json`.
    - `protocol=None`: settings under which results were published, see below. It decides every argument that is None:
      `goals=None` ("human", or "synthetic", of the benchmark's files), `cuts=None`, `reward=None`, `prompt=None`,
      `num_prev_obs=None` and `num_prev_actions=None` (how many earlier pages and actions come before the page),
      `show_feedback=None` (say above the page why the last turn was invalid), `max_turns=None`,
      `invalid_penalty=None`.
    - `draw="walk"`: each goal of the split once before any comes again; `"weight"` draws each time by the goals'
      weights, as the original draws synthetic goals when it is not told which (they weigh more the rarer their
      attributes are; human and generated ones weigh the same).
    - `shuffle_seed=233`: of the benchmark's cuts, and the benchmark's own; None keeps the order of the files.
    - `show_attributes=False`: give products a further sub page with their hidden attributes.
    - `image_size=800`: width and height of the picture.
    - `backend="embedded"`: pages are made without a browser. `"browser"`: they are shown in the system's Chromium, one
      for the process; searches are typed and buttons clicked there, and the page that it arrives at is where the agent
      is. Texts, rewards and `info` are the same, pictures are screenshots; slower by far. Nothing leaves the machine.
      Needs the extra `browser` and Chromium. A browser that fails or dies raises `EnvFault`; the next call opens
      another.
    - `max_actions_per_turn=1`, `split="train"`, `render_mode=None`.
    - `whole_turn_penalty=False`: of no effect here, where actions cost nothing.
    - `full_info=True`; False: only `success`, `valid` and `effective`, for libraries that store `info` in arrays.

    ## Protocols
    What `protocol` sets, beside what the paper of StepPO used; an argument overrules it.

    | | None | "webshop" | "verl-agent" | StepPO's paper |
    |---|---|---|---|---|
    | products | generated | 1.18 million | 1,000 | 1.18 million |
    | `goals` | human | human | synthetic | human |
    | `cuts` | products | benchmark | benchmark | 500 dev, 11,587 train |
    | `prompt` | page | page | admissible | page, last actions, actions as tools |
    | `num_prev_obs`, `num_prev_actions` | 0 | 0 | 2 | recent actions |
    | `reward` | score | score | success | score |
    | `invalid_penalty` | 0 | 0 | -0.1 | not told |
    | `show_feedback` | True | False | False | not told |
    | `max_turns` | 15 | 100 | 15 | 15 |

    The products are what `data_dir` holds; without it the shop is generated, and its goals and splits are its own.
    `cuts="products"` never puts a product into two splits. `cuts="benchmark"` shuffles all goals as the original does
    and cuts them there: the first 500 are test, the next 1,000 dev, the rest train, so that `test-7` is goal 7 of the
    original and `train-7` goal 1,507; most products with synthetic goals then stand in several splits. `cuts="none"`
    puts all goals into every split, as the original does with fewer products than all.

    `prompt="admissible"` writes each observation as a prompt of its own in verl-agent's layout: the wish, the last
    pages and actions, the page, the list of actions that it admits, and the form of a reply,
    `<think>...</think><action>...</action>`. Beyond 13,000 characters it leaves the history out. A reply in another
    form costs `invalid_penalty`; an action that can be read in it runs all the same. The oracle and other scripted
    players write this form; `Reasoning`, `ToolCalls` and `react:` refuse an environment that asks for it. Since an
    observation holds its own history, train and evaluate with `--prompt-style step --history 0`.

    "webshop" is the original's code: its environment has no limit of steps, its training scripts stop after 100, and
    its RL baseline multiplies the score by 10. When it draws by weight, each goal is drawn with the weight of the one
    before it; here with its own.

    verl-agent has no dev split and trains on all but the first 500 goals. Each of its workers shuffles the goals with a
    seed of its own, so that one may train on what another is tested on. It takes 0.1 for the form alone (also for
    Chinese characters); here an action that the page does not admit costs it, too. Of a reply without `<action>` it
    tries the last 20 characters. Its list holds `click[search]`, which does nothing. The sentences of the prompt are
    ours.

    For StepPO's setting take `data_dir=..., cuts="benchmark"` (its dev goals are the test split here) and the wrappers
    `ToolCalls` and `History`.

    ## Truth
    `state()` supports `natural` and `structured`: page, search, open product, chosen options, and what of the wish the
    open product does not meet yet. `oracle()` gives the next right action from any page: it searches the
    attributes, kind and options of the wish (or, where these do not bring the product up among 50 results, a query with
    its maker's name), turns pages, opens the product, chooses its options and buys.

    In a generated shop, `task_generator()` makes wishes out of training goals: another attribute, option value or
    limit, more of them or fewer, or as much of another product. Their ids are those of goals with the wish behind
    (`train-17:a0.2:o3:p4`), and they are rewarded like goals.

    ## Honest note
    By default this is a generated catalogue, not the official benchmark, and scores on it are not scores on WebShop.
    With `data_dir` the products, instructions, ranking, colour words and formula are the benchmark's (every product and
    goal is kept, and result lists are Lucene's to the last place); three things still differ. The original draws price
    limits, and prices within a range, before it seeds its generator, so that they change from run to run; here seed and
    product decide. Nouns are those of spaCy's model where it is installed (the extra `webshop-spacy`, then
    `python -m spacy download en_core_web_sm`); else rules find 98 of 100 of them. On generated files of the
    benchmark's format 0.6 % of the rewards for the first ten results then differ, as many as between two versions of
    that model; on the benchmark's own 1,000 products rules of this kind changed 2.6 % and left the mean score of
    buying the first result where it was (0.572, with the model 0.571). And a product never has goals in two splits,
    unless `cuts="benchmark"`.

    Actions are read more generously than in the original: names in either case, brackets inside a search, any white
    space, the first of several actions (there, none of these is an action). Where two options of a product share a
    value, a click chooses the one that is not chosen yet; there always the last. Rich text has no white space around
    its strings.
    """

    graded = True
    state_type = ShopState
    safe_arguments = (
        "kind", "protocol", "observation_mode", "catalogue_size", "catalogue_seed", "goals", "cuts",
        "shuffle_seed", "draw", "reward", "prompt", "show_attributes", "num_prev_obs", "num_prev_actions",
        "show_feedback", "image_size",
    )  # fmt: skip
    representations = frozenset({"natural", "structured"})
    guides: ClassVar[dict[str, str]] = {
        "natural": "Say which page this is (with the search and its page of results, or the product), which options "
        "are chosen, and what of the instruction is still unmet.",
        "structured": 'A JSON object with the keys "page" ("search", "results", "item", "description", "features", '
        '"reviews", "attributes" or "done"), "query", "results_page" (0 before a search), "product" (an id or ""), '
        '"price" (of the product, a number or null), "options" (name to chosen value) and "unmet" (a list).',
    }

    def __init__(
        self,
        *,
        kind: str = "text",
        protocol: str | None = None,
        observation_mode: str = "text",
        catalogue_size: int = DEFAULT_SIZE,
        catalogue_seed: int = 0,
        data_dir: str | os.PathLike[str] | None = None,
        products: str | None = None,
        goals: str | None = None,
        cuts: str | None = None,
        shuffle_seed: int | None = SHUFFLE_SEED,
        draw: str = "walk",
        reward: str | None = None,
        prompt: str | None = None,
        show_attributes: bool = False,
        num_prev_obs: int | None = None,
        num_prev_actions: int | None = None,
        show_feedback: bool | None = None,
        image_size: int = 800,
        backend: str = "embedded",
        max_turns: int | None = None,
        max_actions_per_turn: int = 1,
        invalid_penalty: float | None = None,
        **others: Any,
    ) -> None:
        whole_number("max_actions_per_turn", max_actions_per_turn, at_least=1, at_most=1)
        given = {"goals": goals, "cuts": cuts, "reward": reward, "prompt": prompt, "num_prev_obs": num_prev_obs}
        given |= {"num_prev_actions": num_prev_actions, "show_feedback": show_feedback, "max_turns": max_turns}
        chosen = settings_of(protocol, {**given, "invalid_penalty": invalid_penalty}, data_dir is not None)
        super().__init__(max_turns=chosen.max_turns, invalid_penalty=chosen.invalid_penalty, **others)
        self._arguments = {**self._arguments, **asdict(chosen)}  # what is in force
        if kind not in ("text", "visual"):
            raise ConfigError(f"kind must be text or visual; got {kind!r}")
        self.kind, self.observation_mode = kind, one_of("observation_mode", observation_mode, WRITERS)
        self.draw, self.backend = one_of("draw", draw, DRAWS), one_of("backend", backend, BACKENDS)
        self.pays_success = chosen.reward == "success"
        self.task_reward = SUCCESS_REWARD if self.pays_success else 1.0
        self.reply_format = page_text.REPLY_FORM if chosen.prompt == "admissible" else ""
        self.show_attributes, self.show_feedback = bool(show_attributes), bool(chosen.show_feedback)
        self.num_prev_obs = whole_number("num_prev_obs", chosen.num_prev_obs, at_least=0, at_most=100)
        self.num_prev_actions = whole_number("num_prev_actions", chosen.num_prev_actions, at_least=0, at_most=100)
        self.image_size = whole_number("image_size", image_size, at_least=128, at_most=2048)
        cut = (chosen.goals, chosen.cuts, shuffle_seed)
        self._spec = ShopSpec.checked(catalogue_size, catalogue_seed, data_dir, products, *cut)
        self.shop = open_shop(self._spec)
        parts: dict[str, spaces.Space] = {"text": AnyText()}
        if kind == "visual":
            parts["image"] = spaces.Box(0, 255, (self.image_size, self.image_size, 3), np.uint8)
        self.observation_space = spaces.Dict(parts)
        self.action_space = AnyText([self.reply(action) for action in SAMPLES])
        self._wished: int | str = 0  # the goal: its number, or that and another wish (see `wishes`)
        self._place = Place()
        self._purchase: Reward | None = None
        self._seen: list[str] = []  # earlier pages and actions, as many as are shown
        self._done: list[str] = []
        self._opened: list[str] = []  # ids of products that were opened since the search page
        self._page: Page | None = None  # of the present place, made when it is first looked at
        self._browser = self._open_browser()

    def _open_browser(self) -> ShopBrowser | None:
        """The browser of this environment, if it has one; `MissingExtra` or `ConfigError` where it cannot have one."""
        if self.backend == "embedded":
            return None
        from agentrl.envs.common.browser import find_chromium  # an extra
        from agentrl.envs.webshop.browsing import ShopBrowser

        find_chromium()
        return ShopBrowser(self.shop, self._page_at, self.image_size)

    # ------------------------------------------------------------------ tasks

    def tasks(self) -> Sequence[str]:
        """The ids of this split's goals."""
        return GoalIds(self.split, len(self.shop.goals(self.split)))

    def _walk(self, *, start: bool, move: bool) -> None:
        super()._walk(start=start, move=move)
        if move and self.draw == "weight":
            self._index = self.shop.drawn_goal(self.split, self.np_random.random())

    def _find_task(self, task: Any) -> int | str:
        name, mark, wish = task.partition(":") if isinstance(task, str) else ("", "", "")
        split, _, number = name.partition("-")
        plain_number = number.isascii() and number.isdecimal() and str(int(number[:9])) == number
        goals = self.shop.goals(self.split)
        if split == self.split and plain_number and int(number) < len(goals):
            if not mark:
                return int(number)
            if goals.varied(int(number), mark + wish[:100]) is not None:
                return f"{number}{mark}{wish}"
        shown = quote(task) if isinstance(task, str) else type(task).__name__
        raise ConfigError(f"task must be one of {self.tasks()!r}; got {shown}")

    def _task_generator(self) -> TaskGenerator:
        goals = self.shop.goals(self.split)
        return WishMutations(self, goals) if isinstance(goals, GeneratedGoals) else super()._task_generator()

    def instruction_of(self, task: str) -> str:
        """What is to be bought."""
        return self.shop.goal(self.split, self._find_task(task)).instruction

    def _begin(self, task: int | str) -> None:
        self._ask_for(task)
        self._move(Place())
        self._purchase = None
        self._seen, self._done, self._opened = [], [], []
        self._show()

    def _show(self) -> None:
        if self._browser is not None:
            self._browser.show(self._task(), self._place)

    def _ask_for(self, task: int | str) -> None:
        self._wished = task
        self._index = int(str(task).partition(":")[0])  # a goal asked for by name is where the walk goes on

    def _task(self) -> str:
        return f"{self.split}-{self._wished}"

    @property
    def goal(self) -> Goal:
        """What is to be bought."""
        return self.shop.goal(self.split, self._wished)

    # ------------------------------------------------------------------ turns

    def _read(self, action: Any) -> Turn:
        turn = self._understood(action)
        if self.num_prev_obs or self.num_prev_actions:
            said = plain(action[:MAX_SEARCH]) if isinstance(action, str) else ""
            if self.reply_format:  # of a whole reply only the action
                said = str(turn.actions[0]) if turn.actions else quote(said)
            self._seen = [*self._seen, self._written()][-self.num_prev_obs :] if self.num_prev_obs else []
            self._done = [*self._done, said][-self.num_prev_actions :] if self.num_prev_actions else []
        return turn

    def _understood(self, action: Any) -> Turn:
        return read_tagged_turn(action) if self.reply_format else read_turn(action)

    def _run(self, turn: Turn) -> tuple[list[str], dict[str, float], bool, str | None]:
        done, terms, effective, fault = super()._run(turn)
        if turn.error and done and fault is None:  # buying ended the turn, which excuses later actions but not the form
            terms, fault = {**terms, "invalid": self.invalid_penalty}, "invalid_action"
        return done, terms, effective, fault

    def _act(self, primitive: Action) -> Outcome:
        browser, words = self._browser, primitive.argument
        if primitive.name == "search":
            lot = int(self.np_random.integers(2**31)) if words.split(" ", 1)[0] == RANDOM else 0
            place = navigation.searched(words, lot) if browser is None else browser.search(self._place, words, lot)
        else:
            part = self.page.body.find(words)
            if part is None or part.text == "Search":
                return Outcome({}, valid=False, feedback=page_text.not_on_page(self.page, words))
            place = (
                navigation.clicked(self.shop, self._place, part)
                if browser is None
                else browser.click(self._place, words)
            )
        effective = place != self._place
        self._move(place)
        if place.page == DONE:
            self._purchase = reward = self._scored(place)
            terms = {"success": SUCCESS_REWARD * reward.success} if self.pays_success else exact_terms(reward)
            return Outcome(terms, True, True, reward.success, f"Bought {place.asin}: score {reward.total:.4g}.")
        nothing = place.page == RESULTS and place.number == 1 and not navigation.shown_results(self.shop, place)[1]
        return Outcome({}, effective=effective, feedback="Nothing was found." if nothing else "")

    def _scored(self, place: Place) -> Reward:
        return self.shop.score(self.split, self._wished, place.asin, place.options)

    def _move(self, place: Place) -> None:
        if place.page == SEARCH:
            self._opened = []
        elif place.page == ITEM and place.asin not in self._opened:
            self._opened = [*self._opened, place.asin]
        self._place, self._page = place, None

    @property
    def page(self) -> Page:
        """The page that is shown."""
        if self._page is None:
            page = self._page_at(self._place)
            marked = self._opened and self._place.page == RESULTS
            self._page = replace(page, opened=frozenset(self._opened)) if marked else page
        return self._page

    def _page_at(self, place: Place) -> Page:
        """The page of any place, for the present goal."""
        score = self._scored(place).total if place.page == DONE else None
        wish = instruction(self.goal.instruction)
        return navigation.page_at(self.shop, place, wish, self._task(), self.show_attributes, score)

    @property
    def available_actions(self) -> dict[str, Any]:
        """Whether there is a search bar, and what can be clicked."""
        return available_actions(None if self._over else self.page)

    def legal_actions(self) -> list[str]:
        """Whole actions that make sense on this page: every click, and searches that the instruction suggests."""
        if self._over:
            return []
        goal = self.goal
        searches = [goal.query, goal.instruction, " ".join((goal.query, *goal.attributes))]
        actions = [f"click[{name}]" for name in self.page.clickables() if name != "search"]
        actions += [f"search[{plain(words)}]" for words in searches]
        return [self.reply(action) for action in actions]

    def hasty_action(self) -> str | None:
        """The first result, bought as it is: a mistake that teaches a habit."""
        action = None if self._over else navigation.hasty_action(self.shop, self._place)
        return None if action is None else self.reply(action)

    def outcome_page(self) -> str | None:
        """What was bought, with the options chosen: the receipt itself shows the score."""
        if self._place.page != DONE:
            return None
        return page_text.page_rich_text(self._page_at(replace(self._place, page=ITEM)))

    def reply(self, action: str) -> str:
        """An action in the form that the prompt asks for."""
        return tagged_reply(action) if self.reply_format else action

    def _info(self, actions: list[str], terms: dict[str, float], **facts: Any) -> dict[str, Any]:
        info = super()._info(actions, terms, **facts)
        info["available_actions"] = self.available_actions
        info["url"] = self.page.url
        info["purchase"] = None if self._purchase is None else purchase_parts(self._purchase, self.goal)
        info["metrics"] = {"score": 0.0 if self._purchase is None else self._purchase.total} if self._over else {}
        return info

    # ------------------------------------------------------------------ the truth

    def state(self) -> ShopState:
        """The goal, the page, the product, the options, and what is unmet."""
        place, goal = self._place, self.goal
        shown, total = navigation.shown_results(self.shop, place) if place.query else ((), 0)
        product = self.shop.known(place.asin) if place.asin else None
        return ShopState(
            instruction=goal.instruction,
            target=goal.asin,
            page=place.page,
            query=place.query,
            results_page=place.number,
            total_results=total,
            results=shown if place.page == RESULTS else (),
            product=place.asin,
            title=product.title if product else "",
            price=product.price if product else None,
            options=dict(place.options),
            unmet=self.shop.unmet(self.split, self._wished, place.asin, place.options),
            score=None if self._purchase is None else self._purchase.total,
        )

    def oracle(self) -> str | None:
        """The next right action."""
        action = None if self._over else navigation.right_action(self.shop, self._place, self.goal)
        return None if action is None else self.reply(action)

    def actions_needed(self) -> int | None:
        """How many of the oracle's actions the purchase takes from here."""
        return None if self._over else navigation.actions_needed(self.shop, self._place, self.goal)

    def ending(self) -> str | None:
        """A purchase ends the visit."""
        return None if self._purchase is None else "bought something else"

    def about_task(self) -> dict[str, Any]:
        """The goal's category, how many attributes, options and prices it asks for, and the oracle's actions."""
        goal = self.goal
        wishes = len(goal.attributes) + len(goal.options) + (goal.price_upper < NO_LIMIT)
        found: dict[str, Any] = {"group": goal.category, "complexity": wishes}
        return found if (steps := self.actions_needed()) is None else {**found, "steps": steps}

    @property
    def tools(self) -> list[dict[str, Any]]:
        """Two tools, `search` and `click`."""
        words = {"type": "string", "description": "Words to search for."}
        what = {"type": "string", "description": "A button, a product id or an option value on the page."}
        return [
            function_schema("search", "Search the shop for products.", {"words": words}),
            function_schema("click", "Click something on the page.", {"what": what}),
        ]

    def tool_action(self, name: str, arguments: dict[str, Any]) -> str | None:
        """A call as an action; brackets inside a search would end it, and say nothing to the search engine."""
        if name == "search":
            return f"search[{arguments['words'].replace('[', ' ').replace(']', ' ')}]"
        return f"click[{arguments['what']}]" if name == "click" else None

    def tool_calls(self, action: str) -> list[dict[str, Any]] | None:
        """An action as a call."""
        turn = self._understood(action)
        if not turn.actions:
            return None
        name, argument = turn.actions[0]
        return [{"name": name, "arguments": {"words" if name == "search" else "what": argument}}]

    # ------------------------------------------------------------------ what the agent sees

    @property
    def system_prompt(self) -> str:
        """The task, the actions and the limits."""
        page = "a picture of the page" if self.kind == "visual" else "the page"
        paid = "only if the purchase fits" if self.pays_success else "by how well the purchase fits"
        form = "Reply with one action, or put it between <answer> and </answer>."
        if self.reply_format:
            form = f"Each turn lists the actions that the page admits. Reply with {self.reply_format}."
        return page_text.SYSTEM_PROMPT.format(page=page, paid=paid, turns=self.max_turns, form=form)

    def _observe(self) -> dict[str, Any]:
        remark = f"{self._feedback}\n" if self._feedback and self.show_feedback and not self._over else ""
        visual = self.kind == "visual"
        shown = page_text.PICTURE if visual else self._written()
        if self.reply_format and not self._over:
            past, actions = (
                page_text.Past(() if visual else self._seen, self._done),
                page_text.admissible_actions(self.page),
            )
            text = page_text.step_prompt(self.goal.instruction, shown, actions, past, self._turn or 0, self.max_turns)
        elif visual:
            text = f"Instruction: {self.goal.instruction.replace('<', '(')}\n{shown}"
        elif self.reply_format or not (self._seen or self._done):
            text = shown
        else:
            text = page_text.with_history(shown, self._seen, self._done, self.num_prev_obs, self.num_prev_actions)
        return {"text": remark + text, "image": self._draw()} if visual else {"text": remark + text}

    def _written(self) -> str:
        if self.reply_format and self.observation_mode == "text":
            return page_text.quoted_page(self.page)
        return WRITERS[self.observation_mode](self.page)

    def _draw(self) -> np.ndarray:
        if self._browser is not None:
            return self._browser.picture(self._place)
        from agentrl.envs.webshop.page_picture import page_picture

        return page_picture(self.page, self.image_size, self.shop.product)

    def _draw_text(self) -> str:
        return page_text.page_rich_text(self.page)

    # ------------------------------------------------------------------ fork

    def _save(self) -> dict[str, Any]:
        place = msgspec.to_builtins(self._place)
        walk = {"index": self._index, "stride": self._stride, "wished": str(self._wished)}
        return {**walk, "place": place, "seen": self._seen, "done": self._done, "opened": self._opened}

    def _load(self, data: dict[str, Any]) -> None:
        saved = msgspec.convert(data, Saved)
        navigation.check_place(self.shop, saved.place)
        if len(saved.opened) > self.max_turns or any(self.shop.product(asin) is None for asin in saved.opened):
            raise ValueError("it has opened what cannot be opened")
        self._restore_walk(saved.index, saved.stride)
        self._ask_for(self._find_task(f"{self.split}-{saved.wished}"))
        if self._index != saved.index:
            raise ValueError("it stands at another goal than it says")
        self._seen, self._done, self._opened = saved.seen, saved.done, saved.opened
        self._move(saved.place)
        self._purchase = self._scored(saved.place) if saved.place.page == DONE else None

    def restore(self, blob: bytes) -> None:
        """Continue from `snapshot()`. A bad blob raises `SnapshotError` and changes nothing."""
        super().restore(blob)
        self._show()

    def close(self) -> None:
        """Free what the environment holds; may be called twice."""
        if self._browser is not None:
            self._browser.close()
        super().close()

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        del state["shop"]  # every process has or opens its own
        return {**state, "_page": None, "_browser": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.shop = open_shop(self._spec)
        self._browser = self._open_browser()
