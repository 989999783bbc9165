"""What maintainers run from a checkout: learning experiments, speed of trainers, engines and judges, the peers.

`agentrl bench NAME` finds them here. Each speed benchmark has `run(quick) -> dict` in the JSON form that is printed.
"""
