"""An episode as it was after a turn: its environment's snapshot, its prompt and its record so far."""

from __future__ import annotations

import copy

from agentrl.core.errors import EnvFault, SnapshotError
from agentrl.core.snapshot import restore, snapshot
from agentrl.rollout.env_pool import EnvHandle
from agentrl.rollout.episode import LiveEpisode, TrajectoryBuilder
from agentrl.rollout.isolated import IsolatedEnv


class SavedEpisode:
    """Held here, so that the episode can go on elsewhere when its machine is lost."""

    def __init__(self, handle: EnvHandle, episode: LiveEpisode, builder: TrajectoryBuilder) -> None:
        env = handle.env
        self._blob = env.snapshot() if isinstance(env, IsolatedEnv) else snapshot(env)
        self._prompt, self._builder = copied(episode.prompt, builder)

    def restored(self, handle: EnvHandle) -> tuple[TrajectoryBuilder, LiveEpisode]:
        """The episode in another environment that is made alike; this may be used again."""
        env = handle.env
        try:
            env.restore(self._blob) if isinstance(env, IsolatedEnv) else restore(env, self._blob)
        except SnapshotError as error:
            raise EnvFault(f"the episode cannot go on from its snapshot: {error}") from error
        prompt, builder = copied(self._prompt, self._builder)
        return builder, LiveEpisode(env, prompt, builder)


def copied(prompt: object, builder: TrajectoryBuilder) -> tuple:
    """Copies that share pictures alone, which nobody changes."""
    pictures = {id(picture): picture for picture in builder.trajectory.pictures.values()}
    return copy.deepcopy((prompt, builder), pictures)
