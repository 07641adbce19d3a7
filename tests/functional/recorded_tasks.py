"""The Celery application with a gate, which writes each task and its argument to the file that `TASKS` names."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from celery.signals import task_prerun

from tests.functional.gated_servers import app

__all__ = ["app", "read_tasks"]


def read_tasks(file: Path) -> list[tuple[str, str]]:
    """The tasks of the workers that wrote to this file, and the argument of each."""
    lines = [line.split() for line in file.read_text().splitlines()]
    return [(task, argument) for task, argument in lines]


def _write(task: Any = None, args: Sequence[str] = (), **_: object) -> None:
    with Path(os.environ["TASKS"]).open("a") as file:
        file.write(f"{task.name.removeprefix('hallmark.')} {args[0] if args else '-'}\n")


task_prerun.connect(_write)
