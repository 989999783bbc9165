"""DINOv2 from a folder in Hugging Face's format: small, random weights, the same code as for the real ones."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from similarity_pictures import blank, icon, ring, stripes
from transformers import AutoModel, BitImageProcessorPil

from agentrl.core.errors import ConfigError, JudgeFault, MissingExtra
from agentrl.core.judging import scorer_name
from agentrl.core.specs import resolve
from benchmarks.random_weights import write_dino

PREPARED = {
    "do_resize": True,
    "size": {"shortest_edge": 64},
    "do_center_crop": True,
    "crop_size": {"height": 56, "width": 56},
    "do_normalize": True,
    "do_rescale": True,
    "image_mean": [0.485, 0.456, 0.406],
    "image_std": [0.229, 0.224, 0.225],
    "resample": 3,
    "image_processor_type": "BitImageProcessor",
}


@pytest.fixture
def folder(tmp_path):
    write_dino(tmp_path)
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(PREPARED))
    return tmp_path


def spec(folder, **arguments) -> dict:
    return {"kind": "dino", "folder": str(folder), "threads": 1, **arguments}


def test_the_score_is_what_transformers_own_code_gives(folder):
    processor, model = BitImageProcessorPil.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    pictures = [icon(96), ring(70), stripes(128)[:, :90]]
    with torch.inference_mode():
        inputs = processor([*pictures], return_tensors="pt")
        first, *others = model(**inputs).last_hidden_state.mean(dim=1)
    expected = [(torch.cosine_similarity(first, other, dim=0).item() + 1) / 2 for other in others]
    scorer = resolve("scorer", spec(folder))
    assert scorer.score_pairs([(pictures[0], other) for other in pictures[1:]]) == pytest.approx(expected, abs=1e-5)
    assert scorer_name(scorer) == "dino" and min(expected) < 0.999


def test_scores_are_raw_symmetric_and_one_for_equal_pictures(folder):
    scorer = resolve("scorer", spec(folder))
    there, back, equal, nothing = scorer.score_pairs(
        [(icon(96), ring(96)), (ring(96), icon(96)), (icon(96), icon(96)), (icon(96), blank(96))]
    )
    assert there == pytest.approx(back, abs=1e-6) and equal == pytest.approx(1, abs=1e-6)
    assert 0 < nothing < 1  # a blank drawing is not 0 here


def test_batches_and_the_cache_change_nothing(folder):
    pairs = [(a, b) for a in (icon(60), ring(60)) for b in (stripes(60), blank(60), icon(60))]
    scores = resolve("scorer", spec(folder, batch_size=4)).score_pairs(pairs)
    forgetful = resolve("scorer", spec(folder, batch_size=1, cache_mb=0))
    assert scores == pytest.approx(forgetful.score_pairs(pairs), abs=1e-5)


def test_without_a_preprocessor_config_the_published_preparation_is_used(folder):
    (folder / "preprocessor_config.json").unlink()
    scorer = resolve("scorer", spec(folder))
    assert (scorer.preparation.resize, scorer.preparation.crop) == (256, (224, 224))
    frame = icon(256)
    frame[:16] = frame[-16:] = frame[:, :16] = frame[:, -16:] = 0  # all of it in the margin that is cut off
    assert scorer.score_pairs([(icon(256), frame)]) == pytest.approx([1.0], abs=1e-6)


def test_the_spec_builds_it_again(folder):
    scorer = resolve("scorer", spec(folder, batch_size=5))
    again = resolve("scorer", json.loads(json.dumps(scorer.to_json())))
    assert again.to_json() == scorer.to_json() and again.batch_size == 5


def test_what_is_missing_is_said_with_where_to_get_it(folder, tmp_path):
    for missing in ("model.safetensors", "config.json"):
        (folder / missing).unlink()
        with pytest.raises(ConfigError, match=rf"{missing}.*huggingface\.co") as caught:
            resolve("scorer", spec(folder))
        assert str(folder) in str(caught.value)
    with pytest.raises(ConfigError, match=r"does not exist; get config\.json"):
        resolve("scorer", spec(tmp_path / "nowhere"))
    for wrong in ("", None, 3):
        with pytest.raises(ConfigError, match="folder must be"):
            resolve("scorer", {"kind": "dino", "folder": wrong})
    with pytest.raises(ConfigError, match="needs folder"):
        resolve("scorer", "dino")


def test_another_model_is_not_called_dino(folder):
    settings = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(settings | {"model_type": "vit"}))
    with pytest.raises(ConfigError, match="'vit', not dinov2"):
        resolve("scorer", spec(folder))
    (folder / "config.json").write_text("{")
    with pytest.raises(ConfigError, match="cannot be read"):
        resolve("scorer", spec(folder))


@pytest.mark.filterwarnings("ignore:.*:UserWarning")
def test_weights_that_are_missing_are_not_made_up(folder):
    tensors = load_file(folder / "model.safetensors")
    lost = "encoder.layer.1.mlp.fc1.weight"
    assert lost in tensors
    save_file({k: v for k, v in tensors.items() if k != lost}, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ConfigError, match=lost):
        resolve("scorer", spec(folder))


def test_damaged_weights_are_the_users_to_replace(folder):
    (folder / "model.safetensors").write_bytes(b"\x00" * 64)
    with pytest.raises(ConfigError, match="cannot be loaded"):
        resolve("scorer", spec(folder))


def test_code_in_the_folder_is_never_run(folder):
    settings = json.loads((folder / "config.json").read_text())
    settings["auto_map"] = {"AutoModel": "evil.Model", "AutoConfig": "evil.Config"}
    (folder / "config.json").write_text(json.dumps(settings))
    (folder / "evil.py").write_text(f"open({str(folder / 'ran')!r}, 'w')\n")
    assert resolve("scorer", spec(folder)).score_pairs([(icon(64), icon(64))]) == pytest.approx([1.0])
    assert not (folder / "ran").exists()


@pytest.mark.parametrize(
    "change",
    [
        {"do_resize": False},
        {"size": {}},
        {"crop_size": {"height": 80, "width": 80}},
        {"do_center_crop": False},
        {"image_std": [0, 1, 1]},
        {"image_mean": [1]},
        {"resample": 77},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_preparation_that_cannot_be_followed_is_refused(folder, change):
    (folder / "preprocessor_config.json").write_text(json.dumps(PREPARED | change))
    with pytest.raises(ConfigError, match=r"preprocessor_config\.json"):
        resolve("scorer", spec(folder))


def test_infinite_weights_are_a_fault_and_no_score(folder):
    scorer = resolve("scorer", spec(folder))
    next(iter(scorer.model.parameters())).data.fill_(float("inf"))
    with pytest.raises(JudgeFault, match="dino"):
        scorer.score_pairs([(icon(64), np.zeros((64, 64, 3), np.uint8))])


def test_without_transformers_the_missing_extra_is_named(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtra, match=r"transformers is not installed.*agentrl-suite\[similarity\]"):
        resolve("scorer", spec(folder))
