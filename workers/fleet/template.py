"""Loads everything that the processes of a fleet run. Imported by the process that they are forked from.

Most of the memory of an idle worker is code and rules, and most of its start is to import them.
"""

from __future__ import annotations

import importlib
import os
from typing import Final

os.setsid()  # before the seconds of imports: Ctrl-C reaches the supervisor only, which ends all others in order

_CELERY: Final = ("celery.bin.celery", "celery.apps.beat", "celery.apps.worker", "celery.worker.consumer")
_WORKERS: Final = (*_CELERY, "celery.concurrency.prefork", "kombu.transport.redis", "psycopg", "workers.tasks")
_HEALTH: Final = ("uvicorn.main", "workers.observability.health")
_SITE: Final = ("workers.cli.results.web", "workers.web.processes")

_extras = importlib.import_module("workers.cli.extras")
for _name in (*_WORKERS, *_HEALTH, *(() if _extras.SITE.find_missing() else _SITE)):
    importlib.import_module(_name)
importlib.import_module("workers.wiring.probe_modules").preload_probes()
importlib.import_module("workers.preload").preload_modules()
