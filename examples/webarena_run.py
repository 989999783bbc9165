"""WebArena's own `run.py` on one of its tasks, against the embedded sites; its model is a script.

It runs in the folder of a checkout of WebArena, in an environment with its packages (docs/browsergym.md):

    agentrl site webarena --ports --port 0 --json > sites.json
    cd webarena && ../.venv-webarena/bin/python ../examples/webarena_run.py ../sites.json

Any server that speaks the API of OpenAI can take the place of the script: set OPENAI_API_BASE.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from browsergym_play import prepare

TASK = 521  # "Subscribe to the newsletter of OneStopMarket"


class Script(BaseHTTPRequestHandler):
    """Chat completions: it opens the page of the task, ticks the box, saves, and stops, as it reads the tree."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        tree = asked["messages"][-1]["content"]
        box = re.search(r"\[(\d+)\] checkbox 'General Subscription'(.*)", tree)
        save = re.search(r"\[(\d+)\] button 'Save'", tree)
        if box is None or save is None:
            done = "subscription" in tree.split("OBJECTIVE")[0]  # the shop says so
            action = "stop []" if done else "goto [http://onestopmarket.com/newsletter/manage/]"
        else:
            action = f"click [{save[1] if 'checked: true' in box[2] else box[1]}]"
        text = f"Let's think step-by-step. In summary, the next action I will perform is ```{action}```"
        print(action, flush=True)
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps({"id": "1", "object": "chat.completion", "choices": [choice]}).encode())

    def log_message(self, *_: object) -> None:
        """Nothing else is printed."""


def main(folder: Path) -> int:
    """Write the task with these addresses, and let the harness run and score it."""
    for name in [name for name in os.environ if name.startswith("WA_")]:
        os.environ[name.removeprefix("WA_")] = os.environ[name]
    text = Path("config_files/test.raw.json").read_text()
    for name in ("SHOPPING", "SHOPPING_ADMIN", "REDDIT", "GITLAB", "MAP", "WIKIPEDIA"):
        text = text.replace(f"__{name}__", os.environ[name])
    task = next(task for task in json.loads(text) if task["task_id"] == TASK)
    Path(f"config_files/{TASK}.json").write_text(json.dumps(task))
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # it logs in by `python`
    os.environ["PYTHONPATH"] = "."
    command = [sys.executable, "run.py", "--instruction_path", "agent/prompts/jsons/p_cot_id_actree_2s.json"]
    command += ["--model", "gpt-3.5-turbo", "--max_obs_length", "0", "--max_steps", "6"]
    command += ["--test_start_idx", str(TASK), "--test_end_idx", str(TASK + 1), "--result_dir", str(folder / "results")]
    return subprocess.run(command).returncode


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Script)
    Thread(target=server.serve_forever, daemon=True).start()
    os.environ |= {"OPENAI_API_BASE": f"http://127.0.0.1:{server.server_port}/v1", "OPENAI_API_KEY": "none"}
    with tempfile.TemporaryDirectory() as name:
        prepare(Path(name))
        sys.exit(main(Path(name)))
