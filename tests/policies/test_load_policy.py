"""Choosing a policy by name."""

from __future__ import annotations

import subprocess
import sys

import pytest

from agentrl import policies
from agentrl.core.errors import ConfigError
from agentrl.core.policy import Policy
from agentrl.policies import KINDS, PolicyKind, load_policy

ARGUMENTS = {
    "hf": "hf:tiny-text",
    "openai": "openai:some-model",
    "react": "react:openai:some-model",
    "vllm": "vllm:tiny-text",
}  # kinds that need something behind the colon
OPTIONS = {"vllm": {"base_url": "http://127.0.0.1:9"}}  # a server that is asked later, or never


@pytest.mark.parametrize(
    "name", sorted(KINDS.keys() - {"lerobot", "vla"})
)  # tests/adapters/test_lerobot.py, in its own environment; test_vla_policy.py, with a folder
def test_every_kind_of_the_table_can_be_loaded(name):
    spec = ARGUMENTS.get(name, name)
    policy = load_policy(spec, seed=3, **OPTIONS.get(name, {}))
    assert isinstance(policy, Policy)
    assert policy.name == spec


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("oracel", 'Did you mean "oracle"'),
        ("RANDOM ", 'Did you mean "random"'),
        ("", "The policies are: random, oracle, human"),
        ("sglang:/some/model", "unknown policy 'sglang'"),
        ("random:7", "takes nothing after a colon"),
        ("random:", "takes nothing after a colon"),
        (None, "must be a name"),
        (7, "must be a name"),
    ],
)
def test_an_unknown_name_is_refused_with_what_to_write_instead(spec, says):
    with pytest.raises(ConfigError, match=says):
        load_policy(spec)


def test_a_kind_with_an_argument_gets_what_stands_behind_the_first_colon(monkeypatch):
    monkeypatch.setitem(KINDS, "echo", PolicyKind(f"{__name__}:Echo", "test", argument="model"))
    policy = load_policy("echo:C:/models/x", seed=5, temperature=0.5)
    assert (policy.argument, policy.options) == ("C:/models/x", {"seed": 5, "temperature": 0.5})
    with pytest.raises(ConfigError, match="needs its model: echo:MODEL"):
        load_policy("echo")


class Echo:
    def __init__(self, argument, **options):
        self.argument, self.options = argument, options


def test_reading_the_table_imports_no_policy():
    code = "import sys; import agentrl.policies; print([m for m in sys.modules if m.startswith('agentrl.policies.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert policies.KINDS["random"].path.startswith("agentrl.policies.random:")
