"""Rule `resource-mime-type-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.listing import UNDEFINED
from scoring.engine.rule import rule
from scoring.example_builders.listing import build_resource
from scoring.results.outcome import Severity
from scoring.scopes.base import Resource
from scoring.text.javascript import is_truthy


@rule(
    "resource-mime-type-missing",
    scope=Resource,
    reads="listing",
    severity=Severity.INFO,
    title="Resource has no MIME type",
    remedy="Set `mimeType` of the resource in `resources/list`, for example to `text/plain`. No change is needed if "
    "the type is not known.",
    since="2026.1",
    version=1,
    fix=(build_resource(mimeType=UNDEFINED), build_resource()),
    good=[build_resource(mimeType=" ")],
    bad=[build_resource(mimeType=None)],
)
def resource_mime_type_missing(resource: Resource) -> Iterator[str]:
    """The MIME type lets a client render the content or pass it to the right program."""
    if not is_truthy(resource.get("mimeType")):
        yield "no mimeType"
