"""Readers of registries, one module for each registry shape; each yields pages of ServerRef."""
