"""Writes the pages that follow from the code (environments, wrappers, the command line, the options of training) and
from recorded numbers (learning experiments and figures, from `benchmarks/results`).

`docs/conf.py` calls `write_all` before every build, so these pages are always up to date with the code.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import io
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from PIL import Image

import agentrl  # noqa: F401  (registers the environments)
from agentrl.core.env import AgentEnv, keyword_arguments
from agentrl.core.env_class import env_class
from agentrl.core.errors import ConfigError, install_command
from agentrl.registry import MULTIPLAYER, TABLE, Entry, is_available
from agentrl.rollout.statistics import wilson_interval
from agentrl.viewer.canvas import Look, standalone
from agentrl.viewer.charts import Series, line_chart
from benchmarks import cheap_players, weak_starts
from benchmarks.learning.claims_page import write_pages
from benchmarks.learning.results import KEPT as RESULTS
from benchmarks.learning.table import EXPERIMENTS

HERE = Path(__file__).parent
COMMITTED = HERE / "_static" / "envs"  # pictures of environments that cannot run where the documentation is built
SECTIONS = (
    "Description",
    "Observations",
    "Actions",
    "Rewards",
    "Episode end",
    "Arguments",
    "Truth",
    "Honest note",
)
WRAPPERS = (
    "ToolCalls",
    "Reasoning",
    "ReasoningReward",
    "RepetitionPenalty",
    "OutcomeReward",
    "History",
    "GoldInfo",
    "RecordEpisode",
    "ActionChunks",
    "DiscreteActions",
    "ImageObservation",
    "StateObservation",
)
# Dataclasses of options in agentrl/trainers, and titles. Their source is read, so that no torch is needed here.
OPTIONS = (
    ("RunArguments", "All algorithms"),
    ("PolicyArguments", "ppo, steppo, grpo, rloo, reinforce_pp, gspo and gigpo"),
    ("CriticArguments", "ppo and steppo"),
    ("GroupArguments", "grpo, rloo, gspo and gigpo"),
    ("AsyncArguments", "the same, asynchronous"),
    ("SFT", "sft"),
    ("BC", "bc"),
    ("ORM", "orm"),
    ("PPO", "ppo"),
    ("StepPO", "steppo"),
    ("GRPO", "grpo"),
    ("RLOO", "rloo"),
    ("ReinforcePP", "reinforce_pp"),
    ("GSPO", "gspo"),
    ("GiGPO", "gigpo"),
    ("OffPolicyArguments", "webrl, digirl, awr and filtered_bc: learning"),
    ("PhaseArguments", "webrl, digirl, awr and filtered_bc: phases"),
    ("OfflineArguments", "awr and filtered_bc"),
    ("WebRL", "webrl"),
    ("DigiRL", "digirl"),
    ("AWR", "awr"),
    ("FilteredBC", "filtered_bc"),
)
# The names of environments, by their modules: those of the README's table.
NAMES = {
    path.removesuffix(".py").replace("/", "."): name
    for name, path in re.findall(
        r"^\| \[(.+?)\]\((agentrl/envs/.+?\.py)\)", (HERE.parent / "README.md").read_text(), re.M
    )
}
PLAYERS = (
    "`constant` gives the first action in every turn, `random-constant` a reply that is drawn once, `copy` what it was "
    "told, `prior` the oracle's commonest solution of training tasks of the same kind. Others are baselines. Where "
    "tasks are generated here and success is their measure, tests hold these four below a twentieth of the oracle's. "
    "Test split, 95 % Wilson intervals; `agentrl eval ID --policy NAME` plays one of them, `python -m "
    "benchmarks.cheap_players` all."
)
PICTURE_SIZE = 256
EPISODES = 1024  # of an iteration of the recipes for SmolLM2
CONTROL_STEPS = 5  # of continuous control, from one frame of a moving picture to the next
CONTROL_TURNS = 3  # of continuous control, that a transcript shows
PICTURE_SIZES = {"WebShop": 512, "WebArenaLite": 800}  # pages are there to be read


def write_all(folder: Path = HERE / "generated") -> list[Path]:
    """Write every generated page and picture; the pages."""
    pages = folder / "environments"
    pages.mkdir(parents=True, exist_ok=True)
    written = [write_environment(pages, rows) for rows in environments().values()]
    several = [(entry, write_multiplayer(pages, entry)) for entry in MULTIPLAYER]
    written += [page for _, page in several]
    (pages / "index.md").write_text(overview(written, several))
    (folder / "wrappers.md").write_text(wrappers_page())
    (folder / "command_line.md").write_text(command_line_page())
    (folder / "training_options.md").write_text(training_options_page())
    others = [folder / f"{name}.md" for name in ("wrappers", "command_line", "training_options")]
    return [*written, pages / "index.md", *others, *write_results(folder)]


# ---------------------------------------------------------------------- results


def write_results(folder: Path) -> list[Path]:
    """A page and figures for each learning experiment under `learning`, figures of other results under `figures`."""
    written = write_pages(RESULTS, folder / "learning", EXPERIMENTS.values())
    held = weak_starts.figures(weak_starts.merged([], RESULTS)) | {"smollm2_success": smollm2_figure()}
    for name, svg in held.items():
        (folder / "figures").mkdir(parents=True, exist_ok=True)
        (folder / "figures" / f"{name}.svg").write_text(svg)
    return written


def smollm2_figure() -> str:
    """Success in the training episodes of the recipes for one GPU, with 95 % intervals."""
    kept = json.loads((RESULTS / "smollm2.json").read_text())
    names = {
        "frozenlake": "FrozenLake-Text",
        "sokoban": "Sokoban-Text",
        "sokoban, first run": "Sokoban-Text, first run",
    }
    curves = []
    for colour, (run, label) in enumerate(names.items()):
        lines = [line for line in kept[f"{run}/rl"]["lines"] if line["kind"] == "train"]
        points = [(line["iteration"], line["success"]) for line in lines]
        bounds = [wilson_interval(round(success * EPISODES), EPISODES) or (0.0, 1.0) for _, success in points]
        curves.append(
            Series(label, points, [(at, *pair) for (at, _), pair in zip(points, bounds, strict=True)], colour)
        )
    title = "SmolLM2-135M: success while training by GRPO"
    return standalone(line_chart(curves, Look(title, 760, 380, "iteration", (0.0, 1.0), percent=True)))


# ---------------------------------------------------------------------- environments


def environments() -> dict[str, list[Entry]]:
    """The rows of the registry by the name they share: Sokoban, FrozenLake, ..."""
    found: dict[str, list[Entry]] = {}
    for entry in TABLE:
        found.setdefault(entry.entry_point, []).append(entry)
    return {re.sub(r"Env$", "", point.rpartition(":")[2]): rows for point, rows in found.items()}


def name_of(entry: Entry) -> str:
    """How people call an environment: LIBERO in words."""
    module, _, name = entry.entry_point.partition(":")
    return NAMES.get(module, name.removesuffix("Env"))


def load(entry_point: str) -> type:
    """The class that "module:Class" names."""
    module, _, name = entry_point.partition(":")
    return getattr(importlib.import_module(module), name)


def sections(documented: Any) -> dict[str, str]:
    """The `## ` sections of a docstring by title; what stands before the first is under ""."""
    text = inspect.getdoc(documented) or ""
    parts = re.split(r"^## +(.+?) *$", text, flags=re.MULTILINE)
    return {"": parts[0].strip()} | {title: body.strip() for title, body in zip(parts[1::2], parts[2::2], strict=True)}


def missing_sections(documented: Any) -> list[str]:
    """The sections an environment's docstring lacks or leaves empty."""
    found = sections(documented)
    return [title for title in SECTIONS if not found.get(title)]


