"""Tasks: the benchmark's JSON schema, templates that generate tasks for the embedded sites, task files."""
