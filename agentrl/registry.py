"""The table of environments; `import agentrl` registers every row with Gymnasium.

A family is a folder of `agentrl/envs` and one row here. The row names all parts of the family as strings, so reading
the table imports nothing, and removing the folder and its row removes the family.

Other packages offer an environment through an entry point of the group `agentrl.environments`, or a whole row through
one of the group `agentrl.families`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Any

from agentrl.core.family import Bench, Entry, Family, KitBudget, Part, Site

# Groups of entry points: the id of an environment = "module:Class", and the name of a family = "module:ROW".
ENVIRONMENTS, FAMILY_ROWS = "agentrl.environments", "agentrl.families"


def _kinds(name: str, entry_point: str, summary: str, kinds: tuple[str, ...], **row: Any) -> tuple[Entry, ...]:
    """One row for each kind, given to the class as `kind`; Grid kinds have a vector class as well."""
    return tuple(
        Entry(
            id=f"agentrl/{name}-{kind}-v0",
            kind=kind,
            entry_point=entry_point,
            summary=summary,
            kwargs={"kind": kind.lower()},
            vector_entry_point=entry_point.removesuffix("Env") + "VectorEnv" if kind == "Grid" else None,
            **row,
        )
        for kind in kinds
    )


def _in_hosts(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Slow environments: `gym.make_vec` puts many of them into a few processes."""
    return tuple(replace(entry, vector_entry_point=f"agentrl.rollout.vector:{entry.id}") for entry in entries)


_LIBERO = (  # suites, and what a robot arm does in them; the kit plays the last one
    ("90", "A robot arm does ninety things in kitchens, living rooms and studies."),
    ("10", "A robot arm does two things, one after the other."),
    ("Goal", "A robot arm does one of ten things in the same scene."),
    ("Object", "A robot arm puts the object that is meant into a basket."),
    ("Spatial", "A robot arm puts the bowl that is meant on a plate."),
)


def _words(text: str) -> list[str]:
    return text.split()


