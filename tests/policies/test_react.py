"""ReAct prompting: what is shown, what is read, what is repaired."""

from __future__ import annotations

import time

import gymnasium as gym
import pytest

from agentrl.core.errors import ConfigError
from agentrl.core.policy import Generation
from agentrl.policies import load_policy
from agentrl.policies.oracle import OraclePolicy
from agentrl.policies.react import INSTRUCTIONS, Grammar, ReActPolicy, read_reply, solved_episodes
from agentrl.rollout.episode import make
from agentrl.rollout.evaluate import evaluate
from agentrl.rollout.prompts import rules_of, user_message

LAKE = "agentrl/FrozenLake-Text-v0"
MOVES = Grammar(("Left", "Down", "Right", "Up"))


def opening(env, observation):
    return [{"role": "system", "content": rules_of(env)}, user_message(observation)]


@pytest.mark.parametrize(
    ("text", "action", "how"),
    [
        ("Thought: the goal is above.\nAction: Up, Left", "Up, Left", "clean"),
        ("Thought: x\nAction: Up\n", "Up", "clean"),
        ("Action: up,LEFT", "Up, Left", "repaired"),
        ("**Thought:** x\n**Action:** Up, Up", "Up, Up", "repaired"),
        ("Thought: x\nAction:\nDown", "Down", "repaired"),
        ("Thought: x\nAction: `Right`.", "Right", "repaired"),
        ("Thought: x\nAction: [Up, 'Left']", "Up, Left", "repaired"),
        ("Thought: x\nAction: Up then Left and Down", "Up, Left, Down", "repaired"),
        ("Thought: x\nAction: Up -> Left -> Down", "Up, Left, Down", "repaired"),
        ("Thought: x\nAction: 1. Up 2. Left", "Up, Left", "repaired"),
        ("Thought: x\nAction 1: Move Up", "Up", "repaired"),
        ("Thought: x\nFinal Answer: Up", "Up", "repaired"),
        ("<think>x</think><answer>Up</answer>", "Up", "repaired"),
        ("Thought: x\nAction: <answer>Up</answer>", "Up", "repaired"),
        ("Left, Left", "Left, Left", "repaired"),
        ("Thought: a\nAction: Up\nThought: no, better\nAction: Down", "Down", "clean"),
        ("Action: Up\nObservation: you moved\nThought: now\nAction: Down", "Up", "repaired"),
        ("Action: Up\nExample 3.\nTurn 1\nAction: Down", "Up", "repaired"),
        ("Action: Up\nThought: that was good", "Up", "repaired"),
        ("Action: Upwards", "Upwards", "unread"),
        ("Action: I would go Up if I could", "I would go Up if I could", "unread"),
        ("Action: Jump", "Jump", "unread"),
        ("Action:", "Action:", "unread"),
        ("I am\nlost", "I am\nlost", "unread"),
        ("", "", "unread"),
    ],
)
def test_replies_are_read_and_common_slips_repaired_and_nothing_is_made_up(text, action, how):
    assert read_reply(text, MOVES) == (action, how)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("Thought: x\nAction: click('12')", "click('12')"),
        ("Thought: x\nAction: `click('12')`", "click('12')"),
        ('Action: "search red shoes"', "search red shoes"),
        ("Action: 'a' or 'b'", "'a' or 'b'"),
        ("Action: **buy**", "buy"),
        ("Action: type [Up]", "type [Up]"),
    ],
)
def test_actions_without_names_keep_what_belongs_to_them(text, action):
    assert read_reply(text)[0] == action


@pytest.mark.parametrize(
    "piece", ["\n", " ", "*", "action", "Action: ", "<answer>", "</answer>", "->", "Up", "Up-", "1", "Observation:\n"]
)
def test_reading_takes_no_longer_for_hostile_repetitions(piece):
    started = time.process_time()
    for text in (piece * 30_000, "Action: " + piece * 30_000 + "!", "Action: Up\n" + piece * 30_000):
        read_reply(text, MOVES)
        read_reply(text)
    assert time.process_time() - started < 10


# ---------------------------------------------------------------------- what is shown


class Scripted:
    """Plays the oracle's turns in the given words, and remembers what it was shown."""

    name = "scripted"

    def __init__(self, words="Thought: I know the way.\nAction: {}"):
        self.words, self.shown, self._oracle = words, [], OraclePolicy()

    def act(self, conversations, envs=None):
        self.shown += conversations
        texts = [self.words.format(answer.action) for answer in self._oracle.act(conversations, envs)]
        return [Generation(text, text, token_ids=[1]) for text in texts]


