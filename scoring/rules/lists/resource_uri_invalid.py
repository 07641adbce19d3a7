"""Rule `resource-uri-invalid`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evidence.kinds.listing import UNDEFINED, Item
from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.listing import build_resource
from scoring.results.outcome import Inapplicable, Severity, Tolerated
from scoring.scopes.base import Resource
from scoring.text.uris import find_uri_flaw


@rule(
    "resource-uri-invalid",
    scope=Resource,
    reads="listing",
    severity=Severity.ERROR,
    title="The uri of a resource is not a URI",
    remedy="Set `uri` to a URI of RFC 3986 with a scheme, such as `file:///notes/today`. Percent-encode all "
    "characters that a URI does not allow, such as a space as `%20`.",
    since="2026.2",
    version=1,
    checks=must("RES-01", "ABCDE", "server/resources#custom-uri-schemes"),
    fix=(
        build_resource(uri="file:///notes/2026 plans.txt", name="plans", description="Plans of 2026."),
        build_resource(uri="file:///notes/2026%20plans.txt", name="plans", description="Plans of 2026."),
    ),
    good=[
        build_resource(uri="file:///notes/2026%20plans.txt"),
        build_resource(uri="memo:today"),
        build_resource(uri="git+ssh://[::1]:22/x?y#z"),
    ],
    bad=[
        build_resource(uri="notes/today"),
        build_resource(uri="file:///notes/2026 plans.txt"),
        build_resource(uri="memo://{topic}"),
        build_resource(uri="memo://100%"),
        build_resource(uri="memo://a#b#c"),
        build_resource(uri="memo://caf\u00e9"),
        build_resource(uri=UNDEFINED),
        build_resource(uri=7),
    ],
    unjudged=[Resource(item=Item("notes://today", 0))],
)
def resource_uri_invalid(resource: Resource) -> Iterator[Answer]:
    """The `uri` of a resource is a URI of RFC 3986: a scheme, a colon, and no spaces or braces.

    Clients parse it before they read the resource, and strict ones reject the whole list when they cannot.
    Percent-encode spaces and other characters. Characters outside ASCII are tolerated, because clients encode them.
    """
    if not isinstance(resource.item.raw, Mapping):
        raise Inapplicable("the resource is not an object")
    uri = resource.get("uri")
    if not isinstance(uri, str):
        yield "no uri"
    elif flaw := find_uri_flaw(uri):
        yield Tolerated(flaw.message) if flaw.tolerated else flaw.message
