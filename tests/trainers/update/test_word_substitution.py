"""Demonstrations with other words stay consistent, and leave all that is no word alone."""

from __future__ import annotations

import torch

from agentrl.models.tokenizer import build_tokenizer
from agentrl.trainers.algorithms.sft import SFT, train
from agentrl.trainers.update.batch import Row
from agentrl.trainers.update.word_substitution import WordSubstituter, substitute_words

NAMES = ["Orchard", "Coffee", "House", "Lantern", "Little", "Dove", "thai", "greek", "07", "41", "99"]
TOKENIZER = build_tokenizer(NAMES, phrases=["Find ", "type [6] [", "] [1]"])


def row(prompt: str, reply: str) -> Row:
    ids, said = TOKENIZER(prompt).input_ids, TOKENIZER(reply).input_ids
    made = Row(0, list(ids))
    made.add(len(ids), said, [0.0] * len(said), 0, acted=True)
    made.ids += said
    return made


def text(of: Row) -> tuple[str, str]:
    start = of.targets[0]
    return TOKENIZER.decode(of.ids[:start]), TOKENIZER.decode(of.ids[start:])


def test_prompt_and_reply_get_the_same_other_words():
    substituter, rng = WordSubstituter(TOKENIZER), torch.Generator().manual_seed(1)
    given = row("Find Orchard Coffee: House Orchard, thai 41", "type [6] [Orchard Coffee] [1]")
    seen = set()
    for _ in range(20):
        prompt, reply = text(substituter.substitute(given, rng))
        first, second = prompt.removeprefix("Find ").partition(":")[0].split(" ")
        assert {first, second} <= set(NAMES[:6]) and first != second
        assert reply == f"type [6] [{first} {second}] [1]"  # the phrases are as they were
        assert f" {first}, " in prompt and prompt.split()[-2] in ("thai", "greek") and prompt.split()[-1] in NAMES[-3:]
        seen.add(first)
    assert len(seen) > 2


def test_spelled_words_and_the_share_of_sequences():
    substituter, rng = WordSubstituter(TOKENIZER), torch.Generator().manual_seed(1)
    unknown = row("Find Xylophone & Co", "type [6] [Xylophone] [1]")
    assert substituter.substitute(unknown, rng).ids == unknown.ids  # what is spelled in bytes is no word
    rows = [row("Find Orchard", "type [6] [Orchard] [1]")] * 400
    changed = sum(one.ids != rows[0].ids for one in substitute_words(rows, 0.5, substituter, rng))
    assert 120 < changed < 220  # half, of which a sixth draws the same name
    assert substitute_words(rows, 0.0, substituter, rng) == rows


def test_the_trainer_renames_anew_in_every_batch_and_the_same_in_every_run(tmp_path, monkeypatch):
    seen: list[list[list[int]]] = [[], []]
    substitute = WordSubstituter.substitute
    for number, names in enumerate(seen):

        def remembered(self, row, rng, names=names):
            changed = substitute(self, row, rng)
            names.append(changed.ids)
            return changed

        monkeypatch.setattr(WordSubstituter, "substitute", remembered)
        settings = {
            "iterations": 1,
            "steps_per_iteration": 2,
            "batch_size": 2,
            "demonstrations": 2,
            "word_substitution": 1.0,
        }
        quiet = {"report": False, "threads": 1, "device": "cpu", "max_new_tokens": 4}
        train(SFT(**settings, **quiet, output=str(tmp_path / str(number))), lambda line: None)
    assert len(seen[0]) == 4 and seen[0] == seen[1]
