"""An example of a family of agentrl environments in a package of its own: guess a number."""
