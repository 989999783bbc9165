"""A folder is as it was written, or the reader says what is not."""

from __future__ import annotations

import json
import os

import pytest

from agentrl.core.files import open_regular
from agentrl.core.manifest import Damaged, check_manifest, sealed, unsealed, write_manifest


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.txt").write_text("one")
    (tmp_path / "b.bin").write_bytes(bytes(1000))
    write_manifest(tmp_path, 4)
    return tmp_path


def test_what_was_written_is_accepted_and_new_files_are_nobody_s_business(folder):
    (folder / "notes.txt").write_text("mine")
    check_manifest(folder, 4)


def test_a_file_that_changed_went_or_became_a_pipe_is_named(folder):
    (folder / "inner" / "a.txt").write_text("two")
    with pytest.raises(Damaged, match=r"inner/a\.txt is not what was written"):
        check_manifest(folder, 4)
    check_manifest(folder, 4, under="b.")
    (folder / "b.bin").unlink()
    with pytest.raises(OSError, match=r"b\.bin"):
        check_manifest(folder, 4, under="b.")
    os.mkfifo(folder / "b.bin")
    with pytest.raises(OSError, match="not a regular file"):
        check_manifest(folder, 4, under="b.")


def test_the_manifest_itself_is_checked(folder):
    with pytest.raises(Damaged, match="of step 4, not 5"):
        check_manifest(folder, 5)
    content = json.loads((folder / "manifest.json").read_text())
    content["files"]["cnner/a.txt"] = content["files"].pop("inner/a.txt")
    for wrong in (content, [], {}, sealed({"schema": 1, "step": 4, "files": {"../b": "0"}})):
        (folder / "manifest.json").write_text(json.dumps(wrong))
        with pytest.raises(Damaged):
            check_manifest(folder, 4)


def test_a_sealed_object_shows_every_change():
    content = {"b": [1, {"c": 2.5}], "a": "ü"}
    assert unsealed(json.loads(json.dumps(sealed(content))), "it") == content
    for change in ({"a": "u"}, {"more": 1}, {"sha256": "0"}):
        with pytest.raises(Damaged, match="it is not what was written"):
            unsealed({**sealed(content), **change}, "it")


def test_only_regular_files_are_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", "/dev/zero", tmp_path):
        with pytest.raises(OSError, match="not a regular file"):
            open_regular(place)
