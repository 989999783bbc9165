"""TRL on our environments: a real step of GRPO by each of its two ways, on episodes equal to our collector's."""

from __future__ import annotations

import importlib
import json
import sys
from collections import Counter
from importlib.metadata import version
from itertools import groupby
from operator import itemgetter
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from datasets import Dataset
from transformers import ProcessorMixin
from transformers.models.qwen2_5_vl.processing_qwen2_5_vl import Qwen2_5_VLProcessor
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import is_chat_template_prefix_preserving, supports_tool_calling

from agentrl.adapters.chat import ChatEpisode
from agentrl.adapters.trl import OVER, env_reward, environment, rollout
from agentrl.core.errors import ConfigError, EnvFault, MissingExtra
from agentrl.models.loading import load_model
from agentrl.models.sampling import Answer
from agentrl.policies.hf import HFPolicy
from agentrl.rollout.trajectory import picture_hash
from tests.adapters import library_check
from tests.adapters.library_check import (
    ANSWERS,
    ENV_KWARGS,
    SEEDS,
    TEXT,
    VISUAL,
    Episode,
    answer_ids,
    compare,
    play,
    shown_in,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*gradient_checkpointing:FutureWarning")  # of TRL itself
OTHER = "Right"  # what the second episode of each seed answers all the time: there must be something to learn


@pytest.fixture(autouse=True)
def setting(monkeypatch):
    """TRL warns that both ways may change; threads that wait for each other are slow where other tests run."""
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def new_trainer(folder, loaded, processing, rows, **way):
    """A trainer of one step, for which two episodes of each seed are played."""
    settings = GRPOConfig(
        output_dir=str(folder),
        max_steps=1,
        per_device_train_batch_size=4,  # of the episodes played
        generation_batch_size=2 * len(SEEDS),
        num_generations=2,
        max_completion_length=2048,
        gradient_checkpointing=False,
        use_cpu=True,
        bf16=False,
        report_to=[],
        logging_steps=1,
        save_strategy="no",
        disable_tqdm=True,
    )
    return GRPOTrainer(
        model=loaded.model, processing_class=processing, args=settings, train_dataset=Dataset.from_list(rows), **way
    )


def check_learned(trainer, rewards):
    """The step moved the weights by the rewards of our own collector's episodes."""
    log = trainer.state.log_history[0]
    assert log["reward"] == pytest.approx(sum(rewards) / len(rewards), abs=1e-5)
    assert log["grad_norm"] > 0 and trainer.state.global_step == 1


# ---------------------------------------------------------------------- rollout_func


@pytest.fixture(scope="module")
def text_model():
    return load_model("tiny-text", device="cpu")


def test_a_step_by_rollout_func_trains_on_the_tokens_of_our_collector(tmp_path, text_model, monkeypatch):
    encoder = text_model.encoder
    ours = play(TEXT, encoder)
    script = {}  # the tokens of a prompt -> those of its answer
    for one in ours:
        ids, starts = one.prompt_ids + one.completion_ids, [0, *one.mask, 0]
        begins = [place for place in range(len(one.mask)) if starts[place : place + 2] == [0, 1]]
        for turn, place in enumerate(begins):
            script[tuple(ids[: len(one.prompt_ids) + place])] = answer_ids(encoder, one.seed, turn)
    assert len(script) == sum(map(len, ANSWERS.values()))
    other = [*encoder.text_ids(OTHER), encoder.tokenizer.eos_token_id]

    def decode(self, prompts, noise, limits):
        """In place of sampling: of equal prompts the first is answered by the script."""
        left = Counter(script.keys() & {tuple(prompt.ids) for prompt in prompts})
        found = []
        for prompt in prompts:
            key = tuple(prompt.ids)
            ids = script[key] if left[key] else other
            left[key] -= 1
            found.append(Answer(ids, [-1.0] * len(ids), stopped=ids[-1] == encoder.tokenizer.eos_token_id))
        return found

    monkeypatch.setattr(HFPolicy, "_decode", decode)
    played, function = [], rollout(TEXT, max_new_tokens=64, **ENV_KWARGS)

    def noted(prompts, trainer):
        played.append((prompts, function(prompts, trainer)))
        return played[0][1]

    rows = [{"prompt": str(seed)} for seed in SEEDS]
    trainer = new_trainer(tmp_path, text_model, text_model.tokenizer, rows, reward_funcs=env_reward, rollout_func=noted)
    trainer.train()
    ((prompts, found),) = played
    episodes = [
        Episode(
            seed=int(prompt),
            actions=actions_in(encoder.tokenizer, found["completion_ids"][index], found["env_mask"][index]),
            reward=found["env_reward"][index],
            rewards=found["turn_rewards"][index],
            terminated=found["terminated"][index],
            truncated=found["truncated"][index],
            success=found["success"][index],
            prompt_ids=found["prompt_ids"][index],
            completion_ids=found["completion_ids"][index],
            mask=found["env_mask"][index],
        )
        for index, prompt in enumerate(prompts)
    ]
    scripted = [one for one in episodes if tuple(one.actions) == ANSWERS[one.seed]]
    text = compare(scripted, ours)
    check_learned(trainer, found["env_reward"])
    remarks = {"turn rewards": "for reward functions; one advantage an episode"}
    library_check.check_row("TRL, `rollout_func`", version("trl"), text=text, remarks=remarks)


def actions_in(tokenizer, ids, mask):
    """The answers of a row."""
    runs = [
        [token for token, _ in run] for written, run in groupby(zip(ids, mask, strict=True), itemgetter(1)) if written
    ]
    return [tokenizer.decode(run).removesuffix(tokenizer.eos_token) for run in runs]


def test_rollout_func_refuses_pictures_and_prompts_that_are_no_seeds(text_model):
    seeing = load_model("tiny-vlm", device="cpu")
    trainer = SimpleNamespace(
        accelerator=SimpleNamespace(unwrap_model=lambda model: model, process_index=0),
        model=seeing.model,
        processing_class=picture_processor(seeing),
        args=GRPOConfig(output_dir="unused", use_cpu=True, bf16=False),
        state=SimpleNamespace(global_step=0),
    )
    with pytest.raises(ConfigError, match=r"takes Text kinds: .* environment\(\.\.\.\)"):
        rollout(VISUAL, max_new_tokens=2, max_turns=2)(["3"], trainer)
    with pytest.raises(ConfigError, match="must be the seed of a task"):
        rollout(TEXT)([[{"role": "user", "content": "3"}]], trainer)
    trainer.args.repetition_penalty = 1.1
    with pytest.raises(ConfigError, match="leave min_p and repetition_penalty"):
        rollout(TEXT)(["3"], trainer)


def test_rollout_func_samples_anew_in_every_step_and_process(text_model):
    place = SimpleNamespace(unwrap_model=lambda model: model, process_index=0)
    state = SimpleNamespace(global_step=0)
    arguments = GRPOConfig(output_dir="unused", use_cpu=True, bf16=False)
    trainer = SimpleNamespace(
        accelerator=place, model=text_model.model, processing_class=text_model.tokenizer, args=arguments, state=state
    )
    function = rollout(TEXT, max_new_tokens=4, max_turns=2)
    first, again = (function(["3", "3"], trainer)["completion_ids"] for _ in range(2))
    state.global_step = 1
    later = function(["3", "3"], trainer)["completion_ids"]
    place.process_index = 1
    elsewhere = function(["3", "3"], trainer)["completion_ids"]
    assert first == again and len({str(ids) for ids in [*first, *later, *elsewhere]}) == 6


# ---------------------------------------------------------------------- environment_factory


class PictureProcessor(Qwen2_5_VLProcessor):
    """The processor of the family without videos, whose part needs torchvision."""

    def __init__(self, image_processor=None, tokenizer=None, chat_template=None):
        self.image_token, self.video_token = "<|image_pad|>", "<|video_pad|>"
        self.image_token_id, self.video_token_id = tokenizer.convert_tokens_to_ids([self.image_token, self.video_token])
        ProcessorMixin.__init__(self, image_processor, tokenizer, chat_template=chat_template)


def picture_processor(loaded):
    return PictureProcessor(loaded.encoder.image_processor, loaded.tokenizer, loaded.tokenizer.chat_template)


class ScriptedTurns:
    """In place of the trainer's sampling: the first episode of each seed follows the script, the second answers OTHER.
    Both end by text, the second after one more call, which must fail."""

    def __init__(self, trainer, tokenizer):
        self.trainer, self.tokenizer, self.prompts, self.pictures = trainer, tokenizer, [], []
        self.playing, self.called = range(2 * len(SEEDS)), Counter()

    def __call__(self, prompt_ids, images, multimodal_fields, num_generations, has_tool_images=False):
        assert len(self.playing) == len(prompt_ids)
        self.prompts += map(self.tokenizer.decode, prompt_ids)
        self.pictures += [len(shown or []) for shown in images or []]
        texts = {index: self.text(index) for index in self.playing}
        self.playing = [index for index, text in texts.items() if "<tool_call>" in text]
        ids = [self.tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts.values()]
        return ids, [[-1.0] * len(one) for one in ids]

    def text(self, index):
        episode, turn = self.trainer.environments[index].episode, self.called[index]
        if episode.over and (index % 2 == 0 or turn > len(episode.rewards)):
            return "Done.<|im_end|>"
        self.called[index] += 1
        said = OTHER if index % 2 else ANSWERS[episode.env.unwrapped.np_random_seed][turn]
        call = {"name": "act", "arguments": {"answer": said}}
        return f"<tool_call>{json.dumps(call)}</tool_call><|im_end|>"


def played_by_trl(monkeypatch, tmp_path, env_id, loaded, processing):
    """The episodes of a step, as the environments saw them, and the script with all that the model was shown."""
    actions = {}

    class Noted(ChatEpisode):
        def reset(self, seed=None, options=None):
            messages = super().reset(seed, options)
            actions[id(self)] = [[], shown_in(messages)]
            return messages

        def step(self, answer):
            messages = super().step(answer)
            actions[id(self)][0].append(answer)
            actions[id(self)][1].extend(shown_in(messages))
            return messages

    monkeypatch.setattr("agentrl.adapters.trl.ChatEpisode", Noted)
    rows = [{"prompt": [{"role": "user", "content": ""}], "seed": seed} for seed in SEEDS]
    way = environment(env_id, **ENV_KWARGS)
    trainer = new_trainer(tmp_path, loaded, processing, rows, environment_factory=way)
    script = trainer._generate_single_turn = ScriptedTurns(trainer, loaded.tokenizer)
    trainer.train()
    episodes = []
    for one in trainer.environments:
        episode, (said, shown) = one.episode, actions[id(one.episode)]
        episodes.append(
            Episode(
                seed=episode.env.unwrapped.np_random_seed,
                actions=said,
                reward=one.get_reward(),
                terminated=episode.terminated,
                truncated=episode.truncated,
                success=episode.success,
                shown=shown,
            )
        )
    check_learned(trainer, [one.reward for one in episodes])
    assert trainer.state.log_history[0]["tools/failure_frequency"] > 0
    return episodes, script


def test_a_step_by_environment_factory_plays_the_episodes_of_our_collector(tmp_path, text_model, monkeypatch):
    episodes, script = played_by_trl(monkeypatch, tmp_path / "text", TEXT, text_model, text_model.tokenizer)
    text = compare(episodes[::2], play(TEXT))
    for one in episodes[::2]:  # what the model was shown is what our own conversation shows, rules first
        turns = [f"<|user|>{seen}<|assistant|>" for seen in one.shown[1:]]
        assert any(all(turn in prompt for turn in [one.shown[0], *turns]) for prompt in script.prompts)
    assert any(f"<|user|>{{'error': '{OVER}'}}<|assistant|>" in prompt for prompt in script.prompts)
    seeing = load_model("tiny-vlm", device="cpu")
    episodes, script = played_by_trl(monkeypatch, tmp_path / "visual", VISUAL, seeing, picture_processor(seeing))
    pictures = compare(episodes[::2], play(VISUAL))
    assert max(script.pictures) == max(map(len, ANSWERS.values()))
    remarks = {"turn rewards": "their sum", "exact tokens": "TRL writes function calls"}
    found = {"text": text, "pictures": pictures, "remarks": remarks}
    library_check.check_row("TRL, `environment_factory`", version("trl"), **found)


def test_an_environment_needs_a_seed_and_an_episode_that_is_over_ends_by_text():
    one = environment(TEXT, **ENV_KWARGS)()
    with pytest.raises(ConfigError, match="column seed or task"):
        one.reset(prompt=[])
    first = one.reset(prompt=[], seed=2)
    assert first.startswith("You are on a frozen lake.") and first.endswith("OO_P")
    assert "Turn 2 of 4." in one.act("Up") and one.act("Left, Up") == OVER
    with pytest.raises(ConfigError, match="call no function"):
        one.act("Up")
    assert one.get_reward() == pytest.approx(-0.3) and one.reset(seed=2) == first and one.get_reward() == 0


def test_an_environment_that_broke_is_not_scored_and_is_made_anew():
    one = environment(TEXT, **ENV_KWARGS)()
    first, broken = one.reset(seed=2), one.episode

    def fail(action):
        raise EnvFault("the simulator died")

    broken.env.step = fail
    with pytest.raises(EnvFault):
        one.act("Up")
    with pytest.raises(ConfigError, match="call no function"):
        one.act("Up")
    assert one.get_reward() is None
    assert one.reset(seed=2) == first and one.episode is not broken and "Turn 2" in one.act("Up")


def test_the_pictures_of_an_environment_are_those_that_our_collector_shows():
    one = environment(VISUAL, **ENV_KWARGS)()
    rules, turn, picture = one.reset(seed=0)
    assert rules["text"].startswith("You are on a frozen lake.") and turn == {"type": "text", "text": "Turn 1 of 4.\n"}
    assert picture_hash(np.asarray(picture["image"])) in play(VISUAL)[0].shown[0]


def test_without_the_library_the_command_that_installs_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "trl", None)
    monkeypatch.delitem(sys.modules, "agentrl.adapters.trl")
    with pytest.raises(MissingExtra, match=r"trl is not installed; run: pip install '.*\[trl\]'"):
        importlib.import_module("agentrl.adapters.trl")


# ---------------------------------------------------------------------- chat templates


@pytest.mark.parametrize("name", ["tiny-text", "tiny-web", "tiny-words", "tiny-vlm"])
def test_the_tiny_models_can_call_functions(name):
    tokenizer = load_model(name, device="cpu").tokenizer
    assert supports_tool_calling(tokenizer) and is_chat_template_prefix_preserving(tokenizer)
