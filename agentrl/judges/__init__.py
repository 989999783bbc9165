"""Judges: objects that compare what an agent says with what is true. See `agentrl.core.judging` for the protocol."""
