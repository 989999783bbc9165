"""OpenVLA-OFT's own classes beside ours: random weights, written by upstream's code and read by ours.

    PYTHONPATH=. PYTHON -m benchmarks.vla_layouts OPENVLA_OFT TRANSFORMERS [--platform libero|aloha|bridge]

The two folders are checkouts of moojink/openvla-oft and of moojink/transformers-openvla-oft, whose Llama looks in both
directions. PYTHON is an interpreter with torch, torchvision, timm 0.9.16, tokenizers 0.19.1, numpy 1, gymnasium,
msgspec and all that transformers 4.40.1 needs. What upstream imports besides (TensorFlow, diffusers, ...) is not used.
Printed is one JSON object: the largest differences of normalised chunks and, in the robot's units, of actions; and how
many weights a network of the published sizes has, whose names and shapes alone are compared.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import tempfile
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock, patch

import numpy as np
import torch

from agentrl.models.vla.openvla_oft_files import empty_network, load_openvla_oft, read_spec, used

LARGEST = 1e-4  # difference of normalised chunks
# Packages whose `__init__` imports far more than is needed, and what upstream imports and does not use here.
BARE = ("prismatic", *(f"prismatic.{name}" for name in ("models", "training", "vla", "extern", "extern.hf")))
ABSENT = ("tensorflow", "json_numpy", "diffusers", "diffusers.schedulers", "diffusers.schedulers.scheduling_ddim")
DATA = "prismatic.vla.datasets.rlds.utils.data_utils"
EYES = {"dinov2": {"embed_dim": 64, "depth": 4}, "siglip": {"embed_dim": 80, "depth": 3}}
TEXT: dict[str, Any] = {"hidden_size": 64, "intermediate_size": 160, "num_hidden_layers": 3, "num_attention_heads": 4}
TEXT |= {"vocab_size": 32064, "pad_token_id": 32000, "torch_dtype": "float32"}
MEANS = ((0.484375, 0.455078125, 0.40625), (0.5, 0.5, 0.5))
STDS = ((0.228515625, 0.2236328125, 0.224609375), (0.5, 0.5, 0.5))
SIDE, PROMPTS, VOCABULARY, EMPTY = 224, (9, 5, 14), 32000, 29871


class Upstream:
    """Its modules, without what they import in vain, and with vision transformers that are small."""

    def __init__(self, openvla: Path, transformers: Path) -> None:
        sys.path[:0] = [str(transformers / "src"), str(openvla)]
        for name in BARE:
            module = sys.modules[name] = ModuleType(name)
            module.__path__ = [str(openvla / name.replace(".", "/"))]
        self.constants: Any = importlib.import_module("prismatic.vla.constants")
        self.configuration: Any = importlib.import_module("prismatic.extern.hf.configuration_prismatic")
        self.modeling: Any = importlib.import_module("prismatic.extern.hf.modeling_prismatic")
        self.processing: Any = importlib.import_module("prismatic.extern.hf.processing_prismatic")
        # transformers has looked for these by now and has found that they are not there.
        sys.modules |= {name: MagicMock() for name in ABSENT}
        sys.modules[DATA] = MagicMock(NormalizationType=self.constants.NormalizationType)
        self.heads: Any = importlib.import_module("prismatic.models.action_heads")
        self.projectors: Any = importlib.import_module("prismatic.models.projectors")
        self.utils: Any = importlib.import_module("experiments.robot.openvla_utils")

    def network(self, text: dict[str, Any]) -> Any:
        """As upstream makes it."""
        config = self.configuration.OpenVLAConfig(
            vision_backbone_id="dinosiglip-vit-so-224px",
            llm_backbone_id="llama2-7b-pure",
            arch_specifier="no-align+fused-gelu-mlp",
            image_resize_strategy="resize-naive",
            text_config=text,
        )
        return self.modeling.OpenVLAForActionPrediction(config).eval()

    def small_network(self) -> Any:
        """With random weights; tokens of actions are far likelier than others."""
        with patch.object(self.modeling.timm, "create_model", partial(small, self.modeling.timm.create_model)):
            found = self.network(TEXT)
        attention = found.language_model.model.layers[0].self_attn
        if type(attention).__name__ != "LlamaSdpaAttention":
            raise SystemExit(f"attention must be of the kind that looks in both directions; got {type(attention)}")
        shaken(found)
        with torch.no_grad():
            for part in found.vision_backbone.modules():
                if hasattr(part, "scale_factor"):
                    part.scale_factor += 1.0
            for layer in found.language_model.model.layers:  # looks are sharp, so that places differ
                layer.self_attn.q_proj.weight *= 4.0
            found.language_model.lm_head.weight[: VOCABULARY - 256] *= 0.01
            found.language_model.lm_head.weight[VOCABULARY:] *= 0.01
        return found

    def statistics(self) -> dict[str, Any]:
        """As `dataset_statistics.json` has them; the gripper is not normalised, as in LIBERO."""
        numbers, state = self.constants.ACTION_DIM, self.constants.PROPRIO_DIM

        def ranges(count: int) -> dict[str, Any]:
            low = np.sort(np.random.default_rng(count).normal(size=(4, count)), 0)
            return {name: part.tolist() for name, part in zip(("min", "q01", "q99", "max"), low, strict=True)}

        action = ranges(numbers) | {"mask": [True] * (numbers - 1) + [False]}
        return {"tiny": {"action": action, "proprio": ranges(state), "num_transitions": 9, "num_trajectories": 1}}


def small(make: Any, name: str, **options: Any) -> Any:
    """One of timm's vision transformers with fewer and narrower blocks."""
    return make(name, **options, **next(size for part, size in EYES.items() if part in name))


