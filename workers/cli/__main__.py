"""`python -m workers.cli` is `hallmark`."""

from __future__ import annotations

from workers.cli.app import main

main()
