"""Loads what every process of a worker needs before they are forked."""

from __future__ import annotations

from publish.preloading import preload_rules
from workers.log import get_log


def preload_modules(**_: object) -> None:
    """Load what all processes forked from this one share. Takes the arguments of any signal of Celery."""
    get_log()  # structlog, which the first event would load in each of them
    preload_rules()
