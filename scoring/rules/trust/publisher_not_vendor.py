"""Rule `publisher-not-vendor`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.project import build_publisher
from scoring.results.outcome import Severity, Undecided
from scoring.scopes.publisher import Publisher
from scoring.text.evidence_path import clip_text


@rule(
    "publisher-not-vendor",
    scope=Publisher,
    reads="registration",
    severity=Severity.SUGGESTION,
    title="The publisher of the server is not the vendor of its service",
    remedy="No change is needed if you are not the vendor of the service; otherwise register the server under the "
    "domain of the service, e.g. `com.example/notes` for a remote at `example.com`.",
    since="2026.3",
    version=2,
    good=[
        build_publisher(remote="https://mcp.example.com/"),
        build_publisher("io.github.acme/acme-mcp", owner={"login": "acme", "type": "Organization"}),
    ],
    bad=[
        build_publisher(
            "io.github.someone/slack", owner={"login": "someone", "type": "User"}, repository="someone/slack"
        )
    ],
    unjudged=[
        build_publisher(),
        build_publisher("io.github.acme/slack", owner={"login": "acme", "type": "Organization"}),
    ],
)
def publisher_not_vendor(publisher: Publisher, known_account: bool = False) -> Iterator[str]:
    """Register the server under the domain of its service: a vendor maintains it, and a volunteer may stop.

    A publisher counts as the vendor when the domain of the name, or of the owner of the repository, is that of the
    remote, or when the server has the name of the organisation that publishes it. A repository of a person counts as a
    volunteer's. Other publishers are not judged. With `known_account`, a verified organisation and a domain without a
    foreign remote are vendors, an account counts as related to a service whose name or package has its name, and every
    other known account as a volunteer's.
    """
    if publisher.is_vendor:
        return
    if known_account and publisher.account and not publisher.is_person:
        if not publisher.is_tied:
            yield f"the account {clip_text(publisher.account)} has no known relation to the service"
        return
    if not publisher.is_person:
        raise Undecided("the relation of the publisher to the service is unknown")
    yield "the repository belongs to a person without a known relation to the service"
