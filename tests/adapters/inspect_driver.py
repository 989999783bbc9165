"""In inspect-ai's virtual environment: the eight episodes, played by its mock model or by an endpoint.

python inspect_driver.py ID FOLDER [BASE_URL]   prints `library_check.to_json`; the log is written to FOLDER
"""

from __future__ import annotations

import sys
from typing import Any

from inspect_ai import eval as run
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from agentrl.adapters.inspect_ai import of_seeds
from tests.adapters.library_check import ENV_KWARGS, SEEDS, Episode, answer, hash_of_url, to_json


def scripted(messages: list[Any], *_: Any) -> ModelOutput:
    """The answer to the last message. Without a count of tokens the mock model would download a tokenizer."""
    turn = sum(message.role == "assistant" for message in messages)
    opening = shown(next(message for message in messages if message.role == "user"))
    output = ModelOutput.from_content("mockllm/model", answer(OPENINGS[opening], turn))
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output


def shown(message: Any) -> str:
    """As `Episode.shown` has it."""
    if isinstance(message.content, str):
        return message.content
    parts = [part.text if part.type == "text" else f"<image {hash_of_url(part.image)}>" for part in message.content]
    return "".join(parts)


def episode(sample: Any) -> Episode:
    """What the log says about an episode."""
    facts, reward = sample.metadata, sample.scores["reward"]
    assert bool(sample.scores["success"].value) == facts["success"] and reward.metadata["rewards"] == facts["rewards"]
    return Episode(
        seed=facts["seed"],
        actions=facts["actions"],
        reward=reward.value,
        rewards=facts["rewards"],
        terminated=facts["terminated"],
        truncated=facts["truncated"],
        success=facts["success"],
        shown=[shown(message) for message in sample.messages if message.role == "user"],
    )


if __name__ == "__main__":
    env_id, folder, *endpoint = sys.argv[1:]
    if endpoint:
        model = get_model("openai/scripted", base_url=endpoint[0], api_key="none", responses_api=False)
    else:
        from agentrl.adapters.chat import ChatEpisode
        from tests.adapters.library_check import shown_in

        game = ChatEpisode(env_id, ENV_KWARGS)
        OPENINGS = {shown_in(game.reset(seed))[0]: seed for seed in SEEDS}
        model = get_model("mockllm/model", custom_outputs=scripted)
    (log,) = run(of_seeds(env_id, SEEDS, ENV_KWARGS), model=model, display="none", log_dir=folder, max_connections=1)
    assert log.status == "success", log.error
    samples = read_eval_log(log.location, resolve_attachments=True).samples or []
    print(to_json(map(episode, samples)))
