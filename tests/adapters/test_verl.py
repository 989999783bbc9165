"""verl 0.9.1 itself, in a virtual environment of its own, plays as our collector does."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from agentrl.core.errors import MissingLibrary
from tests.adapters.libraries import run_in
from tests.adapters.library_check import TEXT, VISUAL, Episode, check_row, compare, from_json, play


def answers_in(episodes: list[Episode]) -> list[Any]:
    """Each prompt of the episodes, as tokens and names of pictures, with its answer."""
    found = []
    for one in episodes:
        assert one.prompt_ids and one.completion_ids and one.mask and one.shown
        edges = np.flatnonzero(np.diff([0, *one.mask, 0])).reshape(-1, 2).tolist()
        for turn, (start, end) in enumerate(edges, 1):
            pictures = re.findall("<image (.*?)>", " ".join(one.shown[:turn]))
            found.append([one.prompt_ids + one.completion_ids[:start], pictures, one.completion_ids[start:end]])
    assert len({str(asked[:2]) for asked in found}) == len(found)
    return found


@pytest.fixture(scope="module")
def models() -> dict[str, Any]:
    from agentrl.models.loading import load_model

    return {"text": load_model("tiny-text"), "vision": load_model("tiny-vlm")}


@pytest.fixture(scope="module")
def ours(models: dict[str, Any]) -> dict[str, list[Episode]]:
    vision = models["vision"].encoder
    return {"text": play(TEXT, models["text"].encoder), TEXT: play(TEXT, vision), VISUAL: play(VISUAL, vision)}


@pytest.fixture(scope="module")
def theirs(models: dict[str, Any], ours: dict[str, list[Episode]]) -> dict[str, Any]:
    answers = {"text": answers_in(ours["text"]), "vision": answers_in(ours[TEXT] + ours[VISUAL])}
    asked = {name: str(model.folder) for name, model in models.items()} | {"answers": answers}
    return json.loads(run_in("verl", "tests/adapters/verl_driver.py", given=json.dumps(asked)).splitlines()[-1])


@pytest.mark.library("verl")
@pytest.mark.timeout(900)
class TestVerl:
    """Needs verl."""

    def test_verls_workers_play_text_and_pictures_as_our_collector_does(
        self, ours: dict[str, list[Episode]], theirs: dict[str, Any]
    ) -> None:
        text, pictures = (compare(from_json(theirs["workers"][env_id]), ours[env_id]) for env_id in (TEXT, VISUAL))
        check_row("verl", theirs["version"], text=text, pictures=pictures, remarks={"turn rewards": "carried"})

    def test_the_loop_of_a_text_model_has_our_tokens_and_masks(
        self, ours: dict[str, list[Episode]], theirs: dict[str, Any]
    ) -> None:
        assert compare(from_json(theirs["episodes"]), ours["text"]) >= {"prompt_ids", "completion_ids", "mask"}

    def test_tokens_are_the_chat_templates_also_after_an_answer_that_was_cut(
        self, models: dict[str, Any], theirs: dict[str, Any]
    ) -> None:
        tokenizer, cut = models["text"].tokenizer, from_json(theirs["episodes"])[5]
        assert cut.shown and cut.prompt_ids and cut.completion_ids
        chat = [{"role": "system", "content": rules()}, {"role": "user", "content": cut.shown[0]}]
        for said, seen in zip(cut.actions, [*cut.shown[1:], None], strict=True):
            chat += [{"role": "assistant", "content": said}] + ([{"role": "user", "content": seen}] if seen else [])
        whole = tokenizer.apply_chat_template(chat)["input_ids"]
        assert cut.prompt_ids + cut.completion_ids == whole[: len(cut.prompt_ids + cut.completion_ids)]
        assert theirs["theirs"] != whole[: len(theirs["theirs"])]  # the reason for tokens of our own

    def test_an_episode_ends_with_the_last_answer_that_fits(
        self, ours: dict[str, list[Episode]], theirs: dict[str, Any]
    ) -> None:
        short, none = from_json(theirs["short"])
        whole = ours["text"][3]
        assert whole.completion_ids and short.completion_ids and none.completion_ids and whole.mask and none.mask
        assert whole.completion_ids[: len(short.completion_ids)] == short.completion_ids
        assert len(short.actions) == 2 and short.mask and short.mask[-2:] == [0, 1] and len(none.actions) == 1
        assert sum(none.mask) == len(none.mask) and not (none.terminated or none.truncated)

    def test_environments_work_in_threads(self, theirs: dict[str, Any]) -> None:
        assert theirs["in_threads"]

    def test_what_would_change_tokens_or_cut_the_prompt_is_refused(self, theirs: dict[str, Any]) -> None:
        assert theirs["refused"]["prompt_length"].endswith("; got 20")
        assert theirs["refused"]["template"].startswith("data.apply_chat_template_kwargs must be empty")


def rules() -> str:
    import gymnasium as gym

    from agentrl.rollout.prompts import rules_of
    from tests.adapters.library_check import ENV_KWARGS

    return rules_of(gym.make(TEXT, **ENV_KWARGS))


@pytest.mark.parametrize("library", ["verl", "verifiers"])
def test_without_the_library_the_error_names_the_commands(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingLibrary, match=f"pip install .*{library}==.* agentrl-suite .*setup.sh library:{library}"):
        __import__(f"agentrl.adapters.{library}")


def test_an_unknown_library_is_refused_with_the_names() -> None:
    done = subprocess.run(["scripts/setup.sh", "library:nothing"], capture_output=True, text=True)
    assert done.returncode == 2 and "NAME must be one of agentlightning browsergym inspect-ai" in done.stderr
