"""OpenVLA-OFT's layout: folders as upstream writes them are read and play the same; others are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from msgspec.structs import asdict, replace
from safetensors.torch import save_file
from torch import Tensor

from agentrl.core.errors import ConfigError
from agentrl.models.vla.llama import Llama
from agentrl.models.vla.openvla_oft import EMPTY, STOP, Eye, OFTSpec, OpenVLAOFT, Range, prompt_table
from agentrl.models.vla.openvla_oft_files import load_openvla_oft

SIDE, NUMBERS, STATE = 28, 3, 2
DINO = Eye(width=16, inside=20, patch=14, places=4, blocks=1, registers=4)
SIGLIP = Eye(width=32, inside=24, patch=14, places=4, blocks=2)
TEXT = Llama(
    hidden_size=16, intermediate_size=24, num_attention_heads=2, num_key_value_heads=2, vocab_size=32064,
    rms_norm_eps=1e-6,
)  # fmt: skip
COLOURS: dict[str, Any] = {"pixel_mean": ((0.4, 0.5, 0.6), (0.5,) * 3), "pixel_std": ((0.2, 0.25, 0.3), (0.5,) * 3)}
SPEC = OFTSpec(
    dino=DINO, siglip=SIGLIP, text=TEXT, layers=2, chunk=2, action_numbers=NUMBERS, state_numbers=STATE, **COLOURS
)
STATISTICS = {
    "libero": {
        "action": {"q01": [-1.0, 0.0, 0.0], "q99": [3.0, 1.0, 9.0], "mask": [True, True, False]},
        "proprio": {"q01": [0.0, 0.0], "q99": [2.0, 4.0]},
    }
}


def network(**options: Any) -> OpenVLAOFT:
    """A very small one, whose places differ."""
    torch.manual_seed(0)
    net = OpenVLAOFT(replace(SPEC, **options)).eval()
    with torch.no_grad():
        for weights in net.parameters():
            weights += 0.3 * torch.randn_like(weights)
    return net


def observations(rows: int = 2, pictures: int = 2) -> tuple[list[Tensor], list[list[int]], Tensor]:
    """Pictures, prompts of different lengths and states in the robot's units."""
    torch.manual_seed(1)
    views = [torch.randint(256, (rows, SIDE, SIDE, 3), dtype=torch.uint8) for _ in range(pictures)]
    return views, [[1, *range(10, 13 + 2 * row)] for row in range(rows)], torch.randn(rows, STATE)


