"""Reading large JSON piece by piece: the same values as in one go, and broken files named."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import Any

import pytest

from agentrl.core.errors import ConfigError
from agentrl.envs.webshop import official_files
from agentrl.envs.webshop.official_files import JsonStream


def written(folder: Path, data: bytes | str) -> Path:
    path = folder / "data.json"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def random_value(rng: random.Random, depth: int = 0) -> Any:
    kind = rng.randrange(4 if depth > 3 else 6)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind == 1:
        return rng.choice([rng.randrange(-(10**9), 10**9), rng.uniform(-1, 1)])
    if kind in (2, 3):
        return "".join(rng.choice('ab"\\/\n{}[],:é日🧴') for _ in range(rng.randrange(12)))
    if kind == 4:
        return [random_value(rng, depth + 1) for _ in range(rng.randrange(5))]
    return {str(key): random_value(rng, depth + 1) for key in range(rng.randrange(5))}


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 64, 1 << 20])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_any_cut_gives_the_values_that_reading_at_once_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int, ascii_only: bool
) -> None:
    monkeypatch.setattr(official_files, "CHUNK", chunk)
    rng = random.Random(chunk)
    values = [random_value(rng) for _ in range(30)]
    path = written(tmp_path, json.dumps(values, ensure_ascii=ascii_only, indent=rng.choice([None, 2])))
    stream = JsonStream(path)
    assert list(stream.elements()) == values
    assert stream.digest == hashlib.sha256(path.read_bytes()).hexdigest()
    members = {f"key {number} é": value for number, value in enumerate(values)}
    path = written(tmp_path, json.dumps(members, ensure_ascii=ascii_only))
    assert dict(JsonStream(path).members()) == members


@pytest.mark.parametrize("text", ["[]", " [ ] ", "\ufeff[]", "\n[\n]\n"])
def test_empty_arrays_have_no_elements(tmp_path: Path, text: str) -> None:
    assert list(JsonStream(written(tmp_path, text)).elements()) == []


def test_what_python_alone_calls_a_number_is_missing(tmp_path: Path) -> None:
    assert list(JsonStream(written(tmp_path, "[NaN, Infinity, 1]")).elements()) == [None, None, 1]


@pytest.mark.parametrize(
    "text",
    ["", "   ", "{}", "[1, 2", "[1 2]", "[1x]", "[1,]", "[,1]", '["half', "[1] 2", "nonsense", "[tru]", '[{"a": }]',
     b"[\xff\xfe]", b'["\xc3'],
    ids=ascii,
)  # fmt: skip
def test_broken_arrays_are_named_with_the_place(tmp_path: Path, text: str | bytes) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError, match=r"data\.json is broken near character \d+"):
        list(JsonStream(path).elements())


@pytest.mark.parametrize("text", ["[]", '{"a" 1}', "{1: 2}", '{"a": 1', '{"a"', '{"a": 1,}'])
def test_broken_objects_are_named_with_the_place(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match="is broken near character"):
        list(JsonStream(written(tmp_path, text)).members())


def test_elements_before_the_break_are_given(tmp_path: Path) -> None:
    stream = JsonStream(written(tmp_path, "[1, 2, oops]")).elements()
    assert [next(stream), next(stream)] == [1, 2]
    with pytest.raises(ConfigError):
        next(stream)


def test_nesting_beyond_reason_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nested too deeply"):
        list(JsonStream(written(tmp_path, "[" * 200_000)).elements())


def test_an_element_without_end_does_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(official_files, "CHUNK", 1 << 10)
    monkeypatch.setattr(official_files, "MAX_ELEMENT", 1 << 12)
    stream = JsonStream(written(tmp_path, '["' + "x" * 1_000_000))
    with pytest.raises(ConfigError, match="broken"):
        list(stream.elements())
    assert stream.digest != hashlib.sha256((tmp_path / "data.json").read_bytes()).hexdigest()  # it did not read on


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read .*nowhere\.json"):
        list(JsonStream(tmp_path / "nowhere.json").elements())
