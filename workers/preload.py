"""Loads what every process of a worker needs before they are forked."""

from __future__ import annotations

from publish.preloading import preload_rules


def preload_modules(**_: object) -> None:
    """Load what all processes forked from this one share. Takes the arguments of any signal of Celery."""
    preload_rules()