def write(net: OpenVLAOFT, folder: Path) -> Path:
    """As upstream does: two files of weights with an index, parts of their own with the prefix of several processes,
    and all that the network does not compute with."""
    folder.mkdir()
    parts: dict[str, dict[str, Tensor]] = {"action_head": {}, "proprio_projector": {}, "model": {}}
    for name, part in net.state_dict().items():
        first, _, rest = name.partition(".")
        where, key = (first, f"module.{rest}") if first in parts else ("model", name)
        parts[where][key] = part.contiguous()
    weights = parts.pop("model")
    for eye, blocks in (("featurizer", 1), ("fused_featurizer", 2)):
        for unused in (f"blocks.{blocks}.norm1.weight", "norm.weight"):
            weights[f"vision_backbone.{eye}.{unused}"] = torch.ones(3)
    weights["vision_backbone.fused_featurizer.attn_pool.latent"] = torch.ones(3)
    names, files = sorted(weights), ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")
    for number, file in enumerate(files):
        save_file({name: weights[name] for name in names[number::2]}, folder / file)
    index = {"weight_map": {name: files[number % 2] for number, name in enumerate(names)}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    for name, part in parts.items():
        if part:
            torch.save(part, folder / f"{name}--150000_checkpoint.pt")
    text = {**asdict(TEXT), "model_type": "llama", "num_hidden_layers": 2}
    told = {"model_type": "openvla", "vision_backbone_id": "dinosiglip-vit-so-224px", "text_config": text}
    told |= {"image_resize_strategy": "resize-naive", "n_action_bins": 256, "pad_to_multiple_of": 64}
    (folder / "config.json").write_text(json.dumps(told))
    pixels = {"image_resize_strategy": "resize-naive", "means": SPEC.pixel_mean, "stds": SPEC.pixel_std}
    (folder / "preprocessor_config.json").write_text(json.dumps(pixels))
    (folder / "dataset_statistics.json").write_text(json.dumps(STATISTICS))
    return folder


def change(path: Path, **changes: Any) -> None:
    """Other values in a JSON file."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.mark.parametrize(("regression", "state_numbers"), [(True, STATE), (False, 0)])
def test_a_folder_is_read_and_plays_the_same(tmp_path: Path, regression: bool, state_numbers: int) -> None:
    net = network(regression=regression, state_numbers=state_numbers)
    loaded = load_openvla_oft(write(net, tmp_path / "policy"), chunk=2, dtype=torch.float32)
    views, prompts, state = observations()
    given = (state, Range(torch.zeros(2), torch.tensor([2.0, 4.0]), torch.ones(2) > 0).scaled(state))
    told, scaled = given if state_numbers else (None, None)
    chunk = net.chunk(views, prompts, scaled).double()
    expected = (chunk + 1) / 2 * torch.tensor([4.0, 1.0, 1.0]) + torch.tensor([-1.0, 0.0, 0.0])
    expected[..., 2] = chunk[..., 2]
    found = loaded.act(views, prompts, told)
    assert found.shape == (2, 2, NUMBERS) and found.unique().numel() > 2
    assert torch.allclose(found, expected, atol=1e-5)
    assert load_openvla_oft(tmp_path / "policy", chunk=2).act(views, prompts, told).isfinite().all()  # bfloat16


def test_longer_prompts_beside_it_change_nothing() -> None:
    net = network()
    views, prompts, state = observations(rows=3)
    together = net.chunk(views, prompts, state)
    for row in range(3):
        part = slice(row, row + 1)
        alone = net.chunk([view[part] for view in views], prompts[part], state[part])
        assert torch.allclose(together[part], alone, atol=1e-5)
    assert (together[0] - together[1]).abs().max() > 1e-2


def test_padding_follows_the_first_token_and_prompts_end_with_the_empty_piece() -> None:
    words, there = prompt_table([[1, 5], [1, 5, 6, 7, EMPTY]], "cpu")
    assert words.tolist() == [[1, 0, 0, 5, EMPTY], [1, 5, 6, 7, EMPTY]]
    assert there.tolist() == [[True, False, False, True, True], [True] * 5]


def test_every_token_sees_those_behind_it() -> None:
    net = network()
    views, prompts, state = observations()
    first = net.outputs(views, prompts, state)[:, 0]
    net.spec = replace(net.spec, chunk=3)  # one action more, behind the others
    assert (net.outputs(views, prompts, state)[:, 0] - first).abs().max() > 1e-2
    net.spec = replace(net.spec, chunk=2)
    assert torch.equal(net.outputs(views, prompts, state)[:, 0], first)
    with torch.no_grad():
        net.language_model["model"]["embed_tokens"].weight[STOP] += 1.0  # the very last token
    assert (net.outputs(views, prompts, state)[:, 0] - first).abs().max() > 1e-2


def test_outputs_are_read_from_the_end_of_the_prompt_to_the_last_zero_but_one() -> None:
    net = network(layers=0)  # so that outputs are the inputs, in a norm
    views, prompts, state = observations()
    model = net.language_model["model"]
    expected = torch.zeros(2, 2 * NUMBERS, 16)
    expected[:, 0] = model["norm"](model["embed_tokens"].weight[EMPTY])
    assert torch.equal(net.outputs(views, prompts, state), expected)


def test_numbers_and_ranges_are_those_of_upstream() -> None:
    net = network()
    ids = torch.tensor([31999, 31998, 31872, 31745, 31744, 5, 32063])
    assert (net.numbers(ids) * 255).round(decimals=9).tolist() == [-254, -252, 0, 254, 254, 254, -254]
    low, high = torch.tensor([-2.0, 0.0, 5.0]).double(), torch.tensor([2.0, 1.0, 6.0]).double()
    known = Range(low, high, torch.tensor([True, True, False]))
    assert known.back(torch.tensor([[-1.0, 0.5, 0.25], [1.5, 0.0, -1.0]]).double()).tolist() == [
        pytest.approx([-2.0, 0.75, 0.25]),
        pytest.approx([3.0, 0.5, -1.0]),
    ]
    assert known.scaled(torch.tensor([1.0, 7.0, 0.25]).double()).tolist() == pytest.approx([0.5, 1.0, 0.25])


@pytest.mark.parametrize(
    ("file", "changes", "words"),
    [
        ("config.json", {"model_type": "llama"}, "model_type must be 'openvla'; got 'llama'"),
        ("config.json", {"vision_backbone_id": "clip-vit-l"}, "vision_backbone_id must be .*; got 'clip-vit-l'"),
        ("config.json", {"image_resize_strategy": "letterbox"}, "image_resize_strategy must be 'resize-naive'"),
        ("preprocessor_config.json", {"image_resize_strategy": "resize-crop"}, "got 'resize-crop'"),
        ("preprocessor_config.json", {"means": [[0.5]]}, "array"),
        ("config.json", {"text_config": {"model_type": "mistral"}}, "model_type must be 'llama'; got 'mistral'"),
        ("config.json", {"text_config": {}}, "num_hidden_layers must be 2, as in the weights; got 32"),
        ("dataset_statistics.json", {"bridge": {}}, "dataset must be one of bridge, libero; got None"),
        ("dataset_statistics.json", {"libero": {"action": {}}}, "'q01' is missing"),
        ("model.safetensors.index.json", {"weight_map": {"x": "../x"}}, "must lie in the folder; got '../x'"),
    ],
)
def test_other_folders_are_refused(tmp_path: Path, file: str, changes: dict[str, Any], words: str) -> None:
    folder = write(network(), tmp_path / "policy")
    change(folder / file, **changes)
    with pytest.raises(ConfigError, match=words):
        load_openvla_oft(folder)


def test_weights_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    folder = write(network(), tmp_path / "policy")
    projector = folder / "proprio_projector--150000_checkpoint.pt"
    usual = torch.load(projector, weights_only=True)
    lacking = {name: part for name, part in usual.items() if name != "module.fc2.bias"}
    misshapen = {**usual, "module.fc2.bias": torch.zeros(3)}
    for weights, words in (
        (lacking, "its weights lack proprio_projector.fc2.bias"),
        ({**usual, "fc9.weight": torch.zeros(1), "fc9.bias": torch.zeros(1)}, "foreign .*fc9.bias and 1 more"),
        (misshapen, r"fc2.bias must be of the shape \(16,\); got \(3,\)"),
        ({**usual, "module.fc1.weight": torch.zeros(16, 5)}, "must have 5 numbers of the robot's state"),
        ([1.0], "holds no OpenVLA-OFT policy that can be read"),
    ):
        torch.save(weights, projector)
        with pytest.raises(ConfigError, match=words):
            load_openvla_oft(folder)


def test_other_action_heads_are_refused(tmp_path: Path) -> None:
    folder = write(network(), tmp_path / "policy")
    head = folder / "action_head--150000_checkpoint.pt"
    torch.save({"noise_predictor.mlp_resnet.fc1.weight": torch.zeros(1)}, head)
    with pytest.raises(ConfigError, match="must be one of L1 regression"):
        load_openvla_oft(folder)
    head.write_bytes(b"none")
    with pytest.raises(ConfigError, match="holds no OpenVLA-OFT policy that can be read"):
        load_openvla_oft(folder)
    (folder / "action_head--200000_checkpoint.pt").write_bytes(b"")
    with pytest.raises(ConfigError, match=r"must hold one file action_head--.* got 2"):
        load_openvla_oft(folder)


@pytest.mark.parametrize(("part", "words"), [("vision_backbone", "FiLM"), ("noisy_action_projector", "diffusion")])
def test_what_is_not_computed_is_refused(tmp_path: Path, part: str, words: str) -> None:
    folder = write(network(), tmp_path / "policy")
    (folder / f"{part}--150000_checkpoint.pt").write_bytes(b"")
    with pytest.raises(ConfigError, match=f"trained with {words}, which is not supported"):
        load_openvla_oft(folder)


def test_observations_that_do_not_fit_are_refused() -> None:
    net = network()
    views, prompts, state = observations()
    with pytest.raises(ConfigError, match="state must be given to this policy"):
        net.chunk(views, prompts)
    with pytest.raises(ConfigError, match="state must not be given"):
        network(state_numbers=0).chunk(views, prompts, state)
    with pytest.raises(ConfigError, match=r"must be of 28 x 28 pixels and 3 colours; got \(2, 14, 28, 3\)"):
        net.chunk([view[:, ::2] for view in views], prompts, state)
