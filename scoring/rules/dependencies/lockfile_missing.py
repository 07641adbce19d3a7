"""Rule `lockfile-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.source import REPOSITORIES
from scoring.engine.rule import rule
from scoring.example_builders.source_files import build_dependencies
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.supply_chain import Locked


@rule(
    "lockfile-missing",
    scope=Locked,
    reads="dependencies",
    severity=Severity.SUGGESTION,
    title="The project has no lockfile",
    remedy="Commit the lockfile of the package manager, for example `package-lock.json`, `uv.lock` or `Cargo.lock`, "
    "in the folder of the server or in the root of the repository.",
    since="2026.3",
    version=1,
    good=[build_dependencies(lockfile=True)],
    bad=[build_dependencies(lockfile=False), build_dependencies(lockfile=False, origin="project")],
    unjudged=[build_dependencies(lockfile=False, origin="npm")],
)
def lockfile_missing(locked: Locked) -> Iterator[str]:
    """Without a lockfile the tested versions are unknown, and each installation may get different ones.

    Commit the lockfile of your package manager.
    """
    if locked.origin not in REPOSITORIES:
        raise Inapplicable("packages leave lockfiles out")
    if not locked.seen.lockfile:
        yield "no lockfile in the folder of the server or in the root"
