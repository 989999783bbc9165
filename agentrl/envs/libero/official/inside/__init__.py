"""What runs in LIBERO's own interpreter, and imports nothing of agentrl."""
