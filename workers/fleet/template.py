"""Everything that the processes of a fleet run, loaded once. Imported by the process that they are forked from.

Most of the memory of an idle worker is code and rules, and most of its start is to import them.
"""

from __future__ import annotations

import importlib
import os
from typing import Final

from workers.cli.extras import SITE
from workers.preload import preload_modules
from workers.wiring.probe_modules import preload_probes

_CELERY: Final = ("celery.bin.celery", "celery.apps.beat", "celery.apps.worker", "celery.worker.consumer")
_WORKERS: Final = (*_CELERY, "celery.concurrency.prefork", "kombu.transport.redis", "psycopg", "workers.tasks")
_HEALTH: Final = ("uvicorn.main", "workers.observability.health")
_SITE: Final = ("workers.cli.results.web", "workers.web.processes")

os.setsid()  # Ctrl-C and a terminal that closes reach the supervisor only, which ends all others in order
for _name in (*_WORKERS, *_HEALTH, *(() if SITE.find_missing() else _SITE)):
    importlib.import_module(_name)
preload_probes()
preload_modules()