def write_environment(folder: Path, rows: list[Entry]) -> Path:
    """One page and its picture: a recorded one, or the committed one where the environment cannot run."""
    cls = load(rows[0].entry_point)
    name = re.sub(r"Env$", "", cls.__name__)
    runs = all(is_available(entry) for entry in rows)
    if runs:
        record_oracle(rows, folder / f"{name.lower()}.gif")
    else:
        committed = committed_picture(rows)
        shutil.copy(committed, folder / f"{name.lower()}{committed.suffix}")
    title = name_of(rows[0])
    head = f"# {title}\n\n{sections(cls)['']}\n\n![{title}]({picture_of(folder, name)})\n"
    body = [f"## {title}\n\n{text}\n" for title, text in sections(cls).items() if title]
    at = next((i for i, part in enumerate(body) if part.startswith("## Arguments")), len(body) - 1) + 1
    parts = [head, ids_table(rows), *body[:at], arguments_table(cls), *body[at:], players_tables(rows)]
    parts += [transcript(rows)] if runs else []
    path = folder / f"{name.lower()}.md"
    path.write_text("\n".join(parts))
    return path


def committed_picture(rows: list[Entry]) -> Path:
    """The picture under `docs/_static/envs`, named after one of the ids: "Maze-Visual-v0.png" or ".gif"."""
    names = [f"{entry.id.rpartition('/')[2]}{suffix}" for entry in rows for suffix in (".gif", ".png")]
    for name in names:
        if (COMMITTED / name).is_file():
            return COMMITTED / name
    raise ConfigError(
        f"{rows[0].id} cannot run here ({install_command(rows[0].extra or '')}); commit a picture of it as one of "
        f"{', '.join(f'docs/_static/envs/{name}' for name in names)}"
    )


