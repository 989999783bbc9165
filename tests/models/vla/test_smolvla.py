"""SmolVLA's layout: lerobot's own class and ours say the same of the same weights; other folders are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from agentrl.core.errors import ConfigError
from agentrl.models.vla.llama import Llama
from agentrl.models.vla.smolvla import SmolVLA, SmolVLASpec, Tower, load_smolvla, shuffled
from tests.adapters.referee import ask

VISION = {"hidden_size": 24, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
VISION |= {"image_size": 32, "patch_size": 8}
TEXT = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "vocab_size": 50,
}


@pytest.mark.long
@pytest.mark.lerobot
@pytest.mark.timeout(600)
def test_lerobots_own_class_says_the_same(tmp_path: Path) -> None:
    for name, found in ask(tmp_path, driver="tests/models/vla/smolvla_driver.py").items():
        assert found["mask"] == 0 and found["prefix"] < 1e-4 and found["losses"] < 1e-4, name
        assert found["chunks"] < 1e-4 < 1 < found["size"], name


def network() -> SmolVLA:
    """A very small one."""
    torch.manual_seed(0)
    parts = {"vision": Tower(**VISION), "text": Llama(**TEXT)}
    return SmolVLA(SmolVLASpec(**parts, scale_factor=2, chunk_size=4, num_vlm_layers=2, num_steps=3)).eval()


def written(net: SmolVLA, folder: Path, **options: object) -> tuple[Path, Path]:
    """As lerobot writes it."""
    folder.mkdir()
    save_file(
        {f"model.{name}": part.contiguous() for name, part in net.state_dict().items()}, folder / "model.safetensors"
    )
    told = {"type": "smolvla", "chunk_size": 4, "num_vlm_layers": 2, "num_steps": 3, **options}
    (folder / "config.json").write_text(json.dumps(told))
    vlm = folder.parent / "vlm.json"
    vlm.write_text(json.dumps({"vision_config": VISION, "text_config": TEXT, "scale_factor": 2}))
    return folder, vlm


def test_a_folder_is_read_and_plays_the_same(tmp_path: Path) -> None:
    net = network()
    again = load_smolvla(*written(net, tmp_path / "policy"))
    pictures, words = [torch.rand(2, 3, 32, 32)], torch.randint(0, 50, (2, 5))
    given = (pictures, words, torch.arange(5) < torch.tensor([[5], [2]]), torch.randn(2, 32), torch.randn(2, 4, 32))
    assert torch.equal(net.sample(*given), again.sample(*given))
    padded = words.clone()
    padded[1, 2:] = 7  # behind the end of the second instruction
    assert torch.allclose(net.sample(*given), net.sample(pictures, padded, *given[2:]), atol=1e-5)


def test_what_is_not_such_a_folder_is_refused(tmp_path: Path) -> None:
    net = network()
    for number, (options, words) in enumerate(
        [
            ({"type": "act"}, "of the type 'act'"),
            ({"prefix_length": 9}, "prefix_length"),
            ({"num_vlm_layers": 3}, "Missing key"),
        ]
    ):
        with pytest.raises(ConfigError, match=words):
            load_smolvla(*written(net, tmp_path / str(number), **options))
    with pytest.raises(ConfigError, match="holds no SmolVLA"):
        load_smolvla(tmp_path, tmp_path / "vlm.json")


def test_squares_of_patches_become_one_token() -> None:
    patches = torch.arange(16.0).view(1, 16, 1)
    assert shuffled(patches, 2)[0].tolist() == [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]]
