"""BrowserGym's own tasks of WebArena-Lite, with its own client, login and evaluators, against the embedded sites.

It runs in BrowserGym's virtual environment, not in agentrl's. Serve the sites first, and give it what they print:

    agentrl site webarena --ports --port 0 --json > sites.json
    .venv-browsergym/bin/python examples/browsergym_play.py sites.json
"""

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

SITES = json.loads(Path(sys.argv[1]).read_text().splitlines()[0])
KEY = sys.argv[2] if len(sys.argv) > 2 else "browsergym"  # the world to play in


def prepare(folder: Path) -> None:
    """What BrowserGym asks for: addresses by environment variables, its own name for Chromium, NLTK's tokenizer."""
    for name, address in SITES["sites"].items():
        os.environ[f"WA_{name.upper()}"] = address
    os.environ["WA_WIKIPEDIA"] = SITES["sites"]["homepage"]
    os.environ["WA_FULL_RESET"] = SITES["start"].rstrip("/")
    headers = folder / "headers.json"
    headers.write_text(json.dumps({"X-Agentrl-World": KEY}))
    os.environ["PW_EXTRA_HEADERS"] = str(headers)
    chromium = folder / "browsers" / "chromium-1117" / "chrome-linux" / "chrome"
    chromium.parent.mkdir(parents=True)
    chromium.symlink_to(shutil.which("chromium") or shutil.which("google-chrome"))
    os.environ["PLAYWRIGHT_BROWSERS_PATH"] = str(folder / "browsers")
    # The evaluators split answers into words with NLTK, which would fetch a model of sentences; an empty one will do.
    import nltk

    try:
        nltk.data.find("tokenizers/punkt_tab")
    except LookupError:
        english = folder / "nltk" / "tokenizers" / "punkt_tab" / "english"
        english.mkdir(parents=True)
        for name in ("abbrev_types.txt", "collocations.tab", "ortho_context.tab", "sent_starters.txt"):
            (english / name).write_text("")
        nltk.data.path.insert(0, str(folder / "nltk"))
        os.environ["NLTK_DATA"] = str(folder / "nltk")  # for processes that this one starts


def bid(observation: dict, words: str) -> str:
    """BrowserGym's id of the first element whose line in the accessibility tree has these words."""
    from browsergym.utils.obs import flatten_axtree_to_str

    tree = flatten_axtree_to_str(observation["axtree_object"])
    line = next(line for line in tree.splitlines() if words in line)
    return line[line.index("[") + 1 : line.index("]")]


def main() -> None:
    """Task 521, "Subscribe to the newsletter": first doing nothing, then what is asked. BrowserGym evaluates after
    every action, which opens the page anew: what belongs together must be one action."""
    import browsergym.webarenalite  # noqa: F401 (registers the tasks)
    import gymnasium as gym
    from browsergym.core.action.highlevel import HighLevelActionSet

    grammar = HighLevelActionSet(subsets=["webarena"], strict=True, multiaction=True)
    env = gym.make("browsergym/webarenalite.521", action_mapping=grammar.to_python_code, slow_mo=0, timeout=60_000)
    observation, _ = env.reset()  # logs in
    print(observation["goal"])
    observation, before, *_ = env.step(f"goto('{SITES['sites']['shopping']}/newsletter/manage/')")
    box, save = bid(observation, "checkbox 'General Subscription'"), bid(observation, "button 'Save'")
    _, after, *_ = env.step(f"click('{box}')\nclick('{save}')")
    print(f"reward {before} before, {after} after")
    env.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        prepare(Path(name))
        main()
