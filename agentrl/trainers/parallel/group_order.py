"""Which groups of episodes the processes of an asynchronous run begin, and what of them is left when it is resumed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from agentrl.core.errors import ConfigError


@dataclass(frozen=True)
class Begun:
    """What one process has begun: all groups of its share before this place, of which these are still to be trained on
    (neither trained on nor dropped)."""

    place: int
    left: list[int]


class GroupOrder:
    """All groups of a run in one order: those that a resumed run begins again, then the others by their numbers.

    The groups at places `u * per_update` and on are for update `u` after the start, and are shared out as those of a
    synchronous run are: process r of n begins the r-th of them, the (r + n)-th and so on. So each process gets what its
    updates need, also where the run was stopped with another number of processes, and nobody begins what another does.
    """

    def __init__(self, per_update: int, rank: int = 0, size: int = 1) -> None:
        if per_update < size:
            raise ConfigError(
                "an asynchronous run needs a group of episodes (or an episode, where there are no groups) in every "
                f"update for each process; got {per_update} for {size} processes"
            )
        self.per_update, self.rank, self.size = per_update, rank, size
        self.again: list[int] = []
        self._further, self._begun = 0, 0

    def share(self, groups: int) -> int:
        """How many of so many groups this process plays."""
        return len(range(self.rank, groups, self.size))

    def next_number(self) -> int:
        """The next group that this process begins."""
        number = self._number(self._place(self._begun))
        self._begun += 1
        return number

    def _place(self, turn: int) -> int:
        update, nth = divmod(turn, self.share(self.per_update))
        return update * self.per_update + self.rank + nth * self.size

    def _owner(self, place: int) -> int:
        return place % self.per_update % self.size

    def _number(self, place: int) -> int:
        return self.again[place] if place < len(self.again) else self._further + place - len(self.again)

    # ------------------------------------------------------------------ checkpoints

    def begun(self, left: Sequence[int]) -> dict[str, Any]:
        """This process's part of a checkpoint; `left` are the groups that it has begun and that are left."""
        return asdict(Begun(self._place(self._begun - 1) + 1 if self._begun else 0, list(left)))

    def state_dict(self, parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """From the parts of all processes, in the order of their ranks: which groups are to begin again, and the number
        from which on none was begun. A process that is ahead leaves some behind that others have not begun yet; those
        are told among the first."""
        found = [Begun(**part) for part in parts]
        end = max([len(self.again), *(one.place for one in found)])
        behind = [self._number(place) for place in range(end) if place >= found[self._owner(place)].place]
        left = sorted([*behind, *(number for one in found for number in one.left)])
        return {"next": self._number(end), "begun": left}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Before the first group: go on where any number of processes stopped."""
        try:
            self._further, self.again = int(state["next"]), sorted(int(number) for number in state["begun"])
        except (KeyError, TypeError, ValueError) as error:
            raise ConfigError(f"this is not the state of asynchronous rollouts: {error!r}") from error
