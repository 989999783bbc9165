"""Models by name: `resolve_model` turns a built-in name or a folder into a Hugging Face folder."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.core.files import strange_file

# name -> module:function that makes (or finds) the folder. Strings, so that reading the table imports nothing.
BUILT_IN = {
    "tiny-text": "agentrl.models.tiny:tiny_text",
    "tiny-web": "agentrl.models.tiny:tiny_web",
    "tiny-words": "agentrl.models.tiny:tiny_words",
    "tiny-vlm": "agentrl.models.tiny:tiny_vlm",
    "tiny-vla": "agentrl.models.vla.loading:tiny_vla",
    "small-vla": "agentrl.models.vla.loading:small_vla",
    "smollm2": "agentrl.models.smollm2:smollm2",
}


def resolve_model(name: str | Path) -> Path:
    """The folder of a model: built in (made in the cache on first use) or given as a path."""
    if isinstance(name, str) and name in BUILT_IN:
        module, _, function = BUILT_IN[name].partition(":")
        return getattr(import_module(module), function)()
    if not isinstance(name, (str, Path)) or not str(name).strip():
        raise ConfigError(f"model must be a folder or one of {', '.join(BUILT_IN)}; got {name!r}")
    folder = Path(name).expanduser()
    if "\0" in str(folder) or not folder.is_dir():
        hint = did_you_mean(str(name), BUILT_IN)
        raise ConfigError(f"unknown model {str(name)!a}.{hint} It must be a folder or built in: {', '.join(BUILT_IN)}.")
    if (strange := strange_file(folder)) is not None:
        raise ConfigError(f"a model must consist of regular files; {strange} is not one")
    if not (folder / "config.json").is_file():
        raise ConfigError(f"{folder} must hold a model; it has no config.json")
    if not any(folder.glob("*.safetensors")):
        # Older weight files are pickles, which can run anything; nothing here opens them.
        raise ConfigError(f"{folder} has no *.safetensors; convert the weights to safetensors first")
    if not any((folder / file).is_file() for file in ("tokenizer.json", "tokenizer_config.json")):
        raise ConfigError(f"{folder} has no tokenizer; save it beside the weights")
    return folder
