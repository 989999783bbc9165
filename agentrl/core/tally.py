"""How far two raters agree: the running count that audits and comparisons of judges share."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Tally:
    """How far two judges agree on what both have scored."""

    threshold: float = 0.5
    table: list[list[int]] = field(default_factory=lambda: [[0, 0], [0, 0]])  # [first good][second good]
    difference: float = 0.0  # summed

    def add(self, first: float, second: float) -> bool:
        """Count a pair of scores; True when they fall on the same side of the threshold."""
        sides = first >= self.threshold, second >= self.threshold
        self.table[sides[0]][sides[1]] += 1
        self.difference += abs(first - second)
        return sides[0] == sides[1]

    @property
    def count(self) -> int:
        """Pairs so far."""
        return sum(map(sum, self.table))

    @property
    def rate(self) -> float | None:
        """Share of pairs on the same side of the threshold."""
        return (self.table[0][0] + self.table[1][1]) / self.count if self.count else None

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa: agreement beyond chance. None while both judges know only one side, and nothing follows."""
        if not self.count:
            return None
        (bad, first_bad), (first_good, good) = self.table
        rows, columns = (bad + first_bad, first_good + good), (bad + first_good, first_bad + good)
        chance = sum(row * column for row, column in zip(rows, columns, strict=True)) / self.count**2
        return None if chance == 1 else ((bad + good) / self.count - chance) / (1 - chance)

    @property
    def mean_difference(self) -> float | None:
        """Of the scores, absolute."""
        return self.difference / self.count if self.count else None

    def to_json(self) -> dict[str, float | int | None]:
        """The figures by name."""
        return {
            "audited": self.count,
            "agreement": self.rate,
            "disagreements": self.table[0][1] + self.table[1][0],
            "mean_abs_difference": self.mean_difference,
            "kappa": self.kappa,
        }
