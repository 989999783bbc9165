"""AgentLab's generic agent on a task of WebArena-Lite, against the embedded sites; its model is a script.

It runs in an environment with AgentLab (docs/browsergym.md). Serve the sites first, and give it what they print:

    agentrl site webarena --ports --port 0 --json > sites.json
    .venv-agentlab/bin/python examples/agentlab_play.py sites.json

Any server that speaks the API of OpenAI can take the place of the script: set OPENAI_BASE_URL and leave `Script` out.
"""

import json
import os
import re
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from browsergym_play import SITES, prepare

PAGE = f"{SITES['sites']['shopping']}/newsletter/manage/"


class Script(BaseHTTPRequestHandler):
    """Chat completions: it opens the page of task 521, then ticks the box and saves in one action, as it reads the ids
    in the prompt."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        prompt = json.dumps(asked["messages"])
        ids = [
            re.findall(rf"\[(\w+)\] {words}", prompt) for words in ("checkbox 'General Subscription'", "button 'Save'")
        ]
        action = "\n".join(f"click('{found[-1]}')" for found in ids) if all(ids) else f"goto('{PAGE}')"
        message = {"role": "assistant", "content": f"<think>\nNext.\n</think>\n<action>\n{action}\n</action>"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        answer = {"id": "1", "object": "chat.completion", "created": 0, "model": asked["model"], "choices": [choice]}
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps({**answer, "usage": usage}).encode())

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


def main(folder: Path) -> None:
    """One episode, recorded and scored as in AgentLab's studies."""
    from agentlab.agents.generic_agent.agent_configs import FLAGS_CUSTOM
    from agentlab.agents.generic_agent.generic_agent import GenericAgentArgs
    from agentlab.experiments.loop import EnvArgs, ExpArgs
    from agentlab.llm.chat_api import OpenAIModelArgs
    from bgym import HighLevelActionSetArgs

    flags = FLAGS_CUSTOM.copy()
    flags.action.action_set = HighLevelActionSetArgs(subsets=["webarena"], multiaction=True)
    flags.max_prompt_tokens = None
    model = OpenAIModelArgs(model_name="script", max_new_tokens=500, temperature=0.0)
    agent = GenericAgentArgs(chat_model_args=model, flags=flags)
    episode = ExpArgs(agent_args=agent, env_args=EnvArgs("webarenalite.521", task_seed=0, max_steps=4, slow_mo=0))
    episode.prepare(folder)
    episode.run()
    result = json.loads((Path(episode.exp_dir) / "summary_info.json").read_text())
    print(f"steps {result['n_steps']}, reward {result['cum_reward']}, error {result['err_msg']}")


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Script)
    Thread(target=server.serve_forever, daemon=True).start()
    os.environ |= {"OPENAI_BASE_URL": f"http://127.0.0.1:{server.server_port}/v1", "OPENAI_API_KEY": "none"}
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # without a network, as the next line
    import litellm.litellm_core_utils.default_encoding  # noqa: F401 (it says where litellm has brought tiktoken's files)

    with tempfile.TemporaryDirectory() as name:
        prepare(Path(name))
        main(Path(name))
