"""Rule `resource-description-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.listing import UNDEFINED
from scoring.engine.rule import rule
from scoring.example_builders.listing import build_resource
from scoring.results.outcome import Severity
from scoring.scopes.base import Resource


@rule(
    "resource-description-missing",
    scope=Resource,
    reads="listing",
    severity=Severity.WARNING,
    title="Resource has no description",
    remedy="Add a `description` to the resource in `resources/list` that states what the resource contains, for "
    "example `Notes of one day`.",
    since="2026.1",
    version=1,
    fix=(build_resource(description=UNDEFINED), build_resource()),
    good=[build_resource(description="Notes of one day.")],
    bad=[build_resource(description=None), build_resource(description=" ")],
)
def resource_description_missing(resource: Resource) -> Iterator[str]:
    """Clients show the description so that a user or a model can decide whether to read the resource."""
    if not resource.description:
        yield "no description"