def picture_of(folder: Path, name: str) -> str:
    """The file name of an environment's picture beside its page."""
    return next(path.name for suffix in (".gif", ".png") if (path := folder / f"{name.lower()}{suffix}").exists())


def ids_table(rows: list[Entry]) -> str:
    """Ids, spaces and what else the specification says."""
    lines = ["| id | observation | action | `gym.make_vec` |", "|---|---|---|---|"]
    for entry in rows:
        if not is_available(entry):
            lines.append(f"| `{entry.id}` | needs the extra `{entry.extra}` | | |")
            continue
        env = gym.make(entry.id)
        own = str(entry.vector_entry_point).startswith(entry.entry_point.rpartition(".")[0])
        vectorised = "one array" if own else "hosts" if entry.vector_entry_point else "one by one"
        lines.append(f"| `{entry.id}` | `{env.observation_space}` | `{env.action_space}` | {vectorised} |")
        env.close()
    return "\n".join(lines) + f"\n\nBackend: {rows[0].backend}.\n"


def arguments_table(cls: type) -> str:
    """Every keyword argument of `gym.make`, its type and its default."""
    types = {
        parameter.name: parameter.annotation
        for base in reversed(cls.__mro__)
        if "__init__" in vars(base) and issubclass(base, AgentEnv)
        for parameter in inspect.signature(base.__init__).parameters.values()
    }
    lines = ["### Every argument and its default", "", "| argument | type | default |", "|---|---|---|"]
    for name, default in sorted(keyword_arguments(cls).items()):
        kind = "`" + str(types[name]).replace("|", "\\|") + "`"
        shown = "*by the id*" if name == "kind" else f"`{default!r}`"
        lines.append(f"| `{name}` | {kind} | {shown} |")
    return "\n".join(lines) + "\n"


def players_tables(rows: list[Entry]) -> str:
    """What players reach that do no work, for the ids of a page that were measured."""
    held = json.loads((RESULTS / cheap_players.FILE).read_text())["envs"]
    parts = [f"## Players that do no work\n\n{PLAYERS}\n"]
    for entry in rows:
        if (kept := held.get(entry.id)) is not None:
            lines = [f"| {' | '.join(line)} |" for line in cheap_players.table(kept)]
            head = ["| player | success | reward | episodes |", "|---|---|---|---|"]
            parts.append("\n".join([f"`{entry.id}`:", "", *head, *lines, ""]))
    return "\n".join(parts)


def pick(rows: list[Entry], *kinds: str) -> Entry:
    """The first row of the most wanted kind there is."""
    return next((row for kind in kinds for row in rows if row.kind == kind), rows[0])


def oracle_episode(env: gym.Env, seed: int) -> Iterator[tuple[Any, float, dict[str, Any]]]:
    """(action, reward, info) of the reset, without an action, and of each turn of the oracle."""
    _, info = env.reset(seed=seed)
    yield None, 0.0, info
    over = False
    while not over and (action := env.unwrapped.oracle()) is not None:
        _, reward, terminated, truncated, info = env.step(action)
        over = terminated or truncated
        yield action, float(reward), info


