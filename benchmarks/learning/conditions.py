"""What a condition's options mean: an experiment names the few that it is about, the rest is as it was when recorded.

Results are recorded with their options in the spelling of that time, which stays in their files; `SPELLED` has today's
names, by which old and new runs stand in one table.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

WITH_OWN_EPISODES = ("ppo", "steppo", "grpo", "rloo", "reinforce_pp", "gspo", "gigpo")
# By algorithm; "" is for all of them.
RECORDED_WITH: dict[str, dict[str, Any]] = {
    "": {"format_rule": "paper"},
    **{name: {"old_logprobs": "behaviour", "correction": "none"} for name in WITH_OWN_EPISODES},
}
for _name in ("grpo", "rloo", "gspo", "gigpo"):
    RECORDED_WITH[_name]["zero_variance_by"] = "reward"
for _name in ("ppo", "steppo"):
    RECORDED_WITH[_name]["critic_init"] = "zero"
RECORDED_WITH["gspo"] |= {"clip_low": 3e-4, "clip_high": 4e-4}
RECORDED_WITH["steppo"] |= {"clip_low": 0.2, "clip_high": 0.2}
RECORDED_WITH["gigpo"]["anchors"] = "observation"
SPELLED = {  # recorded -> today's name
    "critic_start": "critic_init",
    "even_by": "zero_variance_by",
    "extra_rounds": "dynamic_sampling_rounds",
    "generation_batch": "generation_batch_size",
    "keep": "save_total_limit",
    "kl_kind": "kl_estimator",
    "misdescribed": "description_noise",
    "mistake": "mistake_kind",
    "mistakes": "mistake_rate",
    "renamed": "word_substitution",
}
AS_TEXT = ("env_kwargs", "wrap", "engine_options", "judge", "generator", "orm")  # recorded as JSON text


def run_options(algorithm: str, recorded: Mapping[str, Any]) -> dict[str, Any]:
    """The options to run a condition with."""
    given = {SPELLED.get(name, name): value for name, value in recorded.items()}
    for name in AS_TEXT:
        if isinstance(text := given.get(name), str) and text[:1] in ("{", "["):
            given[name] = json.loads(text)
    meant = {**RECORDED_WITH[""], **RECORDED_WITH.get(algorithm, {}), **given}
    if algorithm == "ppo" and given.get("variant") == "turn" and "critic_epochs" not in given:
        meant["form"] = "released"  # turns had no other form before there were critic_epochs
    return meant