FAMILIES: tuple[Family, ...] = (
    Family(
        name="grid",
        envs=(
            *_kinds(
                "FrozenLake",
                "agentrl.envs.grid.frozenlake:FrozenLakeEnv",
                "Walk over a frozen lake to the goal.",
                ("Grid", "Text", "Visual"),
            ),
            *_kinds(
                "Sokoban",
                "agentrl.envs.grid.sokoban:SokobanEnv",
                "Push every box onto a target.",
                ("Grid", "Text", "Visual"),
            ),
        ),
        multiplayer=(
            Entry(
                id="agentrl.envs.grid.sokoban_duo.parallel_env",
                kind="PettingZoo",
                entry_point="agentrl.envs.grid.sokoban_duo:parallel_env",
                summary="Two players push every box onto a target, together.",
                extra="pettingzoo",
                modules=("pettingzoo",),
            ),
        ),
        benches={
            "grid": Bench("benchmarks.grid:run", "steps, level resets and pictures per second of the grid worlds")
        },
    ),
    Family(
        name="navigation",
        envs=_in_hosts(
            _kinds(
                "Navigation",
                "agentrl.envs.navigation.env:NavigationEnv",
                "Walk through a home to the object that an instruction asks for.",
                ("Text", "Visual"),
                extra="robots",
                modules=("mujoco",),
            )
        ),
        kit=KitBudget(episodes=4, hostile_replies=300, image_size=96),
        benches={
            "homes": Bench(
                "benchmarks.navigation:run",
                "actions, turns, pictures and memory of the homes; MuJoCo alone",
                group="embodied",
            )
        },
    ),
    Family(
        name="svg",
        envs=(
            Entry(
                id="agentrl/SVG-Visual-v0",
                kind="Visual",
                entry_point="agentrl.envs.svg.env:SVGEnv",
                summary="Write SVG code that draws the picture you see.",
                extra="svg",
                modules=("cairosvg",),
            ),
        ),
        policies={
            "svg-blank": Part("agentrl.envs.svg.players:BlankDrawer", "draws nothing (SVG)"),
            "svg-boxes": Part("agentrl.envs.svg.players:BoxDrawer", "draws bounding boxes only (SVG)"),
            "svg-colours": Part(
                "agentrl.envs.svg.players:ColourDrawer", "draws stripes of the right colours only (SVG)"
            ),
        },
        benches={"svg": Bench("benchmarks.svg:run", "pictures drawn from SVG code, per second; cairosvg")},
    ),
    Family(
        name="webshop",
        envs=_kinds(
            "WebShop",
            "agentrl.envs.webshop.env:WebShopEnv",
            "Find, choose and buy what somebody asked for.",
            ("Text", "Visual"),
            extra="webshop",
            modules=("rapidfuzz",),
        ),
        kit=KitBudget(episodes=5, image_size=160),
        policies={
            "webshop-naive": Part("agentrl.envs.webshop.players:NaiveShopper", "buys the first result (WebShop)")
        },
        sites={
            "webshop": Site(
                "agentrl.envs.webshop.site:make_site",
                "serve WebShop as a web page, to shop yourself",
                verb="shop",
                options="agentrl.envs.webshop.site_options:SiteOptions",
            )
        },
        benches={
            "webshop": Bench(
                "benchmarks.webshop:run", "steps, searches, opening and building of the shop; bm25s and tantivy"
            )
        },
    ),
    Family(
        name="alfworld",
        envs=_kinds(
            "ALFWorld",
            "agentrl.envs.alfworld.env:ALFWorldEnv",
            "Find things in a home, heat, cool or clean them, and put them where they belong.",
            ("Text", "Visual"),
        ),
        kit=KitBudget(episodes=4, hostile_replies=300, image_size=128),
        policies={
            "alfworld-search": Part("agentrl.envs.alfworld.players:Searcher", "searches usual places first (ALFWorld)")
        },
        benches={"alfworld": Bench("benchmarks.alfworld:run", "steps and resets of ALFWorld's games; TextWorld")},
        setups={
            "alfworld": Part(
                "agentrl.envs.alfworld.real:setup",
                "TextWorld and ALFWorld's package in a virtual environment of their own (1 GB; a planner is compiled)",
            )
        },
        interpreter="agentrl.envs.alfworld.real:INTERPRETER",
    ),
    Family(
        name="multihop",
        envs=(
            Entry(
                id="agentrl/MultiHopQA-Text-v0",
                kind="Text",
                entry_point="agentrl.envs.multihop.env:MultiHopQAEnv",
                summary="Search an encyclopaedia until a question of several hops can be answered.",
            ),
        ),
        policies={
            f"multihop-{name}": Part(f"agentrl.envs.multihop.players:{attribute}", f"{summary} (questions)")
            for name, attribute, summary in (
                ("commonest", "Commonest", "gives the commonest answer of the asked kind"),
                ("named", "Named", "answers with an entity of the question"),
                ("list", "Lister", "answers with all names of the question and of one search"),
                ("one-search", "OneSearch", "searches the question, answers with the first new title"),
            )
        },
        benches={
            "multihop": Bench("benchmarks.multihop:run", "resets, steps and searches of the encyclopaedia; bm25s")
        },
    ),
    Family(
        name="papersearch",
        envs=(
            Entry(
                id="agentrl/PaperSearch-Text-v0",
                kind="Text",
                entry_point="agentrl.envs.papersearch.env:PaperSearchEnv",
                summary="Find the papers that a research question asks for.",
            ),
        ),
        policies={
            f"papersearch-{name}": Part(f"agentrl.envs.papersearch.players:{attribute}", f"{summary} (PaperSearch)")
            for name, attribute, summary in (
                ("words", "WordSearcher", "searches for the words of the question"),
                ("expand", "Expander", "searches once, then expands what it sees"),
                ("scout", "Scout", "expands the best papers and searches for their titles"),
            )
        },
        benches={
            "papersearch": Bench("benchmarks.papersearch:run", "building, resets, turns and memory of the library")
        },
    ),
    Family(
        name="webarena",
        envs=_kinds(
            "WebArenaLite",
            "agentrl.envs.webarena.env:WebArenaLiteEnv",
            "Do tasks on five web sites: shop, administration, forum, code host, map.",
            ("Text", "Visual"),
            extra="web",
            modules=("jinja2", "lxml", "cssselect", "rapidfuzz"),
        ),
        kit=KitBudget(episodes=2, hostile_replies=150, image_size=320),
        policies={
            "webarena-naive": Part(
                "agentrl.envs.webarena.players:NaiveBrowser", "follows the first matching link (web)"
            ),
            **{
                f"webarena-{name}": Part(f"agentrl.envs.webarena.guessers:{attribute}", f"{summary} (web)")
                for name, attribute, summary in (
                    ("na", "NotAvailable", "answers N/A at once"),
                    ("yes", "Yes", "answers Yes at once"),
                    ("no", "No", "answers No at once"),
                    ("list", "List", "answers with a list of usual words, counts and times"),
                    ("template-list", "TemplateList", "answers with all answers of the template"),
                    ("prior", "Prior", "answers with the template's commonest answer in training"),
                    ("start-page", "StartPage", "answers with the text of the first page"),
                    ("last-page", "LastPage", "goes the oracle's way and answers with the last page"),
                    ("all-pages", "AllPages", "goes the oracle's way and answers with all its pages"),
                )
            },
        },
        sites={
            "webarena": Site("agentrl.envs.webarena.served:make_site", "serve the five web sites, to browse yourself")
        },
        benches={"web": Bench("benchmarks.webarena:run", "resets, steps, forks and memory of the web; BrowserGym")},
    ),
    Family(
        name="primitiveskill",
        envs=_in_hosts(
            replace(
                entry,
                kwargs={**entry.kwargs, "task": task.lower()},
                warp_entry_point="agentrl.envs.primitiveskill.warp.env:SkillWarpEnv",
            )
            for task, summary in (
                ("Place", "A robot arm puts two cubes on two targets."),
                ("Stack", "A robot arm stacks three cubes."),
                ("Drawer", "A robot arm puts an apple into a drawer and closes it."),
                ("Align", "A robot arm lines two cubes up."),
            )
            for entry in _kinds(
                f"PrimitiveSkill-{task}",
                "agentrl.envs.primitiveskill.env:PrimitiveSkillEnv",
                summary,
                ("Text", "Visual"),
                extra="robots",
                modules=("mujoco",),
            )
        ),
        benches={
            "skills": Bench(
                "benchmarks.primitiveskill:run",
                "simulator steps, pictures and memory of the arm; MuJoCo alone",
                group="embodied",
            )
        },
        kit=KitBudget(episodes=1, hostile_replies=40, image_size=64),
    ),
    Family(
        name="libero",
        envs=_in_hosts(
            (
                *(
                    Entry(
                        id=f"agentrl/LIBERO-{suite}-v0",
                        kind="",
                        entry_point="agentrl.envs.libero.env:LiberoEnv",
                        warp_entry_point="agentrl.envs.libero.warp:LiberoWarpEnv",
                        summary=summary,
                        kwargs={"suite": f"libero_{suite.lower()}"},
                        extra="robots",
                        backend="LIBERO's task files",
                        modules=("mujoco",),
                    )
                    for suite, summary in _LIBERO
                ),
                *(
                    Entry(
                        id=f"agentrl/LIBERO-{suite}-Text-v0",
                        kind="Text",
                        entry_point="agentrl.envs.libero.text.env:LiberoTextEnv",
                        summary=f"{summary.removesuffix('.')}, by primitives with coordinates.",
                        kwargs={"suite": f"libero_{suite.lower()}"},
                        extra="robots",
                        backend="LIBERO's task files",
                        modules=("mujoco",),
                    )
                    for suite, summary in _LIBERO
                ),
            )
        ),
        benches={
            "libero": Bench(
                "benchmarks.libero:run",
                "control steps, pictures and memory of LIBERO's tasks; MuJoCo alone",
                group="embodied",
            )
        },
        setups={
            "libero": Part("agentrl.envs.libero.package:setup", "LIBERO's task files and starts (3 MB)"),
            "libero-official": Part(
                "agentrl.envs.libero.official.interpreter:setup",
                "LIBERO's own package and assets in a virtual environment of their own (1 GB)",
            ),
        },
        kit=KitBudget(episodes=1, hostile_replies=40, image_size=64),
    ),
    Family(
        name="metaworld",
        summary="Fifty tasks of a robot arm, moved step by step, one by one and in suites.",
        envs=_in_hosts(
            Entry(
                id=f"agentrl/MetaWorld-{task}-v0",
                kind="",
                entry_point="agentrl.envs.metaworld.env:MetaWorldEnv",
                summary=summary,
                kwargs={"task": task},
                extra="metaworld",
                backend="package metaworld",
                modules=("mujoco", "metaworld"),
            )
            for task, summary in (
                ("ML10", "Ten tasks of a robot arm to learn from, five others to be tested on."),
                ("ML45", "Forty-five tasks of a robot arm to learn from, five others to be tested on."),
                ("MT10", "Ten tasks of a robot arm."),
                ("MT50", "Fifty tasks of a robot arm."),
                *(
                    (name, f"A robot arm, moved step by step: {name.replace('-', ' ')}.")
                    for name in _words(
                        """
                        assembly basketball bin-picking box-close button-press button-press-topdown
                        button-press-topdown-wall button-press-wall coffee-button coffee-pull coffee-push dial-turn
                        disassemble door-close door-lock door-open door-unlock drawer-close drawer-open faucet-close
                        faucet-open hammer hand-insert handle-press handle-press-side handle-pull handle-pull-side
                        lever-pull peg-insert-side peg-unplug-side pick-out-of-hole pick-place pick-place-wall
                        plate-slide plate-slide-back plate-slide-back-side plate-slide-side push push-back push-wall
                        reach reach-wall shelf-place soccer stick-pull stick-push sweep sweep-into window-close
                        window-open
                        """
                    )
                ),
            )
        ),
        benches={
            "metaworld": Bench(
                "benchmarks.metaworld:run",
                "steps, pictures and memory of Meta-World's tasks; the package alone",
                group="embodied",
            )
        },
        setups={
            "metaworld": Part(
                "agentrl.envs.metaworld.interpreter:setup",
                "Meta-World's package in a virtual environment of its own, where it does not fit beside others (1 GB)",
            )
        },
        interpreter="agentrl.envs.metaworld.interpreter:INTERPRETER",
        kit=KitBudget(episodes=1, hostile_replies=40, image_size=48),
    ),
)
# Worlds of other programs, which need to be told where: no part of the table, which can be played as it is.
ELSEWHERE: tuple[Entry, ...] = (
    Entry(
        id="agentrl/Remote-v0",
        kind="",
        entry_point="agentrl.serve.remote:RemoteEnv",
        vector_entry_point="agentrl.serve.remote:RemoteVectorEnv",
        summary="Play the environment `env_id` of the server at `url` (`agentrl serve`).",
    ),
    Entry(
        id="agentrl/OpenEnv-v0",
        kind="",
        entry_point="agentrl.adapters.openenv_client:OpenEnvClientEnv",
        summary="Play in a session of the OpenEnv server at `url`.",
    ),
    Entry(
        id="agentrl/Verifiers-v0",
        kind="",
        entry_point="agentrl.adapters.verifiers_client:VerifiersEnv",
        summary="Play the tasks of a `taskset` of verifiers.",
    ),
)
TABLE: tuple[Entry, ...] = tuple(entry for family in FAMILIES for entry in family.envs)
MULTIPLAYER: tuple[Entry, ...] = tuple(entry for family in FAMILIES for entry in family.multiplayer)


