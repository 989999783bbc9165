"""The options of `agentrl shop`, the short form of `agentrl site webshop`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(kw_only=True)
class SiteOptions:
    """Serve the shop that agents shop in as web pages, until interrupted: the same goals, search and score.

    Open the address that is printed in a browser on this machine.
    """

    split: str = "train"
    """Whose goals: train, dev or test."""
    catalogue_size: int = 10_000
    """Products of the generated shop, 1,000 to 1,180,000."""
    catalogue_seed: int = 0
    """Which generated shop."""
    data_dir: str = ""
    """A folder with the benchmark's own files, instead of a generated shop."""
    goals: str = "human"
    """Of the benchmark's files: human or synthetic."""
    max_turns: int = 100
    """Clicks and searches for each goal; agents have 15."""
    max_sessions: int = 100
    """How many people may shop at a time."""
    idle_minutes: float = 30.0
    """A visitor who does nothing for this long is forgotten."""
