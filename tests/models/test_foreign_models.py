"""A model folder of unknown origin runs no code and is refused in seconds, however large it says it is."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentrl.core.errors import ConfigError
from agentrl.models import resolve_model
from agentrl.models.loading import load_model
from agentrl.trainers.algorithms.sft import SFT
from agentrl.trainers.run.prompting import further_arguments

LOOPS = "".join(f"{{% for x{n} in range(9999) %}}" for n in range(3)) + "{% endfor %}" * 3
NESTED = "".join(f"{{% for x{n} in messages * 10 %}}" for n in range(12)) + "x" + "{% endfor %}" * 12
DOUBLING = "{% set n = namespace(x='aaaaaaaa') %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}"
CODE = "import pathlib\npathlib.Path({mark!r}).write_text('ran')\nclass Evil: pass\nEvilConfig = EvilTokenizer = Evil\n"


def rewrite(path: Path, **changes: Any) -> None:
    """Change members of a JSON object."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


class Pickled:
    """Weights that run a program when they are unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (f"touch {self.mark}",)


def pickled(folder: Path, mark: Path) -> None:
    import torch

    (folder / "model.safetensors").unlink()
    torch.save({"weight": Pickled(mark)}, folder / "pytorch_model.bin")


def pickled_by_index(folder: Path, mark: Path) -> None:
    import torch

    torch.save({"weight": Pickled(mark)}, folder / "weights.bin")
    (folder / "model.safetensors").rename(folder / "other.safetensors")
    index = {"metadata": {}, "weight_map": {"model.embed_tokens.weight": "weights.bin"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def evil_tokenizer(folder: Path, mark: Path) -> None:
    rewrite(folder / "tokenizer_config.json", tokenizer_class="EvilTokenizer", auto_map=EVIL_MAP)
    (folder / "tokenizer.json").unlink()


EVIL_MAP = {"AutoConfig": "evil.EvilConfig", "AutoModelForCausalLM": "evil.Evil", "AutoTokenizer": ["evil.Evil", None]}
FAR_MAP = {name: f"stranger/repo--evil.{name}" for name in ("AutoConfig", "AutoModelForCausalLM")}
EVIL: dict[str, Callable[[Path, Path], Any]] = {
    "configuration": lambda folder, _: rewrite(folder / "config.json", model_type="evil", auto_map=EVIL_MAP),
    "configuration elsewhere": lambda folder, _: rewrite(folder / "config.json", model_type="evil", auto_map=FAR_MAP),
    "tokenizer": evil_tokenizer,
    "pickled weights": pickled,
    "pickled weights in an index": pickled_by_index,
    "2 ** 31 words": lambda folder, _: rewrite(folder / "config.json", vocab_size=2**31),
    "ten million layers": lambda folder, _: rewrite(folder / "config.json", num_hidden_layers=10**7, layer_types=None),
    "endless template": lambda folder, _: (folder / "chat_template.jinja").write_text(LOOPS),
    "template of nested loops": lambda folder, _: (folder / "chat_template.jinja").write_text(NESTED),
    "doubling template": lambda folder, _: (folder / "chat_template.jinja").write_text(DOUBLING),
    "template of a long text": lambda folder, _: (folder / "chat_template.jinja").write_text("{{ 'a' * 10**10 }}"),
    "adapter": lambda folder, _: (folder / "adapter_config.json").write_text(
        json.dumps({"peft_type": "LORA", "base_model_name_or_path": "/elsewhere"})
    ),
    "attention kernel": lambda folder, _: rewrite(folder / "config.json", attn_implementation="stranger/kernel"),
}


def load(folder: Path) -> float:
    """Load a folder and encode a prompt; the seconds until it was refused."""
    started = time.process_time()  # other programs on the machine do not count
    with pytest.raises(ConfigError):
        load_model(folder, "cpu").encoder.encode([{"role": "user", "content": "x"}])
    return time.process_time() - started


@pytest.fixture
def _yes(monkeypatch: pytest.MonkeyPatch) -> None:
    """transformers would ask whether to run code."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n" * 1000))


def test_evil_folders_are_refused_in_seconds(tmp_path, record_property, _yes) -> None:
    whole, mark, seconds = resolve_model("tiny-text"), tmp_path / "ran", {}
    load_model(whole, "cpu")  # imports are not counted
    for name, change in EVIL.items():
        folder = shutil.copytree(whole, tmp_path / name)
        (folder / "evil.py").write_text(CODE.format(mark=str(mark)))
        change(folder, mark)
        seconds[name] = load(folder)
    record_property(
        "figures",
        f"threat 17: {len(EVIL)} evil model folders, {int(mark.exists())} ran code, all refused within "
        f"{max(seconds.values()):.1f} s of CPU time",
    )
    assert not mark.exists() and len(EVIL) >= 10
    assert max(seconds.values()) < 5, seconds


def test_code_beside_a_known_model_is_left_alone(tmp_path, _yes) -> None:
    folder, mark = shutil.copytree(resolve_model("tiny-text"), tmp_path / "model"), tmp_path / "ran"
    (folder / "evil.py").write_text(CODE.format(mark=str(mark)))
    rewrite(folder / "config.json", auto_map=EVIL_MAP)
    assert load_model(folder, "cpu").encoder.encode([{"role": "user", "content": "x"}]).ids
    assert not mark.exists()


def test_a_model_folder_names_no_module_to_train_in(tmp_path) -> None:
    folder = shutil.copytree(resolve_model("tiny-text"), tmp_path / "model")
    content = {"schema": 1, "environments": ["agentrl_canary:x/X-v0"]}
    (folder / "agentrl_prompting.json").write_text(json.dumps(content))
    with pytest.raises(ConfigError, match="name that environment yourself"):
        further_arguments(SFT, str(folder))
    assert further_arguments(SFT, str(folder), env="agentrl/FrozenLake-Text-v0").model == str(folder)
