"""What must be so after a night, whatever happened during it."""

from __future__ import annotations

from collections import Counter

from evidence.store import Stage
from tests.functional.processes import NIGHTLY, comparable, differing, opened


def wrong(url: str, undisturbed: bytes) -> list[str]:
    """Everything that is not as after an undisturbed night; empty when nothing is."""
    found: list[str] = []
    with opened(url) as store:
        found += [f"store: {fault}" for fault in store.verify()]
        runs = [row.run.id for row in store.list_runs()]
        if runs != [NIGHTLY]:
            found.append(f"runs: {runs}")
        for stage in (Stage.COLLECT, Stage.SCORE):
            if left := store.list_pending_servers(NIGHTLY, stage):
                found.append(f"{len(left)} did not pass {stage}: {left[:3]}")
    differences = differing(comparable(url, NIGHTLY), undisturbed)
    kinds = Counter(difference.split(" ", 2)[1] for difference in differences)
    return found + [f"{number} servers differ in {kind}" for kind, number in kinds.items()] + differences[:5]
