"""Tools behind `serve-model`: shown by the chat template, called in the model's text, answered in the role `tool`."""

from __future__ import annotations

import json
import random

import openai
import pytest

from agentrl.models.loading import load_model
from agentrl.serve.model_server import ModelServer
from agentrl.serve.tool_calls import ToolText

MOVE = {
    "type": "function",
    "function": {
        "name": "move",
        "description": "Walk.",
        "parameters": {"type": "object", "properties": {"way": {"type": "string"}, "far": {"type": "integer"}}},
    },
}
CALL = {"name": "move", "arguments": {"way": "Up"}}
HI = [{"role": "user", "content": "hi"}]


@pytest.fixture(scope="module")
def server():
    with ModelServer(load_model("tiny-text", device="cpu"), name="tiny") as running:
        yield running


@pytest.fixture(scope="module")
def client(server):
    with openai.OpenAI(base_url=server.base_url, api_key="none", max_retries=0, timeout=60) as made:
        yield made


@pytest.fixture
def says(server):
    """Make the model write a text, token by token."""
    hooks = []

    def script(text):
        for hook in hooks:
            hook.remove()
        ids = [*server.loaded.encoder.text_ids(text), server.loaded.tokenizer.eos_token_id]
        asked = iter(ids)

        def force(model, arguments, found):
            found.logits[:, -1] = -1e4
            found.logits[:, -1, next(asked)] = 1e4
            return found

        hooks.append(server.loaded.model.register_forward_hook(force))
        return ids

    yield script
    for hook in hooks:
        hook.remove()


def ask(client, messages=HI, **options):
    given = {"max_tokens": 200, "temperature": 0, "tools": [MOVE], **options}
    return client.chat.completions.create(model="tiny", messages=messages, **given)


def joined(chunks):
    """(content, calls, finish reason, token ids) of a stream."""
    content, calls, reason, ids = "", {}, None, []
    for chunk in chunks:
        (choice,) = chunk.choices
        content, reason = content + (choice.delta.content or ""), choice.finish_reason or reason
        ids += getattr(choice, "token_ids", None) or []
        for call in choice.delta.tool_calls or []:
            assert call.id and call.type == "function"
            calls[call.index] = (call.function.name, json.loads(call.function.arguments))
    return content, [calls[index] for index in sorted(calls)], reason, ids


def written(*calls):
    return "".join(f"<tool_call>\n{json.dumps(call)}\n</tool_call>\n" for call in calls)


@pytest.mark.parametrize(
    ("text", "content", "calls"),
    [
        (written(CALL), "", [CALL]),
        ("I go. " + written(CALL, CALL | {"arguments": {}}), "I go. ", [CALL, CALL | {"arguments": {}}]),
        ("<tool_call>" + json.dumps(CALL), "", [CALL]),  # a stop string took the end
        (written(CALL) + " so", "so", [CALL]),
        ("Up <tool> <tool_ call>", "Up <tool> <tool_ call>", []),
        ("<tool_call>{not json}</tool_call>", "<tool_call>{not json}</tool_call>", []),
        ("<tool_call>" + "[" * 100_000, "<tool_call>" + "[" * 100_000, []),
        ('<tool_call>{"name": 3}</tool_call> ok', '<tool_call>{"name": 3}</tool_call> ok', []),
        (written(CALL) + "<tool_call>{</tool_call>", written(CALL) + "<tool_call>{</tool_call>", []),
    ],
)
def test_calls_are_read_from_text_and_malformed_ones_stay_text(text, content, calls):
    reader = ToolText()
    said = reader.take(text)
    rest, found = reader.end()
    made = [
        {"name": call["function"]["name"], "arguments": json.loads(call["function"]["arguments"])} for call in found
    ]
    assert (said + rest, made) == (content, calls) and len({call["id"] for call in found}) == len(calls)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("text", "content", "calls"),
    [("I go. " + written(CALL), "I go. ", [CALL]), ("<tool_call>{</tool_call>", "<tool_call>{</tool_call>", [])],
)
def test_answers_hold_the_calls_that_the_model_writes(client, says, text, content, calls, stream):
    ids = says(text)
    answer = ask(client, stream=stream, extra_body={"return_token_ids": True})
    if stream:
        said, made, reason, got = joined(answer)
    else:
        (choice,) = answer.choices
        said, reason, got = choice.message.content or "", choice.finish_reason, choice.token_ids
        made = [(call.function.name, json.loads(call.function.arguments)) for call in choice.message.tool_calls or []]
    assert (said, made) == (content, [(call["name"], call["arguments"]) for call in calls])
    assert reason == ("tool_calls" if calls else "stop") and got == ids


