"""SVG reconstruction: the environment, its targets, their truth, and the sandbox that draws what a model wrote."""
