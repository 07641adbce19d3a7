"""Descriptions that tell a model and a person what a thing is for."""