def record_oracle(rows: list[Entry], path: Path, seed: int = 7, episodes: int = 3) -> None:
    """A GIF of a few tasks solved by the oracle, one primitive action a frame where the environment has a Grid kind."""
    name = rows[0].id.partition("/")[2].partition("-")[0]
    size = PICTURE_SIZES.get(name, PICTURE_SIZE)
    env_id = pick(rows, "Grid", "Visual").id
    known = keyword_arguments(env_class(env_id) or object)
    # Pictures are drawn here alone, and of continuous control only some of them.
    chosen = {name: value for name, value in {"image_size": size, "obs_mode": "state"}.items() if name in known}
    env = gym.make(env_id, render_mode="rgb_array", **chosen)
    every = CONTROL_STEPS if isinstance(env.action_space, gym.spaces.Box) else 1
    frames: list[np.ndarray] = []
    for episode in range(episodes):
        for turn, (_, _, info) in enumerate(oracle_episode(env, seed + episode)):
            if turn % every == 0 or info["success"]:
                frames.append(env.render())
        frames += frames[-1:] * 2  # let the eye rest on the solved task
    env.close()
    # Median cut, the default, would give small things the colours of large ones.
    pictures = [Image.fromarray(frame).quantize(128, method=Image.Quantize.MAXCOVERAGE) for frame in frames]
    pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=450, loop=0, optimize=True)


def transcript(rows: list[Entry], seed: int = 7) -> str:
    """What a language model is told, and one task as the oracle plays it."""
    env = gym.make(pick(rows, "Text", "Visual").id, render_mode="ansi")
    lines: list[str] = []
    for action, reward, info in oracle_episode(env, seed):
        if action is not None:
            lines += ["", f">>> {action}", f"reward {reward:+.1f}   {info['feedback']}".rstrip(), ""]
        lines.append(str(env.render()))
    if isinstance(env.action_space, gym.spaces.Box):  # hundreds of turns: the beginning says it all
        lines = [*lines[: 5 * CONTROL_TURNS + 1], "", "..."]
    prompt = env.get_wrapper_attr("system_prompt")
    env.close()
    return (
        f"## One episode\n\nThe system prompt:\n\n```text\n{prompt}\n```\n\n"
        f"`{env.spec.id}`, seed {seed}, played by the oracle:\n\n```text\n" + "\n".join(lines) + "\n```\n"
    )


def write_multiplayer(folder: Path, entry: Entry) -> Path:
    """The page of a PettingZoo environment; without its picture where it cannot run."""
    module, _, function = entry.entry_point.partition(":")
    call = f'```python\nfrom {module} import {function}\n\nenv = {function}(kind="text")\n```'
    path = folder / f"{module.rpartition('.')[2].replace('_', '')}.md"
    if not is_available(entry):
        path.write_text(f"# {name_of(entry)}\n\n{call}\n\nIt needs `{install_command(entry.extra or '')}`.\n")
        return path
    env = load(entry.entry_point)(kind="visual", render_mode="rgb_array")
    env.reset(seed=7)
    Image.fromarray(env.render()).save(path.with_suffix(".png"))
    parts = sections(type(env))
    name = name_of(entry)
    head = [f"# {name}", parts[""], f"![{name}]({path.stem}.png)", f"Id: `{entry.id}` (PettingZoo)", call]
    path.write_text("\n\n".join([*head, *(f"## {title}\n\n{text}" for title, text in parts.items() if title)]) + "\n")
    return path


def overview(pages: list[Path], several: list[tuple[Entry, Path]]) -> str:
    """The gallery of all environments: those with ids of Gymnasium, and those of several players with their pages."""
    lines = [
        "# Environments",
        "",
        "*Embedded* worlds are generated from a seed by agentrl's own code: scores on them are not scores on the "
        "benchmarks they are modelled on. Others are a benchmark's own package, or play its task files; each page says "
        "what is official and what is not.",
        "",
        "| | environment | world | ids |",
        "|---|---|---|---|",
    ]
    for name, rows in environments().items():
        ids = "<br>".join(f"`{entry.id}`" for entry in rows)
        page = name.lower()
        title = name_of(rows[0])
        picture = f"![{title}]({picture_of(pages[0].parent, name)}){{width=120px}}"
        lines.append(f"| {picture} | **[{title}]({page}.md)**<br>{rows[0].summary} | {rows[0].backend} | {ids} |")
    for entry, page in several:
        title = name_of(entry)
        picture = f"![{title}]({page.stem}.png){{width=120px}}" if page.with_suffix(".png").exists() else ""
        what = f"**[{title}]({page.name})**<br>{entry.summary}"
        lines.append(f"| {picture} | {what} | {entry.backend} | `{entry.id}` |")
    toctree = "\n".join(page.stem for page in pages)
    return "\n".join(lines) + f"\n\n```{{toctree}}\n:hidden:\n\n{toctree}\n```\n"


