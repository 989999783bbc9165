"""The command line: `agentrl VERB`, one file per verb."""
