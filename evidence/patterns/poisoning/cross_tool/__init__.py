"""Patterns of instructions from one tool about another tool: shadowing, chaining, interference and takeover."""
