"""A kernel that was built for another machine is passed over."""

from __future__ import annotations

from agentrl.envs.grid import kernel


def test_a_library_that_cannot_be_loaded_means_numpy(tmp_path, monkeypatch):
    (tmp_path / "_kernel.foreign.so").write_bytes(b"\x7fELF of some other machine")
    monkeypatch.delenv("AGENTRL_KERNEL", raising=False)
    monkeypatch.setattr(kernel, "__file__", str(tmp_path / "kernel.py"))
    assert kernel.compiled.__wrapped__() is None
