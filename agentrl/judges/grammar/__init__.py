"""A small grammar of English about places on a grid; `agentrl.judges.english` puts its steps together."""
