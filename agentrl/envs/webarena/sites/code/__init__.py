"""The code host: projects with files and history, issues, merge requests, groups, members."""