def known() -> tuple[Entry, ...]:
    """The table and the environments of installed packages: what Gymnasium makes after `import agentrl`."""
    return (*TABLE, *(entry for family in installed_families() for entry in family.envs), *installed())


@cache
def installed() -> tuple[Entry, ...]:
    """The environments of other packages that have entry points of the group `agentrl.environments`.

    Nothing of these packages is imported. An entry point that cannot be used is left out with a warning.
    """
    from importlib.metadata import entry_points

    found: dict[str, Entry] = {}
    for point in entry_points(group=ENVIRONMENTS):
        problem = _problem_of_id(point.name)
        if not problem and not re.fullmatch(r"\w+(\.\w+)*:\w+", point.value):
            problem = 'its value must be "module:Class"'
        if problem:
            _ignore(point, problem)
        elif point.name not in found:  # a package may be found twice, installed and as a checkout
            package: Any = point.dist.metadata if point.dist else {}
            found[point.name] = Entry(
                id=point.name,
                kind=kind_of(point.name),
                entry_point=point.value,
                summary=str(package.get("Summary") or ""),
                backend=f"package {package.get('Name')}",
                modules=(point.module.partition(".")[0],),
            )
    return tuple(found[name] for name in sorted(found))


@cache
def installed_families() -> tuple[Family, ...]:
    """The rows of other packages that have entry points of the group `agentrl.families`.

    The module that holds a row is imported, so it should hold nothing else. A row that cannot be used is left out with
    a warning: a broken package must not break the others.
    """
    from importlib.metadata import entry_points

    found: dict[str, Family] = {}
    for point in sorted(entry_points(group=FAMILY_ROWS), key=lambda point: point.name):
        try:
            row = point.load()
        except Exception as error:
            _ignore(point, f"{type(error).__name__}: {error}")
            continue
        if not isinstance(row, Family):
            _ignore(point, f"it must name an agentrl.registry.Family; got {type(row).__name__}")
        elif point.name in (family.name for family in FAMILIES):
            _ignore(point, f"{point.name} is a family of agentrl's own")
        elif problem := next(filter(None, (_problem_of_id(entry.id) for entry in row.envs)), None):
            _ignore(point, problem)
        elif point.name not in found:
            package: Any = point.dist.metadata if point.dist else {}
            backend = f"package {package.get('Name')}"
            found[point.name] = replace(row, envs=tuple(replace(entry, backend=backend) for entry in row.envs))
    return tuple(found.values())


