"""WebArena-Lite: five web sites with tasks, an agent that browses them, and the benchmark's evaluators."""
