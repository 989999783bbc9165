"""A small grammar of English about places on a grid; `agentrl.judges.rule.read` puts its steps together."""
