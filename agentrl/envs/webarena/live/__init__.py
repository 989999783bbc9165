"""Real sites in the place of the embedded ones: where they are, who the agent is there, logging in, resetting them."""
