"""An export worker process, started by `publish.datasets.rows.export_workers`."""

from __future__ import annotations

import sys

from evidence.garbage import collect_garbage_rarely
from publish.datasets.rows.export_workers import serve_worker

if __name__ == "__main__":
    collect_garbage_rarely()
    serve_worker(sys.stdin.buffer, sys.stdout.buffer)
