"""Commands of an operator: registries, sandbox, opt-outs, disputes, claims, tokens, keys, retention, diagnosis."""
