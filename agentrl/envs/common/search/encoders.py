"""Texts to vectors with numpy alone: word vectors that are averaged, or a BERT, from a folder of Hugging Face's layout.

A folder holds `tokenizer.json` and `model.safetensors`. With one matrix in it the model is static (Model2Vec and its
like: a text is the mean of its tokens' vectors); with BERT's names it is an encoder such as all-MiniLM or BGE, whose
`1_Pooling/config.json` says whether the first token or the mean stands for the text.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.core.files import sha256_of

PACKAGE = "wordllama"
MAX_TOKENS = 512
AT_ONCE = 32  # texts of one batch
TINY = 1e-9


class Encoder(Protocol):
    """Vectors of length 1 for texts."""

    digest: str  # changes with the model

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """float32 [texts, dimensions]."""
        ...


def load_encoder(name: str | os.PathLike[str]) -> Encoder:
    """The model of the package `wordllama`, or of a folder."""
    try:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer
    except ImportError as error:
        raise MissingExtra(error.name or "tokenizers", "embeddings") from error
    weights, words = _wordllama_files() if name == PACKAGE else _folder_files(Path(name))
    try:
        tensors, tokenizer = load_file(weights), Tokenizer.from_str(words.read_text("utf-8"))
    except Exception as error:  # tokenizers raises nothing more special
        raise ConfigError(f"the model in {weights.parent} cannot be read: {str(error)[:200]}") from None
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    digest = f"{sha256_of(weights)[:16]}{sha256_of(words)[:8]}"
    if len(tensors) == 1:
        return StaticEncoder(tokenizer, next(iter(tensors.values())), digest)
    return BertEncoder(tokenizer, tensors, weights.parent, digest)


def _folder_files(folder: Path) -> tuple[Path, Path]:
    weights, words = folder / "model.safetensors", folder / "tokenizer.json"
    for path in (weights, words):
        if not path.is_file():
            raise ConfigError(
                f"embedder must be {PACKAGE!r} or a folder with model.safetensors and tokenizer.json; {path} is missing"
            )
    return weights, words


def _wordllama_files() -> tuple[Path, Path]:
    """Only the files of the package are used: importing it would bring a library for HTTP with it."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise MissingExtra(PACKAGE, "embeddings")
    folder = Path(found.origin).parent
    return (
        folder / "weights" / "l2_supercat_256.safetensors",
        folder / "tokenizers" / "l2_supercat_tokenizer_config.json",
    )


class StaticEncoder:
    """The mean of the tokens' vectors."""

    def __init__(self, tokenizer: Any, table: np.ndarray, digest: str) -> None:
        if table.ndim != 2 or table.dtype.kind != "f":
            raise ConfigError(f"a static model must hold one matrix of floats; got {table.dtype} {list(table.shape)}")
        self._tokenizer, self._table, self.digest = tokenizer, table, digest

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Their vectors."""
        found = np.zeros((len(texts), self._table.shape[1]), np.float32)
        for place, text in enumerate(self._tokenizer.encode_batch(list(texts), add_special_tokens=False)):
            if ids := [each for each in text.ids if each < len(self._table)]:
                found[place] = self._table[ids].astype(np.float32).mean(axis=0)
        return unit(found)


class BertEncoder:
    """BERT's encoder, for models that were trained for retrieval."""

    def __init__(self, tokenizer: Any, tensors: dict[str, np.ndarray], folder: Path, digest: str) -> None:
        self._tokenizer, self.digest = tokenizer, digest
        self._w = {
            name.removeprefix("bert."): value.astype(np.float32)
            for name, value in tensors.items()
            if value.dtype.kind == "f"
        }
        try:
            config = json.loads((folder / "config.json").read_text("utf-8"))
            self._heads, self._eps = int(config["num_attention_heads"]), float(config.get("layer_norm_eps", 1e-12))
            self._layers = int(config["num_hidden_layers"])
            self._tokenizer.enable_truncation(min(MAX_TOKENS, len(self._w["embeddings.position_embeddings.weight"])))
            pooling = folder / "1_Pooling" / "config.json"
            chosen = json.loads(pooling.read_text("utf-8")) if pooling.is_file() else {}
            self._first = bool(chosen.get("pooling_mode_cls_token", False))
            self.encode(["all weights are there"])
        except (OSError, ValueError, KeyError) as error:
            raise ConfigError(f"the model in {folder} is no BERT encoder: {str(error)[:200]}") from None

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Their vectors; texts of like length are worked out together."""
        tokens = [each.ids for each in self._tokenizer.encode_batch(list(texts))]
        order = sorted(range(len(tokens)), key=lambda place: len(tokens[place]))
        found = np.zeros((len(texts), self._w["embeddings.word_embeddings.weight"].shape[1]), np.float32)
        for start in range(0, len(order), AT_ONCE):
            places = order[start : start + AT_ONCE]
            longest = len(tokens[places[-1]])
            ids = np.array([tokens[place] + [0] * (longest - len(tokens[place])) for place in places])
            mask = np.array([[1.0] * len(tokens[p]) + [0.0] * (longest - len(tokens[p])) for p in places], np.float32)
            states = self._states(ids, mask)
            weights = mask / np.maximum(mask.sum(axis=1, keepdims=True), TINY)
            found[places] = states[:, 0] if self._first else np.einsum("bt,btd->bd", weights, states)
        return unit(found)

    def _states(self, ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
        w, count = self._w, ids.shape[1]
        x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][:count]
        x = self._norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        hidden = np.where(mask[:, None, None, :] > 0, 0.0, -1e9).astype(np.float32)
        for layer in range(self._layers):
            name = f"encoder.layer.{layer}"
            q, k, v = (
                self._split(self._linear(x, f"{name}.attention.self.{part}")) for part in ("query", "key", "value")
            )
            scores = q @ k.transpose(0, 1, 3, 2) / math.sqrt(q.shape[-1]) + hidden
            scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
            heard = (scores / scores.sum(axis=-1, keepdims=True)) @ v
            heard = heard.transpose(0, 2, 1, 3).reshape(x.shape)
            x = self._norm(
                x + self._linear(heard, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm"
            )
            inner = _gelu(self._linear(x, f"{name}.intermediate.dense"))
            x = self._norm(x + self._linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")
        return x

    def _linear(self, x: np.ndarray, name: str) -> np.ndarray:
        return x @ self._w[f"{name}.weight"].T + self._w[f"{name}.bias"]

    def _norm(self, x: np.ndarray, name: str) -> np.ndarray:
        x = x - x.mean(axis=-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + self._eps)
        return x * self._w[f"{name}.weight"] + self._w[f"{name}.bias"]

    def _split(self, x: np.ndarray) -> np.ndarray:
        return x.reshape(*x.shape[:2], self._heads, -1).transpose(0, 2, 1, 3)


def _gelu(x: np.ndarray) -> np.ndarray:
    """x times the normal distribution function, whose error function is Abramowitz and Stegun's 7.1.26 (1.5e-7)."""
    z = np.abs(x) / math.sqrt(2)
    t = 1 / (1 + 0.3275911 * z)
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return 0.5 * x * (1 + np.sign(x) * (1 - series * np.exp(-z * z)))


def unit(vectors: np.ndarray) -> np.ndarray:
    """The same directions with length 1; what has no direction stays zero."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), TINY)
