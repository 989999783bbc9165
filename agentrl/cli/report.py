"""`agentrl report RUN`: the page about a training run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from agentrl.cli.arguments import Common
from agentrl.cli.output import print_json
from agentrl.viewer.run_report import write_run_report


@dataclass(kw_only=True)
class Arguments(Common):
    """Write report.html of a training run: curves, episodes, timing. Works during the run too.

    Only reads: nothing that the folder names is imported or run.
    """

    run: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RUN")]
    """The run folder."""
    replay: bool = False
    """Play episodes without pictures again to draw them. Builds the environments that the folder names, and reads their
    data files: for runs you trust."""


def run(arguments: Arguments) -> int:
    """Write the page, say where it is."""
    path = str(write_run_report(arguments.run, play_again=arguments.replay).resolve())
    print_json({"schema": 1, "report": path}) if arguments.json else print(f"report: {path}")
    return 0
