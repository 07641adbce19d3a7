"""Rule `resource-name-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.listing import UNDEFINED
from scoring.engine.rule import rule
from scoring.example_builders.listing import build_resource
from scoring.results.outcome import Severity
from scoring.scopes.base import Resource
from scoring.text.javascript import trim_whitespace


@rule(
    "resource-name-missing",
    scope=Resource,
    reads="listing",
    severity=Severity.WARNING,
    title="Resource has no name",
    remedy="Set `name` of the resource to a short text that identifies it for users, such as `Notes of today`.",
    since="2026.1",
    version=1,
    fix=(build_resource(name=UNDEFINED), build_resource()),
    good=[build_resource(name=" ")],
    bad=[build_resource(name=None), build_resource(name="")],
)
def resource_name_missing(resource: Resource, blank: bool = False) -> Iterator[str]:
    """Clients list resources by name, and a URI alone is hard to understand.
    With `blank`, a name that consists of white space counts as missing.
    """
    if not (trim_whitespace(resource.name) if blank else resource.name):
        yield "no name"
