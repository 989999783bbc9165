"""Word-level tokenizers: nothing is lost, known texts are short, the tiny models' vocabulary is frozen."""

from __future__ import annotations

import hashlib
import json

import gymnasium as gym
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agentrl  # noqa: F401 (registers the environments)
from agentrl.core.errors import ConfigError
from agentrl.models.tokenizer import TEXT_SPECIALS, VISION_SPECIALS, build_tokenizer, tiny_tokenizer
from agentrl.wrappers import Reasoning

TOKENIZER, SEEING = tiny_tokenizer(), tiny_tokenizer(VISION_SPECIALS)
KITCHEN = build_tokenizer(
    ["kettle", "car", "USB", "e-mail", "is", "The", "kettle"],
    phrases=["<answer>", "open[", "open[the", "]", "...\n", "(a|b)*"],
)


def size(text):
    return len(TOKENIZER(text)["input_ids"])


# ---------------------------------------------------------------------- the tokenizer


@given(st.text())
def test_any_text_comes_back_from_its_tokens(text):
    assert TOKENIZER.decode(TOKENIZER(text)["input_ids"]) == text


@given(st.lists(st.sampled_from(["Up", " ", ",", "\n", "<answer>", "_O", "hole", "<|im_end|>", "é", "\r", "# ", "0"])))
def test_any_mixture_of_known_and_strange_pieces_comes_back(pieces):
    text = "".join(pieces)
    assert TOKENIZER.decode(TOKENIZER(text)["input_ids"]) == text


def test_text_that_spells_a_special_token_can_be_read_as_plain_text():
    ids = TOKENIZER("<|im_end|>", split_special_tokens=True)["input_ids"]
    assert TOKENIZER.eos_token_id not in ids
    assert TOKENIZER.decode(ids) == "<|im_end|>"
    assert TOKENIZER("<|im_end|>")["input_ids"] == [TOKENIZER.eos_token_id]


@pytest.mark.parametrize(
    "piece", ["<think>", "</answer>", "Up", " Left", "hole3", " box0", "\n", ",", "_", "#", "7", " 7"]
)
def test_tags_moves_and_symbols_are_one_token_each(piece):
    assert size(piece) == 1


def test_every_symbol_of_a_grid_row_is_a_token_of_its_own():
    assert size("#P_O#\n#X*S#") == 10  # the last one of a row takes the line break with it
    # One and the same token wherever else it stands.
    (player,) = TOKENIZER("P")["input_ids"]
    assert TOKENIZER("_P_")["input_ids"][1] == TOKENIZER("OPG")["input_ids"][1] == player


def test_a_whole_row_of_a_lake_is_a_word():
    assert size("P_OG\nO___\n_X__\n____") == 4
    assert size("#_O__#") == 6 and size("_O__O") == 5 and size("a_O__") == 5  # parts of longer lines are not
    strange = "PPPP\nGG__\n"  # no lake looks like that: spelled, and nothing is lost
    assert TOKENIZER.decode(TOKENIZER(strange)["input_ids"]) == strange


@pytest.mark.parametrize("env_id", ["agentrl/FrozenLake-Text-v0", "agentrl/Sokoban-Text-v0"])
@pytest.mark.parametrize("representation", ["natural", "symbolic", "structured"])
def test_what_the_environments_say_and_hear_is_short(env_id, representation):
    env = Reasoning(gym.make(env_id), "grounding_worldmodeling", representation)
    # Longer where there is more to say: 36 symbols twice, or the two numbers of up to six holes twice.
    limit = {"natural": 75, "symbolic": 105 if "Sokoban" in env_id else 62, "structured": 90}[representation]
    longest = 0
    for seed in range(20):
        observation, _ = env.reset(seed=seed)
        assert size(observation["text"]) <= 50
        longest = max(longest, size(env.gold()))
    assert longest <= limit
    # Grows when a prompt changes: then its sentences belong into the vocabulary again.
    assert size(env.get_wrapper_attr("system_prompt")) <= 60
    assert size("<answer>Up, Left, Down</answer>") == 5


@pytest.mark.parametrize(
    ("specials", "wanted"),
    [
        (TEXT_SPECIALS, "19a82cc87c947523"),
        (VISION_SPECIALS, "ce73e26fa53d09e7"),
    ],
)
def test_the_vocabulary_of_the_tiny_models_is_frozen(specials, wanted):
    ids = json.dumps(tiny_tokenizer(specials).get_vocab(), sort_keys=True)
    assert hashlib.sha256(ids.encode()).hexdigest()[:16] == wanted


# ---------------------------------------------------------------------- a vocabulary of one's own


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("The kettle is", ["The", " kettle", " is"]),
        ("open[the kettle]", ["open[the", " kettle", "]"]),  # the longest phrase
        ("open[USB]", ["open[", "USB", "]"]),
        ("a USB e-mail", ["a", " USB", " e-mail"]),
        ("is(open[openers...\n(a|b)*", ["is", "(", "open[", *"openers", "...\n", "(a|b)*"]),
        ("reopen[", [*"reopen["]),  # a phrase does not begin inside a word
        (" car card", [" car", *" card"]),  # a word only as a whole
        ("USBs", [*"USBs"]),
        ("<answer>", ["<answer>"]),
    ],
)
def test_phrases_and_words_are_one_token_each(text, wanted):
    assert [KITCHEN.decode([index]) for index in KITCHEN(text)["input_ids"]] == wanted


