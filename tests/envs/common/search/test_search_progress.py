"""The progress bar of a build leaves the user's random numbers alone."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import random
random.seed(5)
expected = random.getstate()
from agentrl.envs.common.search.build import progress_bar
with progress_bar() as show:
    show("reading", 1, 2)
assert random.getstate() == expected
"""


def test_the_first_bar_does_not_draw_from_the_global_generator() -> None:
    subprocess.run([sys.executable, "-c", SCRIPT], check=True, timeout=120)
