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
    """Write report.html of a training run: curves, episodes with pictures, timing. Works during the run too."""

    run: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RUN")]
    """The run folder."""


def run(arguments: Arguments) -> int:
    """Write the page, say where it is."""
    path = str(write_run_report(arguments.run).resolve())
    print_json({"schema": 1, "report": path}) if arguments.json else print(f"report: {path}")
    return 0
