"""One of several processes that print a run; `publish.datasets.printing` starts it."""

from __future__ import annotations

import sys

from publish.datasets.printing import serve

if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
