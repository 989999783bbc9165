"""Benchmarks as commands: `agentrl bench NAME` measures ours and the peers in one run and prints ratios.

Each module has `run(quick) -> dict` in the JSON form that the command line prints.
"""

BENCHMARKS = {"grid": "agentrl.benchmarks.grid"}