@pytest.mark.parametrize("env_id", [LAKE, "agentrl/Sokoban-Text-v0", "agentrl/Sokoban-Visual-v0"])
def test_the_prompt_holds_rules_instructions_and_episodes_that_the_oracle_solved(env_id):
    env = make(env_id, split="test")
    observation, _ = env.reset(seed=1)
    real = opening(env, observation)
    shown = ReActPolicy(Scripted()).prompt(real, env)
    assert shown[0]["content"].startswith(real[0]["content"]) and INSTRUCTIONS in shown[0]["content"]
    again = solved_episodes(env, 2)
    assert shown[-1] is real[-1] and len(again) == len(shown) - 2
    assert [message["content"] for message in shown[1:-1]] == [message["content"] for message in again]
    roles = [message["role"] for message in shown]
    assert roles == ["system"] + ["user", "assistant"] * (len(shown) // 2 - 1) + ["user"]
    firsts = [message["content"].splitlines()[0] for message in shown if message["content"].startswith("Example")]
    assert firsts == ["Example 1.", "Example 2."]
    for message in shown[2:-1:2]:
        assert read_reply(message["content"], Grammar.of(env))[1] == "clean"
    if "Visual" in env_id:
        assert all(len(message["images"]) == 1 for message in shown[1::2])


def test_examples_are_of_the_train_split_and_do_not_touch_the_environment():
    env = make(LAKE, split="test")
    before = env.reset(seed=5)[0]["text"]
    shown = solved_episodes(env, 3)
    assert env.unwrapped.split == "test" and env.unwrapped._observe()["text"] == before
    train = make(LAKE, split="train")
    assert shown[0]["content"] == "Example 1.\n" + train.reset(seed=70_001)[0]["text"]


def test_a_model_that_knows_the_way_solves_everything_through_it():
    inner = Scripted("**Thought:** easy\n**Action:** `{}`.\nObservation: I won\nAction: Left")
    policy = ReActPolicy(inner, examples=1)
    result = evaluate(LAKE, policy, episodes=10)
    assert (result.success, result.valid_rate, result.policy) == (1.0, 1.0, "react")
    assert policy.metrics()["repaired"] == policy.replies.total() > 0
    said = [message for message in inner.shown[-1] if message["role"] == "assistant"]
    assert said[0]["content"].startswith("Thought:") and len(inner.shown) == policy.replies.total()


def test_the_text_and_tokens_stay_the_models_own():
    env = make(LAKE)
    observation, _ = env.reset(seed=1)
    (answer,) = ReActPolicy(Scripted()).act([opening(env, observation)], [env])
    assert answer.text == f"Thought: I know the way.\nAction: {answer.action}" and answer.token_ids == [1]


def test_without_environments_there_are_instructions_only():
    policy = ReActPolicy(Scripted())
    shown = policy.prompt([{"role": "user", "content": "x"}])
    assert [message["role"] for message in shown] == ["system", "user"]


def test_an_environment_without_an_oracle_gets_no_examples_and_says_so(caplog):
    class Plain(gym.Env):
        pass

    shown = ReActPolicy(Scripted()).prompt([{"role": "user", "content": "x"}], Plain())
    assert len(shown) == 2 and "no ReAct examples" in caplog.text


def test_it_does_not_go_with_a_wrapper_that_asks_for_another_form():
    with pytest.raises(ConfigError, match="own reply format"):
        evaluate(LAKE, ReActPolicy(Scripted()), 1, wrappers=[{"wrapper": "Reasoning", "strategy": "free_think"}])


@pytest.mark.parametrize(
    ("spec", "options", "says"),
    [
        ("react", {}, "needs its policy"),
        ("react:", {}, "needs its policy"),
        ("react:openay:m", {}, 'Did you mean "openai"'),
        ("react:openai", {}, "needs its model"),
        ("react:openai:m", {"examples": -1}, "examples"),
        ("react:openai:m", {"temprature": 1}, "temprature"),
    ],
)
def test_arguments_that_cannot_work_are_refused(spec, options, says):
    with pytest.raises(ConfigError, match=says):
        load_policy(spec, **options)


def test_options_go_to_the_inner_policy():
    policy = load_policy("react:openai:m", seed=4, greedy=True, base_url="http://127.0.0.1:9/v1")
    assert policy.inner.sampling["temperature"] == 0.0 and policy.inner.seed == 4
    with pytest.raises(ConfigError, match="greedy"):
        ReActPolicy(Scripted(), greedy=True)
