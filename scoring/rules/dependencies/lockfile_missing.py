"""Rule `lockfile-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.outcome import Inapplicable, Severity
from scoring.project_scope import GITHUB
from scoring.rule import rule
from scoring.source_examples import locked
from scoring.supply_scope import Locked


@rule(
    "lockfile-missing",
    scope=Locked,
    reads="dependencies",
    severity=Severity.SUGGESTION,
    title="The project keeps no lockfile",
    since="2026.3",
    version=1,
    good=[
        locked(lockfile=True),
    ],
    bad=[
        locked(lockfile=False),
    ],
    unjudged=[
        locked(lockfile=False, origin="npm"),
    ],
)
def lockfile_missing(locked: Locked) -> Iterator[str]:
    """Without a lockfile nobody knows which versions the server was tested with, and every installation may get others.

    Commit the lockfile of your package manager.
    """
    if locked.origin != GITHUB:
        raise Inapplicable("packages leave lockfiles out")
    if not locked.seen.lockfile:
        yield "no lockfile in the server's folder or in the root"