def _problem_of_id(env_id: str) -> str | None:
    """What is wrong with the id of another package's environment, if anything."""
    if not re.fullmatch(r"[\w-]+/[\w.-]+-v\d+", env_id):
        return f'its name must be an id such as "maze/Maze-Text-v0"; got {env_id!r}'
    return "ids that begin with agentrl/ are agentrl's own" if env_id.startswith("agentrl/") else None


def _ignore(point: Any, problem: str) -> None:
    from gymnasium import logger

    logger.warn(f"the entry point {point.name!r} = {point.value!r} of the group {point.group} is ignored: {problem}")


def kind_of(env_id: str) -> str:
    """Grid, Text or Visual, where an id says so."""
    named = re.search(r"-(Grid|Text|Visual)-v\d+$", env_id)
    return named[1] if named else ""


def find(env_id: str) -> Entry:
    """The row of an id; `ConfigError` with the nearest id if it is unknown."""
    from agentrl.core.errors import ConfigError, did_you_mean

    for entry in known():
        if entry.id == env_id:
            return entry
    for entry in MULTIPLAYER:
        if entry.id == env_id:
            module, _, function = entry.entry_point.partition(":")
            raise ConfigError(
                f"{env_id} is a {entry.kind} environment of several players, made in Python: "
                f"from {module} import {function}. `agentrl info {env_id}` describes it."
            )
    raise ConfigError(f"unknown environment {env_id!r}.{did_you_mean(env_id, [e.id for e in known()])}")