def shaken(module: torch.nn.Module) -> None:
    """Add noise to all weights, so that none is what it begins with."""
    with torch.no_grad():
        for weights in module.parameters():
            weights += 0.1 * torch.randn_like(weights)


def compare(upstream: Upstream, folder: Path, *, pictures: int, state: bool, regression: bool) -> dict[str, float]:
    """Write a folder as upstream's training does, play it by both, and give the largest differences."""
    torch.manual_seed(pictures + 2 * state + 4 * regression)
    folder.mkdir()
    constants, width = upstream.constants, TEXT["hidden_size"]
    numbers, bounds = constants.ACTION_DIM, constants.ACTION_PROPRIO_NORMALIZATION_TYPE
    theirs, statistics = upstream.small_network(), upstream.statistics()
    theirs.save_pretrained(folder, max_shard_size="2MB")
    theirs.norm_stats = statistics
    (folder / "dataset_statistics.json").write_text(json.dumps(statistics))
    processor = upstream.processing.PrismaticImageProcessor(
        use_fused_vision_backbone=True, image_resize_strategy="resize-naive", input_sizes=[(3, SIDE, SIDE)] * 2,
        interpolations=["bicubic"] * 2, means=MEANS, stds=STDS,
    )  # fmt: skip
    processor.save_pretrained(folder)
    head = upstream.heads.L1RegressionActionHead(width, width, numbers).eval() if regression else None
    projector = upstream.projectors.ProprioProjector(width, constants.PROPRIO_DIM).eval() if state else None
    for name, part in (("action_head", head), ("proprio_projector", projector)):
        if part is not None:
            shaken(part)
            weights = {f"module.{key}": tensor for key, tensor in part.state_dict().items()}
            torch.save(weights, folder / f"{name}--150000_checkpoint.pt")
    ours = load_openvla_oft(
        folder, chunk=constants.NUM_ACTIONS_CHUNK, dtype=torch.float32,
        bounds=("min", "max") if bounds == constants.NormalizationType.BOUNDS else ("q01", "q99"),
    )  # fmt: skip

    views = [torch.randint(256, (len(PROMPTS), SIDE, SIDE, 3), dtype=torch.uint8) for _ in range(pictures)]
    prompts = [[1, *torch.randint(3, 29000, (length,)).tolist()] for length in PROMPTS]
    prompts[0].append(EMPTY)  # upstream adds this token where it is not there
    told = 2 * torch.randn(len(PROMPTS), constants.PROPRIO_DIM, dtype=torch.float64) if state else None
    chunks, actions = [], []
    theirs.vision_backbone.set_num_images_in_input(pictures)
    unscaled = theirs._unnormalize_actions
    theirs._unnormalize_actions = lambda chunk, key: (chunks.append(chunk), unscaled(chunk, key))[1]
    for row, prompt in enumerate(prompts):
        stacked = [processor(upstream.utils.Image.fromarray(view[row].numpy()), return_tensors="pt") for view in views]
        scaled = None
        if told is not None:
            scaled = upstream.utils.normalize_proprio(told[row].numpy(), statistics["tiny"]["proprio"])
        with torch.inference_mode():
            found, _ = theirs.predict_action(
                input_ids=torch.tensor([prompt]), attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
                pixel_values=torch.cat([given["pixel_values"] for given in stacked], 1), unnorm_key="tiny",
                proprio=scaled, proprio_projector=projector, action_head=head,
            )  # fmt: skip
        actions.append(found)
    scaled = ours.state.scaled(told) if told is not None and ours.state else None
    mine = ours.network.chunk(views, prompts, scaled).numpy()
    return {
        "chunks": float(np.abs(np.stack(chunks) - mine).max()),
        "actions": float(np.abs(np.stack(actions) - ours.act(views, prompts, told).numpy()).max()),
        "size": float(np.abs(mine).max()),
        "values": float(len(np.unique(mine.round(6)))),
        "weights": float(sum(part.numel() for part in ours.network.parameters())),
    }


def published_sizes(upstream: Upstream) -> int:
    """Weights of upstream's network at the sizes of its published policies, after `ValueError` where those that are
    used have other names or shapes than ours. Nothing is computed, and no memory is taken."""
    on_cpu = partial(torch.linspace, device="cpu")  # timm reads numbers of such a tensor while it builds
    with torch.device("meta"), patch("torch.linspace", on_cpu):
        theirs = upstream.network({"vocab_size": 32064, "pad_token_id": 32000})
    weights, told = used(theirs.state_dict()), json.loads(theirs.config.to_json_string())
    pixels = {"image_resize_strategy": "resize-naive", "means": MEANS, "stds": STDS}
    empty_network(read_spec(told, pixels, weights, chunk=8, numbers=7), weights)
    return sum(part.numel() for part in theirs.state_dict().values())


def main() -> int:
    """1 where a difference is too large."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("openvla", type=Path)
    parser.add_argument("transformers", type=Path)
    # Upstream looks for the word on the command line.
    parser.add_argument("--platform", choices=("libero", "aloha", "bridge"), default="libero")
    chosen = parser.parse_args()
    upstream = Upstream(chosen.openvla, chosen.transformers)
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as root:
        for pictures in (1, 2):
            for state in (False, True):
                for regression in (True, False):
                    name = f"{pictures} pictures{', state' * state}, {'regression' if regression else 'tokens'}"
                    options = {"pictures": pictures, "state": state, "regression": regression}
                    found[name] = compare(upstream, Path(root) / name, **options)
    print(json.dumps({**found, "weights at published sizes": published_sizes(upstream)}, indent=1))
    return int(any(result["chunks"] > LARGEST for result in found.values()))


if __name__ == "__main__":
    sys.exit(main())
