"""Lockfiles of Python packages: requirements, Pipenv, PDM, Poetry, uv."""
