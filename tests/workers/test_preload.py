"""Processes of a worker find everything loaded, and their collector leaves it alone."""

from __future__ import annotations

import subprocess
import sys

from celery.signals import worker_init

from workers import celery_app

FORKED = """
import gc, os, sys
from workers.preload import preload_modules
preload_modules()
before = set(sys.modules)
from scoring.engine import catalogue
assert {"scoring.rubrics.adaptive", "structlog"} <= before and len(catalogue.list_rubrics()) > 5
assert gc.get_freeze_count() > 20_000, gc.get_freeze_count()
child = os.fork()
if child == 0:
    os._exit(0 if gc.get_freeze_count() > 20_000 and len(gc.get_objects()) < 10_000 else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_what_is_loaded_is_shared_and_left_alone() -> None:
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_worker_loads_it_before_it_forks() -> None:
    connected = [receiver() for _, receiver in worker_init.receivers]
    assert celery_app._warm in connected
