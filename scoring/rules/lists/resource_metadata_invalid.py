"""Rule `resource-metadata-invalid`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from scoring.engine.rule import Answer, info, rule
from scoring.example_builders.listing import build_resource, build_template
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.base import ListedResource
from scoring.text.evidence_path import clip_text

_WORD: Final = r"[A-Za-z0-9!#$&^_.+-]{1,127}"
_MIME: Final = re.compile(rf"{_WORD}/{_WORD}(?:\s*;\s*{_WORD}=(?:{_WORD}|\"[^\"]*\"))*")
_MOMENT: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?")


@rule(
    "resource-metadata-invalid",
    scope=ListedResource,
    reads="listing",
    severity=Severity.SUGGESTION,
    title="The size, type or time of a resource or template is not valid",
    remedy="Set `size` to an integer of at least 0, `mimeType` to a type and subtype such as `text/markdown`, "
    "and `lastModified` to an ISO 8601 time such as `2026-07-28T10:00:00Z`.",
    since="2026.3",
    version=2,
    checks=info("RES-05", "ABCDE", "server/resources#resource"),
    fix=(build_resource(mimeType="markdown", size=-1), build_resource(mimeType="text/markdown", size=2048)),
    good=[
        build_resource(
            size=0, mimeType="text/markdown; charset=utf-8", annotations={"lastModified": "2026-07-28T10:00:00Z"}
        ),
        build_template(mimeType="text/markdown"),
        build_resource(mimeType="application/vnd.example+json", annotations={"lastModified": "2026-07-28"}),
    ],
    bad=[
        build_resource(size=-1),
        build_resource(mimeType="markdown"),
        build_resource(mimeType="text/"),
        build_resource(annotations={"lastModified": "yesterday"}),
        build_template(mimeType="text"),
    ],
    unjudged=[build_template(), build_resource(size="7", mimeType=None, annotations=[])],
)
def resource_metadata_invalid(resource: ListedResource) -> Iterator[Answer]:
    """The size counts bytes, `mimeType` has a type and a subtype, and `lastModified` is a time of ISO 8601.

    A client that cannot read them ignores them, or shows the resource in a wrong place. The published schema defines
    only their JSON types (`result-breaks-schema`), so the check is for information only.
    """
    annotations = resource.get("annotations")
    modified = annotations.get("lastModified") if isinstance(annotations, Mapping) else None
    size, kind = resource.get("size"), resource.get("mimeType")
    has_size = isinstance(size, int) and not isinstance(size, bool)
    if not has_size and not isinstance(kind, str) and not isinstance(modified, str):
        raise Inapplicable("no size, type or time")
    if isinstance(size, int) and has_size and size < 0:
        yield f"the size is {size}"
    if isinstance(kind, str) and kind.strip() and not _MIME.fullmatch(kind.strip()):
        yield f"mimeType is {clip_text(kind, 60)}, a type and a subtype expected"
    if isinstance(modified, str) and not _MOMENT.fullmatch(modified):
        yield f"lastModified is {clip_text(modified, 40)}, a time of ISO 8601 expected"
