"""Built-in models: made offline, the same every time, whole or not there."""

from __future__ import annotations

import hashlib
import json
import os
import shutil

import numpy as np
import pytest
from transformers import AutoModelForCausalLM, AutoModelForImageTextToText, AutoTokenizer

import agentrl  # noqa: F401 (registers the environments)
from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.models import BUILT_IN, resolve_model, smollm2
from agentrl.models.loading import HASHES, cached_folder
from agentrl.models.tokenizer import TEXT_SPECIALS, VISION_SPECIALS, tiny_tokenizer


@pytest.mark.parametrize(
    ("name", "kind"), [("tiny-text", AutoModelForCausalLM), ("tiny-vlm", AutoModelForImageTextToText)]
)
def test_tiny_models_are_ordinary_folders_of_about_a_million_parameters(name, kind):
    folder = resolve_model(name)
    model, tokenizer = kind.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    assert 300_000 < sum(weight.numel() for weight in model.parameters()) < 2_000_000
    assert len(tokenizer) == model.config.get_text_config().vocab_size
    wanted = tiny_tokenizer(VISION_SPECIALS if name == "tiny-vlm" else TEXT_SPECIALS)
    assert tokenizer("Turn 1 of 3.\n_OG é")["input_ids"] == wanted("Turn 1 of 3.\n_OG é")["input_ids"]
    assert tokenizer.chat_template == wanted.chat_template


@pytest.mark.parametrize("name", ["tiny-text", "tiny-vlm"])
def test_built_twice_every_file_is_the_same_to_the_bit(name, tmp_path, monkeypatch):
    found = []
    for place in ("first", "second"):
        monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path / place))
        folder = resolve_model(name)
        found.append({path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()})
    assert found[0] == found[1]
    assert "model.safetensors" in found[0]


def test_building_leaves_the_random_state_alone(tmp_path, monkeypatch):
    import torch

    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path))
    before = torch.random.get_rng_state()
    resolve_model("tiny-text")
    assert torch.equal(before, torch.random.get_rng_state())


def test_a_damaged_folder_is_built_again(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path))
    built = []

    def build(folder):
        built.append(folder)
        (folder / "weights").write_text("good")

    folder = cached_folder("m", build)
    assert cached_folder("m", build) == folder and len(built) == 1
    for damage in (
        lambda: (folder / "weights").write_text("bad"),
        lambda: (folder / "weights").unlink(),
        lambda: (folder / HASHES).write_text("{"),
        lambda: (folder / HASHES).unlink(),
    ):
        damage()
        assert (cached_folder("m", build) / "weights").read_text() == "good"
    assert len(built) == 5
    assert "damaged" in caplog.text
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["m"]


def test_a_build_that_fails_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path))

    def build(folder):
        (folder / "half").write_text("x")
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        cached_folder("m", build)
    assert list((tmp_path / "models").iterdir()) == []


def test_a_cache_that_cannot_be_written_says_which_variable_to_set(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path / "file"))
    with pytest.raises(ConfigError, match="AGENTRL_CACHE"):
        cached_folder("m", lambda folder: None)


# ---------------------------------------------------------------------- names and folders that do not work


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("tiny-txt", 'Did you mean "tiny-text"'),
        ("/nowhere/at/all", "unknown model"),
        ("a\0b", "unknown model"),
        ("", "model must be a folder"),
        (None, "model must be a folder"),
        (7, "model must be a folder"),
    ],
)
def test_a_name_that_is_no_model_is_refused(name, says):
    with pytest.raises(ConfigError, match=says):
        resolve_model(name)


def test_a_folder_that_is_no_model_says_what_is_missing(tmp_path):
    for file, says in (
        ("config.json", "no config.json"),
        ("x.safetensors", "safetensors"),
        ("tokenizer.json", "no tokenizer"),
    ):
        with pytest.raises(ConfigError, match=says):
            resolve_model(tmp_path)
        (tmp_path / file).write_text("{}")
    assert resolve_model(tmp_path) == tmp_path
    assert resolve_model(str(tmp_path)) == tmp_path


def test_smollm2_without_its_package_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path))
    monkeypatch.setattr(smollm2.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"agentrl-suite\[smollm2\]"):
        resolve_model("smollm2")
    assert set(BUILT_IN) == {"tiny-text", "tiny-web", "tiny-words", "tiny-vlm", "tiny-vla", "small-vla", "smollm2"}


def test_packed_names_become_hugging_face_names():
    assert smollm2.hf_name("token_embd.weight") == "model.embed_tokens.weight"
    assert smollm2.hf_name("blk.7.ffn_gate.weight") == "model.layers.7.mlp.gate_proj.weight"
    with pytest.raises(ConfigError, match=r"blk\.0\.attn_sinks\.weight"):
        smollm2.hf_name("blk.0.attn_sinks.weight")


def test_rows_of_queries_and_keys_are_taken_apart_again():
    # Two heads of four rows; packing stores rows 0 2 1 3 of each head.
    wanted = np.arange(8)[:, None] * np.ones((1, 3))
    packed = wanted[[0, 2, 1, 3, 4, 6, 5, 7]]
    assert (smollm2._rows(packed, "blk.0.attn_q.weight", 2, 1) == wanted).all()
    assert (smollm2._rows(packed, "blk.0.attn_v.weight", 2, 1) == packed).all()
    one_head = wanted[[0, 4, 1, 5, 2, 6, 3, 7]]
    assert (smollm2._rows(one_head, "blk.0.attn_k.weight", 2, 1) == wanted).all()


def test_the_manifest_names_every_file():
    folder = resolve_model("tiny-text")
    named = json.loads((folder / HASHES).read_text())
    assert set(named) == {path.name for path in folder.iterdir()} - {HASHES}


def test_a_pipe_in_a_model_folder_is_refused_at_once(tmp_path):
    folder = shutil.copytree(resolve_model("tiny-text"), tmp_path / "model")
    os.mkfifo(folder / "chat_template.jinja.new")
    with pytest.raises(ConfigError, match=r"regular files; .*chat_template\.jinja\.new is not one"):
        resolve_model(folder)
