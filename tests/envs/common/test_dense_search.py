"""Search by embeddings: static models and BERT on numpy, nearest documents, rankings joined by reciprocal rank."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.envs.common.search.dense import DenseIndex, fused
from agentrl.envs.common.search.encoders import load_encoder, unit

safetensors = pytest.importorskip("safetensors.numpy")
tokenizers = pytest.importorskip("tokenizers")
WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "river", "town", "novel", "author", "flows", "wrote", "the")
TEXTS = ("the river flows", "the author wrote the novel", "river town river town river town", "nothing known", "")


def model_folder(folder: Path, tensors: dict[str, np.ndarray]) -> Path:
    """A model with a vocabulary of eleven words."""
    folder.mkdir(exist_ok=True)
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({w: n for n, w in enumerate(WORDS)}, "[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    safetensors.save_file(tensors, folder / "model.safetensors")
    return folder


def table(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(len(WORDS), 8)).astype(np.float32)


def test_a_static_model_takes_the_mean_of_the_words(tmp_path: Path) -> None:
    vectors = table()
    encoder = load_encoder(model_folder(tmp_path / "m", {"embedding.weight": vectors.astype(np.float16)}))
    found = encoder.encode(TEXTS)
    expected = unit(vectors[[10, 4, 8]].astype(np.float16).astype(np.float32).mean(axis=0, keepdims=True))[0]
    assert np.allclose(found[0], expected, atol=1e-6) and found.dtype == np.float32
    assert np.allclose(np.linalg.norm(found[:4], axis=1), 1) and not found[4].any()


@pytest.mark.parametrize("first", [True, False])
def test_bert_on_numpy_equals_transformers(tmp_path: Path, first: bool) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 24}
    config = transformers.BertConfig(vocab_size=len(WORDS), max_position_embeddings=32, **sizes)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = transformers.BertModel(config, add_pooling_layer=False).eval()
        for parameter in model.parameters():
            parameter.data += 0.3 * torch.randn_like(parameter)
    folder = model_folder(tmp_path / "m", {name: value.numpy() for name, value in model.state_dict().items()})
    (folder / "config.json").write_text(json.dumps(config.to_dict()))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": first}))
    encoder = load_encoder(folder)
    found = encoder.encode(TEXTS)
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    for text, vector in zip(TEXTS, found, strict=True):
        with torch.no_grad():
            states = model(torch.tensor([tokenizer.encode(text).ids])).last_hidden_state[0].numpy()
        expected = states[0] if first else states.mean(axis=0)
        assert np.allclose(vector, unit(expected[None])[0], atol=2e-6)
    assert np.isfinite(encoder.encode(["river " * 500])).all()  # longer than the model's positions


def test_the_nearest_documents_come_first_and_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path / "cache"))
    encoder = load_encoder(model_folder(tmp_path / "m", {"t": table()}))
    texts = ["novel author", "river", "town river", *["the"] * 600]
    index = DenseIndex("test/vectors", encoder, lambda: texts)
    assert index.search("river", 2)[0] == 1 and len(index) == 603
    assert index.search("the", 3) == [3, 4, 5] and len(index.search("novel", 1000)) == 603

    def fail() -> Sequence[str]:
        raise AssertionError("the vectors are in the cache")

    assert DenseIndex("test/vectors", encoder, fail).search("river", 1) == [1]


def test_rankings_are_joined_by_reciprocal_rank() -> None:
    assert fused([[1, 2, 3], [3, 4]]) == [3, 1, 2, 4]
    assert fused([[5], []]) == [5] and fused([]) == []
    assert fused([[1, 2], [2, 1]]) == [1, 2]


def test_what_is_no_model_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"model\.safetensors is missing"):
        load_encoder(tmp_path)
    with pytest.raises(ConfigError, match="one matrix of floats"):
        load_encoder(model_folder(tmp_path / "a", {"x": np.zeros((3, 3), np.int64)}))
    two = {"x": table(), "y": table()}
    folder = model_folder(tmp_path / "b", two)
    (folder / "config.json").write_text('{"num_attention_heads": 4, "num_hidden_layers": 1}')
    with pytest.raises(ConfigError, match="is no BERT encoder"):
        load_encoder(folder)
    (folder / "model.safetensors").write_bytes(b"broken")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_encoder(folder)


def test_wordllama_is_read_from_its_package_without_importing_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="wordllama"):
        load_encoder("wordllama")
    package = tmp_path / "wordllama"
    folder = model_folder(package, {"t": table()})
    for name, file in (("weights", "l2_supercat_256.safetensors"), ("tokenizers", "l2_supercat_tokenizer_config.json")):
        (package / name).mkdir()
        source = folder / ("model.safetensors" if name == "weights" else "tokenizer.json")
        source.rename(package / name / file)
    found = SimpleNamespace(origin=str(package / "__init__.py"))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: found)
    assert load_encoder("wordllama").encode(["river"]).shape == (1, 8)
    assert not isinstance(sys.modules.get("wordllama"), ModuleType)
