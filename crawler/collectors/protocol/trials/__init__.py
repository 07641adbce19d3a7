"""Trial calls of tools: which tools may be called, their arguments, and what the record keeps of a result."""
