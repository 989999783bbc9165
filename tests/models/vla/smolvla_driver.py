"""lerobot's own SmolVLA beside ours, on random weights; runs in lerobot's virtual environment, prints one JSON object.

.venv-lerobot/bin/python tests/models/vla/smolvla_driver.py FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
import transformers
from lerobot.policies.smolvla import smolvlm_with_expert
from lerobot.policies.smolvla.configuration_smolvla import SmolVLAConfig
from lerobot.policies.smolvla.modeling_smolvla import VLAFlowMatching
from safetensors.torch import save_file

from agentrl.models.vla.smolvla import load_smolvla

VISION = {"hidden_size": 48, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4}
VISION |= {"image_size": 64, "patch_size": 8}
TEXT: dict[str, Any] = {"hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4, "num_key_value_heads": 2}
TEXT |= {"head_dim": 16, "vocab_size": 100, "num_hidden_layers": 4, "model_type": "llama", "pad_token_id": 0}


def compare(folder: Path, **options: Any) -> dict[str, float]:
    """The largest differences: of the prefix, of velocities, of chunks."""
    folder.mkdir(parents=True, exist_ok=True)
    vlm = transformers.SmolVLMConfig(vision_config=VISION, text_config=TEXT, scale_factor=2)
    vlm.save_pretrained(folder / "vlm")
    torch.manual_seed(0)
    chosen = {"chunk_size": 6, "n_action_steps": 6, "num_vlm_layers": 4, "num_steps": 5, **options}
    config = SmolVLAConfig(vlm_model_name=str(folder / "vlm"), device="cpu", **chosen)
    theirs = VLAFlowMatching(config).eval().float()
    for weights in theirs.parameters():
        weights.data += 0.05 * torch.randn_like(weights)
    written = {f"model.{name}": part.contiguous() for name, part in theirs.state_dict().items()}
    save_file({name: part.clone() for name, part in written.items()}, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({"type": "smolvla", **chosen}))
    ours = load_smolvla(folder, folder / "vlm" / "config.json")
    places = patch_places(theirs)
    with torch.no_grad():
        seat = ours.parts[0]["vision_model"].embeddings["position_embedding"].weight
        seat.copy_(seat[places])
    pictures = [torch.rand(3, 3, 64, 64) * 2 - 1 for _ in range(2)]
    words, mask = torch.randint(1, 100, (3, 7)), torch.arange(7) < torch.tensor([7, 4, 1])[:, None]
    state, noise = torch.randn(3, 32), torch.randn(3, 6, 32)
    there = [torch.ones(3, dtype=torch.bool)] * 2
    with torch.no_grad():
        prefix, pad, _ = theirs.embed_prefix(pictures, there, words, mask, state)
        x, known = ours.prefix(pictures, words, mask, state)
        chunks = theirs.sample_actions(pictures, there, words, mask, state, noise=noise.clone())
        actions, time = torch.randn(3, 6, 32), torch.tensor([0.2, 0.7, 1.0])
        losses = theirs.forward(pictures, there, words, mask, state, actions, noise, time)
        noisy = time[:, None, None] * noise + (1 - time[:, None, None]) * actions
        velocity = ours.velocity(noisy, time, ours.memory(x, known), known)
    gap = lambda one, other: float((one - other).abs().max())  # noqa: E731
    return {
        "prefix": gap(prefix, x),
        "mask": float((pad != known).sum()),
        "chunks": gap(chunks, ours.sample(pictures, words, mask, state, noise)),
        "losses": gap(losses, (noise - actions - velocity).square()),
        "size": float(chunks.abs().max()),
        "displaced": float((places != torch.arange(len(places))).sum()),
        "weights": float(sum(part.numel() for part in ours.state_dict().values())),
    }


@torch.no_grad()
def patch_places(theirs: Any) -> torch.Tensor:
    """The place that each patch is given. transformers 4.57 rounds all but the first of a row or column down by one;
    transformers before that and since 5 does not, and neither do we."""
    embeddings = theirs.vlm_with_expert.get_vlm_model().vision_model.embeddings
    kept = [part.clone() for part in (embeddings.position_embedding.weight, *embeddings.patch_embedding.parameters())]
    count = len(kept[0])
    for part in embeddings.parameters():
        part.zero_()
    embeddings.position_embedding.weight[:, 0] = torch.arange(count)
    side = VISION["image_size"] // VISION["patch_size"]
    found = embeddings(torch.zeros(1, 3, 64, 64), torch.ones(1, side, side, dtype=torch.bool))[0, :, 0].long()
    parts = (embeddings.position_embedding.weight, *embeddings.patch_embedding.parameters())
    for part, before in zip(parts, kept, strict=True):
        part.copy_(before)
    return found


if __name__ == "__main__":
    tokens = SimpleNamespace(fake_image_token_id=1, global_image_token_id=2)
    # The network reads two ids of the tokenizer and nothing else of the processor, which no package here holds.
    loaded = SimpleNamespace(from_pretrained=lambda name: SimpleNamespace(tokenizer=tokens))
    smolvlm_with_expert.AutoProcessor = loaded
    root = Path(sys.argv[1])
    print(
        json.dumps(
            {
                "usual": compare(root / "usual"),
                "narrow": compare(root / "narrow", expert_width_multiplier=0.5, self_attn_every_n_layers=3),
                "never": compare(root / "never", self_attn_every_n_layers=-1),
            }
        )
    )
