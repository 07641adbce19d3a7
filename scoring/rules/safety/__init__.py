"""Texts of a server that manipulate a model, and tools without safeguards."""
