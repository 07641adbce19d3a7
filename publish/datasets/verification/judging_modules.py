"""Importing this loads all that judges servers, for the process from which workers are forked."""

from __future__ import annotations

from publish.datasets.verification import verify
from publish.preloading import preload_rules

__all__ = ["verify"]

preload_rules()