# ---------------------------------------------------------------------- wrappers and the command line


def wrappers_page() -> str:
    """The wrappers that exist, from their docstrings and signatures."""
    parts = ["# Wrappers", "", "One concern each; they compose with every environment that speaks text.", ""]
    package = _import_or_none("agentrl.wrappers")
    for name in WRAPPERS:
        wrapper = getattr(package, name, None) if package else None
        if wrapper is None:
            continue
        text = re.sub(r"^#", "##", inspect.getdoc(wrapper) or "", flags=re.MULTILINE)
        parts += [f"## {name}", "", f"```python\n{call(name, wrapper)}\n```", "", text, ""]
    return "\n".join(parts)


def call(name: str, function: Any, width: int = 80) -> str:
    """How to call it, with types and defaults; one argument a line where it is long."""
    # Annotations are strings and would be shown in quotes.
    parameters = [re.sub(r": '([^']*)'", r": \1", str(p)) for p in inspect.signature(function).parameters.values()]
    short = f"{name}({', '.join(parameters)})"
    return short if len(short) <= width else f"{name}(\n    " + ",\n    ".join(parameters) + ",\n)"


def command_line_page() -> str:
    """`agentrl -h`, and the help of every verb."""
    parts = [
        "# Command line",
        "",
        "Every verb takes `--json`: one object on stdout, logs on stderr. What a command writes goes where `--output` "
        "says. The exit status is 0 when it is done, 1 when it failed, 2 for wrong usage.",
        "",
    ]
    main = _import_or_none("agentrl.cli.main")
    if main is None:
        return "\n".join(parts)
    parts += ["```none", help_text(main.main, "-h"), "```", ""]
    for verb in main.VERBS:
        parts += [f"## agentrl {verb}", "", "```none", help_text(main.main, verb, "-h"), "```", ""]
    return "\n".join(parts)


def training_options_page() -> str:
    """The options of every algorithm with their defaults, and the recipes."""
    from agentrl.recipes import load_recipe, recipe_names

    parts = ["# Options of training", "", "On the command line with dashes: `eval_every` is `--eval-every`.", ""]
    sources = [path.read_text() for path in sorted((HERE.parent / "agentrl" / "trainers").rglob("*.py"))]
    for name, title in OPTIONS:
        source = next(source for source in sources if re.search(rf"^class {name}\b", source, re.MULTILINE))
        parts += [f"## {title}", "", "| option | type | default | |", "|---|---|---|---|"]
        parts += [
            f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in options(source, name)
        ]
        parts.append("")
    parts += ["## Recipes", "", "| recipe | stages | what it shows |", "|---|---|---|"]
    for recipe in map(load_recipe, recipe_names()):
        stages = ", ".join(stage.algorithm for stage in recipe.stages)
        parts.append(f"| `{recipe.name}` | {stages} | {recipe.summary} |")
    return "\n".join(parts) + "\n"


def options(source: str, name: str) -> Iterator[tuple[str, str, str, str]]:
    """Name, type, default and meaning of the fields that a dataclass itself declares."""
    cls = next(node for node in ast.parse(source).body if isinstance(node, ast.ClassDef) and node.name == name)
    for field, text in zip(cls.body, cls.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and field.value is not None and isinstance(text, ast.Expr):
            meaning = inspect.cleandoc(str(ast.literal_eval(text.value)))
            kind, default = ast.unparse(field.annotation), ast.unparse(field.value)
            default = "{}" if default == "field(default_factory=dict)" else default
            yield f"`{ast.unparse(field.target)}`", f"`{kind}`", f"`{default}`", " ".join(meaning.split())


def help_text(main: Any, *words: str) -> str:
    """What the command prints, without colours."""
    output = io.StringIO()
    with redirect_stdout(output), suppress(SystemExit):
        main(list(words))
    return re.sub(r"\x1b\[[0-9;]*m", "", output.getvalue()).rstrip()


def _import_or_none(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and name.startswith(error.name):  # this part is not installed; anything else is a bug
            return None
        raise


if __name__ == "__main__":
    for page in write_all():
        print(page)