def test_without_tools_or_with_tool_choice_none_a_call_is_text(client, says):
    for options in ({"tools": openai.omit}, {"tool_choice": "none"}):
        says(written(CALL))
        answer = ask(client, **options).choices[0]
        assert answer.message.content == written(CALL) and answer.message.tool_calls is None


def test_a_conversation_with_calls_is_what_the_template_makes_of_it(server, client, says):
    says(written(CALL))
    first = ask(client).choices[0].message
    result = {"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": "You bump. <|im_end|>"}
    says("fine")
    answer = ask(client, [*HI, first, result], extra_body={"return_token_ids": True})
    called = {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": CALL}]}
    rendered = server.loaded.tokenizer.apply_chat_template(
        [*HI, called, result], tools=[MOVE], tokenize=False, add_generation_prompt=True
    )
    assert server.loaded.tokenizer.decode(answer.prompt_token_ids) == rendered
    ends = answer.prompt_token_ids.count(server.loaded.tokenizer.eos_token_id)
    assert ends == 1  # what a tool says ends no message


def test_texts_in_arguments_are_never_special_tokens(server):
    call = {"name": "move", "arguments": {"way": 'a "quoted"\n<|im_end|>', "more": ["<|user|>", {"x": 1}]}}
    conversation = [*HI, {"role": "assistant", "content": "", "tool_calls": [call]}]
    ids = server.loaded.encoder.encode(conversation, [MOVE]).ids
    template = [*HI, {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": call}]}]
    text = server.loaded.tokenizer.apply_chat_template(
        template, tools=[MOVE], tokenize=False, add_generation_prompt=True
    )
    assert server.loaded.tokenizer.decode(ids) == text
    assert ids.count(server.loaded.tokenizer.eos_token_id) == 1


@pytest.mark.parametrize(
    ("fields", "says_what"),
    [
        ({"tools": [{"type": "function", "function": {"name": "a b"}}]}, "name"),
        ({"tools": [{"type": "browser"}]}, "tools"),
        ({"tools": [{"type": "function", "function": {"name": "f", "description": "<|im_end|>"}}]}, "special tokens"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"messages": [{"role": "user", "content": "x", "tool_calls": [{"function": {"name": "f"}}]}]}, "assistant"),
        (
            {
                "messages": [
                    {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{"}}]},
                    *HI,
                ]
            },
            "must be JSON",
        ),
    ],
)
def test_wrong_tools_and_calls_are_refused_in_words(client, fields, says_what):
    with pytest.raises(openai.BadRequestError, match=says_what):
        ask(client, **fields)


@pytest.mark.parametrize("word", ["", "{# tool #}"])
def test_a_template_that_knows_no_tools_is_refused_in_words(word):
    engine = load_model("tiny-text", device="cpu")
    roles = "{% for message in messages %}<|user|>{{ message.content }}{% endfor %}"
    engine.tokenizer.chat_template = word + roles
    with (
        ModelServer(engine, name="tiny") as running,
        openai.OpenAI(base_url=running.base_url, api_key="none", max_retries=0) as client,
        pytest.raises(openai.BadRequestError, match="cannot call tools"),
    ):
        ask(client)


def test_text_in_pieces_gives_the_same_calls_as_the_whole_text():
    generator = random.Random(4)
    for _ in range(200):
        parts = ["so ", "<tool", "_call>", written(CALL), "<", "</tool_call>", "\n"]
        text = "".join(generator.choice(parts) for _ in range(generator.randrange(6)))
        found = []
        for size in (len(text) or 1, 1, 3):
            reader = ToolText()
            said = "".join(reader.take(text[start : start + size]) for start in range(0, len(text), size))
            rest, calls = reader.end()
            found.append((said + rest, [call["function"] for call in calls]))
        assert found[0] == found[1] == found[2]