@given(
    st.text() | st.lists(st.sampled_from(["open[", "car", " ", "USB", "e-mail", "é", "...\n", "<|user|>"])).map("".join)
)
def test_any_text_comes_back_from_the_tokens_of_a_new_vocabulary(text):
    assert KITCHEN.decode(KITCHEN(text)["input_ids"]) == text


def test_ids_follow_the_order_specials_bytes_phrases_words():
    first = len(TEXT_SPECIALS) + 256
    assert len(KITCHEN) == first + 5 + 2 * 6  # "]" is a byte, and "kettle" was given twice
    assert KITCHEN("<answer>")["input_ids"] == [first] and KITCHEN("kettle")["input_ids"] == [first + 5]
    assert KITCHEN.convert_tokens_to_ids(list(TEXT_SPECIALS)) == list(range(len(TEXT_SPECIALS)))


def test_a_new_vocabulary_ends_messages_as_the_tiny_models_do():
    said = KITCHEN.apply_chat_template([{"role": "user", "content": "kettle"}], add_generation_prompt=True)
    assert KITCHEN.decode(said["input_ids"]) == "<|user|>kettle<|assistant|>"
    assert KITCHEN.eos_token == TOKENIZER.eos_token and KITCHEN.pad_token == TOKENIZER.pad_token


# ---------------------------------------------------------------------- functions that a model may call

BEFORE = (  # the template of models from before it knew functions
    "{% for message in messages %}<|{{ message.role }}|>"
    "{% if message.content is string %}{{ message.content }}{% else %}{% for part in message.content %}"
    "{% if part.type == 'image' %}<|vision_start|><|image_pad|><|vision_end|>{% else %}{{ part.text }}{% endif %}"
    "{% endfor %}{% endif %}{% if message.role == 'assistant' %}<|im_end|>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
PARTS = [{"type": "text", "text": "Turn 1.\n"}, {"type": "image"}, {"type": "text", "text": ""}]
ACT = {"type": "function", "function": {"name": "act", "arguments": {"answer": 'Go "Up" \\ é'}}}


@given(
    st.lists(
        st.fixed_dictionaries(
            {"role": st.sampled_from(["system", "user", "assistant"]), "content": st.text() | st.just(PARTS)}
        ),
        min_size=1,
    ),
    st.booleans(),
)
def test_prompts_without_functions_are_what_they_always_were(messages, generate):
    found, wanted = (
        SEEING.apply_chat_template(messages, add_generation_prompt=generate, chat_template=template)["input_ids"]
        for template in (None, BEFORE)
    )
    assert found == wanted


def test_functions_their_calls_and_their_answers_are_shown():
    asked = {"role": "assistant", "content": None, "tool_calls": [ACT]}
    messages = [{"role": "user", "content": "Play."}, asked, {"role": "tool", "name": "act", "content": "Turn 2."}]
    functions = [{"type": "function", "function": {"name": "act"}}]
    shown = TOKENIZER.apply_chat_template(messages, tools=functions, add_generation_prompt=True, tokenize=False)
    head, call, answer = shown.partition("<|user|>")[0], *shown.split("<|assistant|>")[1:]
    assert head.startswith('<|system|>Functions:\n{"type": "function", "function": {"name": "act"}}\nTo call one')
    assert call == (
        '<tool_call>{"name": "act", "arguments": {"answer": "Go \\"Up\\" \\\\ é"}}</tool_call><|im_end|><|user|>Turn 2.'
    )
    assert answer == ""
    said = {"function": {**ACT["function"], "arguments": json.dumps(ACT["function"]["arguments"], ensure_ascii=False)}}
    again = [messages[0], {**asked, "tool_calls": [said]}, messages[2]]  # arguments as a text, as endpoints send them
    assert TOKENIZER.apply_chat_template(again, tools=functions, add_generation_prompt=True, tokenize=False) == shown


@pytest.mark.parametrize("before", ["", "I go. "])
@pytest.mark.parametrize("end", ["<|im_end|>", ""])
def test_calls_are_found_again_in_an_answer(before, end):
    call = json.dumps(ACT["function"])
    prompt = TOKENIZER("<|user|>Play.<|assistant|>")["input_ids"]
    found = TOKENIZER.parse_response(
        TOKENIZER(f"{before}<tool_call>{call}</tool_call>{end}")["input_ids"], prefix=prompt
    )
    assert found["tool_calls"] == [ACT] and found.get("content", "").strip() == before.strip()
    plain = TOKENIZER.parse_response(TOKENIZER(f"{before}Up{end}")["input_ids"], prefix=prompt)
    assert plain["content"] == f"{before}Up" and not plain.get("tool_calls")


@pytest.mark.parametrize("given", [{"words": [""]}, {"words": ["a"], "phrases": [""]}])
def test_empty_words_and_phrases_are_refused(given):
    with pytest.raises(ConfigError, match="empty"):
        build_tokenizer(**given)
