"""Describes which evidence a run could not collect because its machine was offline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from evidence.kinds import advisories, listing, package, repository, source
from evidence.model import Reason

_COUNTED: Final = (
    (listing.KIND, "listing"),
    (package.KIND, "package index"),
    (repository.KIND, "repository"),
    (source.KIND, "source"),
    (advisories.KIND, "advisories"),
)
"""One kind for each service: the other kinds of the service are absent with it."""


def describe_outage(absent: Mapping[tuple[str, str], int]) -> str:
    """One sentence from the number of records by kind and outcome; empty when this machine was online."""
    missing = {name: absent.get((kind, Reason.COLLECTOR_OFFLINE.value), 0) for kind, name in _COUNTED}
    parts = [f"{name} of {count}" for name, count in missing.items() if count]
    if not parts:
        return ""
    servers = "server" if len(parts) == 1 and parts[0].endswith(" of 1") else "servers"
    return (
        f"Hallmark was offline for a part of this run and did not collect: {', '.join(parts)} {servers}. "
        "The servers are not the cause, and no score changes."
    )