def check_id(env_id: str) -> None:
    """Raise `ConfigError`, which names the nearest id, if the environment is unknown."""
    import gymnasium as gym

    from agentrl.core.errors import ConfigError

    if not isinstance(env_id, str):
        raise ConfigError(f"an environment id must be a string; got {type(env_id).__name__}")
    # "module:id" imports the module first: that is how environments of other packages are found.
    if ":" not in env_id and env_id not in gym.registry:
        find(env_id)


def family_of(env_id: str) -> Family | None:
    """The family of an id; None for an environment without one."""
    families = (*FAMILIES, *installed_families())
    return next((family for family in families if any(entry.id == env_id for entry in family.envs)), None)


def parts(kind: str) -> dict[str, Any]:
    """All "policies", "sites", "benches" or "setups" of the families, by name; agentrl's own win."""
    families = (*installed_families(), *FAMILIES)
    return {name: part for family in families for name, part in getattr(family, kind).items()}


def default_env() -> str:
    """The id that is used where none is given: the first text environment of the table."""
    return next(entry.id for entry in TABLE if entry.kind == "Text")


def is_available(entry: Entry) -> bool:
    """Are the modules of the entry's extra installed?"""
    from importlib.util import find_spec

    return all(find_spec(module) is not None for module in entry.modules)


def register_all() -> None:
    """Register every row and the environments of installed packages with Gymnasium; may be called twice."""
    from gymnasium.envs.registration import register, registry

    for entry in (*known(), *ELSEWHERE):
        if entry.id not in registry:
            register(
                id=entry.id,
                entry_point=entry.entry_point,
                vector_entry_point=entry.vector_entry_point,
                kwargs=dict(entry.kwargs),
            )
