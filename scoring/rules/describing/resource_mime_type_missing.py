"""Rule `resource-mime-type-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.examples import resource
from scoring.javascript import truthy
from scoring.outcome import Severity
from scoring.rule import rule
from scoring.scope import Resource


@rule(
    "resource-mime-type-missing",
    scope=Resource,
    reads="listing",
    severity=Severity.INFO,
    title="Resource has no MIME type",
    since="2026.1",
    version=1,
    good=[resource(mimeType="text/plain"), resource(mimeType=" ")],
    bad=[resource(mimeType=None)],
)
def resource_mime_type_missing(resource: Resource) -> Iterator[str]:
    """The MIME type lets a client render the content or hand it to the right reader."""
    if not truthy(resource.get("mimeType")):
        yield "no mimeType"
