"""The vocabulary every other part of agentrl speaks: environments, states, snapshots, faults."""
