"""Templates of tasks for the embedded sites: a folder a site, and those that need several sites."""
