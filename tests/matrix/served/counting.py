"""Answers SIGUSR2 with the number of unfinished asyncio tasks, which grows with every session that stays open."""

from __future__ import annotations

import asyncio
import gc
import os
import signal


def answer_signals() -> None:
    """Write the number into the file that the environment names."""

    def write(*_: object) -> None:
        gc.collect()
        tasks = sum(isinstance(one, asyncio.Task) and not one.done() for one in gc.get_objects())
        path = os.environ["MATRIX_COUNT"]
        with open(path + ".new", "w") as file:
            file.write(str(tasks))
        os.replace(path + ".new", path)

    signal.signal(signal.SIGUSR2, write)
