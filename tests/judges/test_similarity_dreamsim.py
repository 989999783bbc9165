"""DreamSim from a folder of its published files: small, random weights, the same code as for the real ones."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from peft import LoraConfig, get_peft_model
from peft.utils import set_peft_model_state_dict
from safetensors.torch import load_file, save_file
from similarity_pictures import blank, icon, ring, stripes
from torch import nn
from transformers import CLIPVisionConfig, CLIPVisionModelWithProjection, Dinov2Config, Dinov2Model

from agentrl.core.errors import ConfigError, JudgeFault
from agentrl.core.judging import scorer_name
from agentrl.core.specs import resolve
from agentrl.judges.similarity.dreamsim import VisionTransformer, load_backbone, merge_adapter
from agentrl.judges.similarity.dreamsim_files import VARIANTS, find_files
from benchmarks.random_weights import Sizes, write_dreamsim

PAIRS = [(icon(96), ring(96)), (icon(96), blank(96)), (stripes(120)[:, :80], icon(50))]
# Distances that the code of dreamsim 0.2.1 itself gives, with peft and on these very files (seed 3, twelve layers):
# between the icon of 180 pixels and itself moved by 6, itself with a green disc, and blank paper.
GOLDEN = {
    "clip_vitb32": (0.0160218, 0.0566379, 0.0584729),
    "open_clip_vitb32": (0.0171381, 0.0574262, 0.0584864),
    "synclr_vitb16": (0.0059405, 0.1319630, 0.1307372),
    "dino_vitb16": (0.0059405, 0.1319630, 0.1307372),
    "dino_vitb16_patch": (0.0045546, 0.0959933, 0.0861511),
    "ensemble": (0.0038800, 0.0823163, 0.0541106),
}


def spec(folder, variant: str = "ensemble", **arguments) -> dict:
    return {"kind": "dreamsim", "folder": str(folder), "variant": variant, "threads": 1, **arguments}


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_published_model_loads_and_scores(variant, tmp_path):
    scorer = resolve("scorer", spec(write_dreamsim(tmp_path, variant), variant))
    scores = scorer.score_pairs([*PAIRS, (icon(96), icon(96))])
    assert scores[-1] == pytest.approx(1, abs=1e-6) and all(0 <= score < 1 for score in scores[:-1])
    assert scorer_name(scorer) == ("dreamsim" if variant == "ensemble" else f"dreamsim_{variant}")
    back = scorer.score_pairs([(b, a) for a, b in PAIRS])
    assert back == pytest.approx(scores[:-1], abs=1e-5)


def test_the_ensemble_is_none_of_its_parts(tmp_path):
    write_dreamsim(tmp_path, "ensemble")
    both = resolve("scorer", spec(tmp_path))
    write_dreamsim(tmp_path, "dino_vitb16")
    single = resolve("scorer", spec(tmp_path, "dino_vitb16"))
    assert both.score_pairs(PAIRS) != pytest.approx(single.score_pairs(PAIRS), abs=1e-4)


def test_batches_and_the_cache_change_nothing(tmp_path):
    write_dreamsim(tmp_path, "open_clip_vitb32")
    scores = resolve("scorer", spec(tmp_path, "open_clip_vitb32")).score_pairs(PAIRS * 2)
    forgetful = resolve("scorer", spec(tmp_path, "open_clip_vitb32", batch_size=1, cache_mb=0))
    assert scores == pytest.approx(forgetful.score_pairs(PAIRS * 2), abs=1e-5)


def test_the_spec_builds_it_again(tmp_path):
    scorer = resolve("scorer", spec(write_dreamsim(tmp_path, "clip_vitb32"), "clip_vitb32", batch_size=3))
    again = resolve("scorer", json.loads(json.dumps(scorer.to_json())))
    assert again.to_json() == scorer.to_json() and again.score_pairs(PAIRS) == scorer.score_pairs(PAIRS)


# ---------------------------------------------------------------------- against other implementations


@pytest.mark.parametrize("variant", GOLDEN)
def test_distances_are_those_of_the_published_package(variant, tmp_path):
    folder = write_dreamsim(tmp_path, variant, Sizes(depth=12), seed=3)
    drawings = [icon(180, right=6), icon(180, ink=(10, 200, 30)), blank(180)]
    scores = resolve("scorer", spec(folder, variant)).score_pairs([(icon(180), drawing) for drawing in drawings])
    assert [1 - score for score in scores] == pytest.approx(GOLDEN[variant], abs=2e-5)


def filled(model: nn.Module, seed: int = 0) -> nn.Module:
    """Random numbers everywhere, so that no mistake hides behind zeros and ones."""
    chance = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        parameter.data = torch.randn(parameter.shape, generator=chance) * 0.15 + 0.1
    return model.eval().requires_grad_(False)


def renamed(state: dict, layers: int, pairs: dict[str, str], inside: str) -> dict:
    """A state dict of transformers with the names of the published checkpoints."""
    result = {ours: state[theirs] for theirs, ours in pairs.items() if "{}" not in theirs}
    for layer in range(layers):
        for theirs, ours in pairs.items():
            if "{}" in theirs:
                result[f"blocks.{layer}.{ours}"] = state[theirs.format(layer)]
        for part in ("weight", "bias"):
            heads = [state[inside.format(layer, name, part)] for name in ("q", "k", "v")]
            result[f"blocks.{layer}.attn.qkv.{part}"] = torch.cat(heads)
    return result


def both_parts(theirs: str, ours: str) -> dict[str, str]:
    return {f"{theirs}.{part}": f"{ours}.{part}" for part in ("weight", "bias")}


def test_the_dinov2_transformer_is_transformers_own(tmp_path):
    sizes = {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2, "mlp_ratio": 2}
    theirs = filled(Dinov2Model(Dinov2Config(**sizes, image_size=56, patch_size=14)))
    theirs.save_pretrained(tmp_path)
    state = load_file(tmp_path / "model.safetensors")
    for layer in range(2):
        for short, long in (("q", "query"), ("k", "key"), ("v", "value")):
            for part in ("weight", "bias"):
                state[f"{layer}.{short}.{part}"] = state[f"encoder.layer.{layer}.attention.attention.{long}.{part}"]
    names = {"embeddings.cls_token": "cls_token", "embeddings.position_embeddings": "pos_embed"}
    names |= both_parts("embeddings.patch_embeddings.projection", "patch_embed.proj") | both_parts("layernorm", "norm")
    for theirs_name, ours_name in {
        "norm1": "norm1",
        "norm2": "norm2",
        "attention.output.dense": "attn.proj",
        "mlp.fc1": "mlp.fc1",
        "mlp.fc2": "mlp.fc2",
    }.items():
        names |= both_parts("encoder.layer.{}." + theirs_name, ours_name)
    names |= {f"encoder.layer.{{}}.layer_scale{i}.lambda1": f"ls{i}.gamma" for i in (1, 2)}
    ours = VisionTransformer(renamed(state, 2, names, "{}.{}.{}")).eval()
    pixels = torch.randn((2, 3, 56, 56), generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        expected = theirs(pixels).last_hidden_state
        assert torch.allclose(ours.norm(ours(pixels)), expected, atol=1e-4)


@pytest.mark.parametrize("activation", ["quick_gelu", "gelu"])
def test_the_clip_transformer_is_transformers_own(activation):
    sizes = {"hidden_size": 128, "intermediate_size": 160, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = CLIPVisionConfig(**sizes, image_size=64, patch_size=32, projection_dim=24, hidden_act=activation)
    theirs = filled(CLIPVisionModelWithProjection(config))
    state = {name.removeprefix("vision_model."): tensor for name, tensor in theirs.state_dict().items()}
    state["cls"] = state["embeddings.class_embedding"].view(1, 1, -1)
    state["positions"] = state["embeddings.position_embedding.weight"][None]
    state["patch.bias"] = torch.zeros(128)  # CLIP has none; the published checkpoints hold zeros
    for layer in range(2):
        for short in "qkv":
            for part in ("weight", "bias"):
                state[f"{layer}.{short}.{part}"] = state[f"encoder.layers.{layer}.self_attn.{short}_proj.{part}"]
    names = {"cls": "cls_token", "positions": "pos_embed", "patch.bias": "patch_embed.proj.bias"}
    names |= {"embeddings.patch_embedding.weight": "patch_embed.proj.weight"}
    names |= both_parts("pre_layrnorm", "pos_drop") | both_parts("post_layernorm", "norm")
    for theirs_name, ours_name in {
        "layer_norm1": "norm1",
        "layer_norm2": "norm2",
        "self_attn.out_proj": "attn.proj",
        "mlp.fc1": "mlp.fc1",
        "mlp.fc2": "mlp.fc2",
    }.items():
        names |= both_parts("encoder.layers.{}." + theirs_name, ours_name)
    own = renamed(state, 2, names, "{}.{}.{}")
    ours = VisionTransformer(own, quick_gelu=activation == "quick_gelu", epsilon=1e-5).eval()
    pixels = torch.randn((2, 3, 64, 64), generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        expected = theirs(pixels).image_embeds
        found = ours.norm(ours(pixels)[:, 0]) @ state["visual_projection.weight"].T
        assert torch.allclose(found, expected, atol=1e-4)


def test_merging_an_adapter_is_what_peft_computes(tmp_path):
    files = find_files(write_dreamsim(tmp_path, "synclr_vitb16"), "synclr_vitb16")
    plain, merged = (load_backbone(*files.backbones[0])[0] for _ in range(2))
    merge_adapter(files.adapter, [merged])
    settings = json.loads((files.adapter / "adapter_config.json").read_text())
    chosen = {name: settings[name] for name in ("r", "lora_alpha", "lora_dropout", "target_modules")}
    theirs = get_peft_model(plain, LoraConfig(**chosen)).eval()
    tensors = load_file(files.adapter / "adapter_model.safetensors")
    set_peft_model_state_dict(theirs, {name.replace("extractor_list.0.model.", ""): t for name, t in tensors.items()})
    pixels = torch.randn((1, 3, 224, 224), generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        assert torch.allclose(merged(pixels), theirs(pixels), atol=1e-4)
        assert not torch.allclose(merged(pixels), load_backbone(*files.backbones[0])[0](pixels), atol=1e-2)


def test_positions_are_stretched_over_another_grid(tmp_path):
    files = find_files(write_dreamsim(tmp_path, "dinov2_vitb14"), "dinov2_vitb14")
    model, _ = load_backbone(*files.backbones[0])
    model.pos_embed.data[:, 1:] = torch.arange(37.0).repeat(37)[None, :, None]  # grows from left to right
    found = model._positions(16, 16)
    assert found.shape == (1, 257, 64) and (found[:, 0] == model.pos_embed[:, 0]).all()
    rows = found[0, 1:, 0].view(16, 16)
    assert torch.allclose(rows, rows[:1].expand(16, 16), atol=1e-4)  # the same from top to bottom
    assert (rows[0].diff() > 2).all() and 0 <= rows[0, 0] < 2 and 34 < rows[0, -1] <= 36
    assert model._positions(37, 37) is model.pos_embed


# ---------------------------------------------------------------------- files that are not as they should be


def test_everything_that_is_missing_is_said_with_where_to_get_it(tmp_path):
    with pytest.raises(ConfigError, match=r"does not exist; unpack https://.*dreamsim_ensemble_checkpoint\.zip"):
        resolve("scorer", spec(tmp_path / "nowhere"))
    with pytest.raises(ConfigError) as caught:
        resolve("scorer", spec(tmp_path))
    for wanted in (
        "checkpoints/dino_vitbase16_pretrain.pth (from https://dl.fbaipublicfiles.com/",
        "open_clip_vitb16_pretrain.pth.tar",
        "ensemble_lora/adapter_config.json",
        "adapter_model.safetensors or adapter_model.bin",
    ):
        assert wanted in str(caught.value)
    write_dreamsim(tmp_path)
    (tmp_path / "clip_vitb16_pretrain.pth.tar").unlink()
    with pytest.raises(ConfigError, match=r"ensemble': clip_vitb16_pretrain\.pth\.tar \(from [^,]*$"):
        resolve("scorer", spec(tmp_path))


def test_weights_may_lie_where_the_archive_or_torch_hub_puts_them(tmp_path):
    write_dreamsim(tmp_path, "dino_vitb16")
    before = resolve("scorer", spec(tmp_path, "dino_vitb16")).score_pairs(PAIRS)
    (tmp_path / "checkpoints" / "dino_vitbase16_pretrain.pth").rename(tmp_path / "dino_vitbase16_pretrain.pth")
    assert resolve("scorer", spec(tmp_path, "dino_vitb16")).score_pairs(PAIRS) == before


def test_an_adapter_of_the_older_file_type_is_read_too(tmp_path):
    adapter = write_dreamsim(tmp_path, "clip_vitb32") / "clip_vitb32_single_lora"
    before = resolve("scorer", spec(tmp_path, "clip_vitb32")).score_pairs(PAIRS)
    torch.save(load_file(adapter / "adapter_model.safetensors"), adapter / "adapter_model.bin")
    (adapter / "adapter_model.safetensors").unlink()
    assert resolve("scorer", spec(tmp_path, "clip_vitb32")).score_pairs(PAIRS) == before


class Hostile:
    """Would run code when a careless loader reads it."""

    def __reduce__(self):
        return print, ("code was run",)


@pytest.mark.parametrize("damage", ["hostile", "noise", "empty", "list", "other tensors", "no projection", "one less"])
def test_damaged_and_hostile_weights_are_refused(tmp_path, damage, capsys):
    path = write_dreamsim(tmp_path, "clip_vitb32") / "clip_vitb32_pretrain.pth.tar"
    state = torch.load(path, weights_only=True)["state_dict"]
    if damage in ("noise", "empty"):
        path.write_bytes(b"no weights" * 20 * (damage == "noise"))
    else:
        lost = {"no projection": "proj", "one less": "blocks.1.norm2.bias"}.get(damage, "")
        contents = {"hostile": Hostile(), "list": [1, 2], "other tensors": {"state_dict": {"proj": torch.ones(2)}}}
        kept = {"state_dict": {name: tensor for name, tensor in state.items() if name != lost}}
        torch.save(contents.get(damage, kept), path)
    with pytest.raises(ConfigError, match=r"clip_vitb32_pretrain\.pth\.tar"):
        resolve("scorer", spec(tmp_path, "clip_vitb32"))
    assert "code was run" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"use_dora": True}, "use_dora"),
        ({"rank_pattern": {"qkv": 3}}, "rank_pattern"),
        ({"r": 0}, "r=0"),
        ({"r": "many"}, "must be the configuration of an adapter"),
        ({"lora_alpha": None}, "must be the configuration of an adapter"),
    ],
)
def test_adapters_of_another_kind_are_refused(tmp_path, setting, message):
    path = write_dreamsim(tmp_path, "clip_vitb32") / "clip_vitb32_single_lora" / "adapter_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | setting))
    with pytest.raises(ConfigError, match=message):
        resolve("scorer", spec(tmp_path, "clip_vitb32"))


QKV = "base_model.model.extractor_list.0.model.blocks.0.attn.qkv"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({f"{QKV}.lora_B.weight": None}, "lora_A, lora_B"),
        ({f"{QKV}.lora_magnitude_vector": torch.ones(2)}, "belongs to no low-rank adapter"),
        ({f"{QKV}.lora_A.weight": torch.ones(4, 63)}, "an adapter of"),
        ({f"{QKV.replace('list.0', 'list.1')}.lora_A.weight": torch.ones(4, 64)}, "is for backbone 1; the model has 1"),
        ({f"{QKV.replace('qkv', 'kqv')}.lora_A.weight": torch.ones(4, 64)}, "must all be there"),
    ],
)
def test_tensors_without_a_place_are_not_passed_over(tmp_path, change, message):
    path = write_dreamsim(tmp_path, "clip_vitb32") / "clip_vitb32_single_lora" / "adapter_model.safetensors"
    tensors = {name: tensor for name, tensor in (load_file(path) | change).items() if tensor is not None}
    save_file(tensors, path)
    with pytest.raises(ConfigError, match=message):
        resolve("scorer", spec(tmp_path, "clip_vitb32"))


def test_a_backbone_without_an_adapter_is_noticed(tmp_path):
    path = write_dreamsim(tmp_path) / "ensemble_lora" / "adapter_model.safetensors"
    save_file({name: tensor for name, tensor in load_file(path).items() if "list.2" not in name}, path)
    with pytest.raises(ConfigError, match="nothing for backbone 2"):
        resolve("scorer", spec(tmp_path))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"variant": "ensamble"}, 'Did you mean "ensemble"'),
        ({"variant": None}, "variant must be"),
        ({"folder": ""}, "folder must be"),
        ({"device": "gpu"}, "device must be"),
    ],
)
def test_bad_arguments_are_named(tmp_path, arguments, message):
    with pytest.raises(ConfigError, match=message):
        resolve("scorer", {"kind": "dreamsim", "folder": str(tmp_path), **arguments})


def test_infinite_weights_are_a_fault_and_no_score(tmp_path):
    scorer = resolve("scorer", spec(write_dreamsim(tmp_path, "clip_vitb32"), "clip_vitb32"))
    scorer.model.backbones[0].norm.weight.data.fill_(float("inf"))
    with pytest.raises(JudgeFault, match="dreamsim"):
        scorer.score_pairs([(icon(64), np.zeros((64, 64, 3), np.uint8))])
