"""What an endpoint sent back, decoded strictly. Nothing that does not fit exactly becomes an answer."""

from __future__ import annotations

import json
import math
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from agentrl.core.completion import Completion, Malformed

Fitted = TypeVar("Fitted")


class VerdictReply(msgspec.Struct, forbid_unknown_fields=True):
    """The whole message under the protocol "verdict"."""

    code: str
    reasoning: str
    verdict: Literal["YES", "NO"]


class ClaimedRelation(msgspec.Struct, forbid_unknown_fields=True):
    """One relation found in a text, seen from the origin."""

    object: Annotated[str, msgspec.Meta(min_length=1, max_length=40)]
    vertical: Literal["above", "below", "same", "none"]
    horizontal: Literal["left", "right", "same", "none"]


class RelationsReply(msgspec.Struct, forbid_unknown_fields=True):
    """The whole message under the protocol "extract"."""

    code: str
    relations: Annotated[list[ClaimedRelation], msgspec.Meta(max_length=64)]


def read_object(text: str, shape: type[Fitted], code: str) -> Fitted:
    """The message as exactly one JSON object of that shape that repeats the secret code of this call.

    The code is what makes a verdict the model's own: text of the policy cannot contain it, so a model that is talked
    into copying a ready-made reply copies one that does not count. Two objects, text around the object and repeated
    keys are refused: there is no "last verdict" to win.
    """
    try:
        found = msgspec.convert(json.loads(_bare(text), object_pairs_hook=_once), shape)
    except (ValueError, RecursionError) as error:  # JSON and schema errors are ValueErrors
        raise Malformed(f"not the object asked for: {error}") from None
    if found.code != code:  # type: ignore[attr-defined]
        raise Malformed("the code of this call is missing or wrong")
    return found


def _bare(text: str) -> str:
    """Without one leading block of thoughts and one code fence around everything that is left."""
    text = text.strip()
    if text.startswith("<think>"):
        text = text.partition("</think>")[2].strip()
    if text.startswith("```") and text.endswith("```"):
        text = text[3:-3].removeprefix("json").strip()
    return text


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Malformed("a key stands twice in one object")
    return found


def yes_chance(completion: Completion, least_mass: float = 0.01) -> tuple[float, float]:
    """(probability of YES among YES and NO, probability of either) of the first token of the answer.

    Spellings count together ("YES", " Yes", "yes"). A word that is not listed is given the most it could have: the
    chance of the least likely token listed, or what the list leaves over if that is less. A model that spells words in
    pieces answers with the first: "Y" counts for YES and "N" for NO. Neither word, or both together
    rarer than `least_mass`: the model was not answering the question.
    """
    chances = _first_token(completion)
    mass = {word: _mass(chances, word) for word in ("yes", "no")}
    listed = mass["yes"] + mass["no"]
    if listed < least_mass:
        raise Malformed("neither YES nor NO among the likely first tokens")
    unlisted = min(min(chances.values()), max(0.0, 1.0 - math.fsum(chances.values())))
    yes, no = (part or unlisted for part in mass.values())
    return yes / (yes + no), min(1.0, listed)


def _mass(chances: dict[str, float], word: str) -> float:
    """The probability of a word in all its spellings, and of its first letter."""
    return math.fsum(chance for token, chance in chances.items() if token.strip().casefold() in (word, word[0]))


def _first_token(completion: Completion) -> dict[str, float]:
    """Token -> probability at the first place of the answer."""
    logprobs = completion.choice.logprobs
    if logprobs is None or not logprobs.content:
        raise Malformed("no log-probabilities")
    first = logprobs.content[0]
    chances = {each.token: each.logprob for each in [first, *first.top_logprobs]}
    if any(not math.isfinite(value) or value > 1e-3 for value in chances.values()):
        raise Malformed("a log-probability above zero")
    return {token: math.exp(min(0.0, value)) for token, value in chances.items()}
