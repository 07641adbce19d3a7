"""Rule `resource-name-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.examples import resource
from scoring.javascript import trim
from scoring.outcome import Severity
from scoring.rule import rule
from scoring.scope import Resource


@rule(
    "resource-name-missing",
    scope=Resource,
    reads="listing",
    severity=Severity.WARNING,
    title="Resource has no name",
    since="2026.1",
    version=1,
    good=[resource(name="today"), resource(name=" ")],
    bad=[resource(name=None), resource(name="")],
)
def resource_name_missing(resource: Resource, blank: bool = False) -> Iterator[str]:
    """Clients list resources by name. A URI alone tells a person little. With `blank`, white space is no name."""
    if not (trim(resource.name) if blank else resource.name):
        yield "no name"
