"""The records of episodes that were played on a device, from the rows that were kept there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from agentrl.policies.vla import VLAPolicy
from agentrl.rollout.collect import Job
from agentrl.rollout.device_rows import DeviceRows, DeviceTrajectory, Held
from agentrl.rollout.episode import TrajectoryBuilder
from agentrl.rollout.trajectory import Step


class Facts(NamedTuple):
    """What holds for all episodes of an environment."""

    env_id: str
    spec: dict[str, Any] | None
    rules: str
    chunk: int


class End(NamedTuple):
    """How an episode ended."""

    steps: int
    terminated: bool
    truncated: bool
    prompt: list[int]
    instruction: str


class Recorder:
    """Fetches all rows but their pictures at once."""

    def __init__(self, rows: DeviceRows, policy: VLAPolicy) -> None:
        self.rows, self.policy, self.spec = rows, policy, rows.spec
        names = ("numbers", "actions", "logprobs", "rewards", "ran", *(("record",) if self._has_tokens else ()))
        self._arrays: dict[str, np.ndarray] = {name: getattr(rows, name).cpu().numpy() for name in names}

    @property
    def _has_tokens(self) -> bool:
        return self.spec.family == "tokens"

    def write(self, job: Job, facts: Facts, end: End, first: int) -> DeviceTrajectory:
        """The record of an episode whose rows begin at `first`."""
        record = DeviceTrajectory(**vars(job.builder.trajectory), held=Held(self.rows, first, self.rows.use))
        record.env_id, record.spec, record.system_prompt = facts.env_id, facts.spec, facts.rules
        record.task, record.about = job.start.task, {"group": end.instruction}
        lost = job.fault is not None  # what happened before the last chunk is known
        for number in range(end.steps - lost):
            last = number == end.steps - 1
            record.steps.append(self._step(first + number, end, last and end.terminated))
        record.final_observation, record.final_prompt_ids = end.instruction, list(end.prompt)
        record.final_proprio, record.final_state = self._vectors(first + end.steps - lost)
        builder = TrajectoryBuilder(record, facts.spec)
        if job.fault is not None:
            builder.fault(job.fault)
        else:
            record.terminated, record.truncated = end.terminated, end.truncated
            record.limit = "task" if end.truncated else None
            record.stop_reason = "terminated" if end.terminated else "truncated"
        builder.finish(job.start.id)
        return record

    def _step(self, row: int, end: End, success: bool) -> Step:
        ran = int(self._arrays["ran"][row])
        rewards = self._arrays["rewards"][row, :ran].tolist()
        proprio, state = self._vectors(row)
        tokens = self._arrays["record"][row] + self.policy.loaded.first_action if self._has_tokens else None
        return Step(
            observation=end.instruction,
            proprio=proprio,
            state=state,
            action=self._arrays["actions"][row].tolist(),
            response="",
            prompt_ids=list(end.prompt),
            response_ids=None if tokens is None else tokens.tolist(),
            logprobs=self._arrays["logprobs"][row].tolist(),
            sampling={"temperature": self.policy.temperature, "greedy": self.policy.greedy},
            version=self.policy.version,
            reward=sum(rewards),
            reward_terms={"success": sum(rewards)} if success else {},
            info={"success": success, "valid": True, "ran": ran, "rewards": rewards, "instruction": end.instruction},
        )

    def _vectors(self, row: int) -> tuple[list[float] | None, list[float] | None]:
        """Proprio and state, where the policy reads them."""
        found: dict[str, list[float]] = {}
        place = 0
        for name, count in self.spec.vectors.items():
            found[name] = self._arrays["numbers"][row, place : place + count].tolist()
            place += count
        return found.get("proprio"), found.get("state")
