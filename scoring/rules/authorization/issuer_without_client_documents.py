"""Rule `issuer-without-client-documents`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.access_scope import Access
from scoring.accessing import locked, looked, metadata
from scoring.outcome import Severity
from scoring.path import clip
from scoring.rule import Answer, rule, should


@rule(
    "issuer-without-client-documents",
    scope=Access,
    reads="access",
    severity=Severity.WARNING,
    title="An authorization server takes no client ID metadata documents",
    since="2026.2",
    version=1,
    checks=should("AUTH-10", "DE", "basic/authorization/client-registration#client-id-metadata-documents"),
    good=[locked(issuer=metadata())],
    bad=[
        locked(issuer=metadata(client_id_metadata_document_supported=False)),
        locked(issuer=metadata(client_id_metadata_document_supported=None)),
    ],
    unjudged=[looked(), locked()],
)
def issuer_without_client_documents(access: Access) -> Iterator[Answer]:
    """A client that never met a server has to register; by a client ID metadata document it does so best.

    They leave nothing behind at the authorization server; dynamic registration is deprecated since 2026-07-28. Announce
    them with `client_id_metadata_document_supported`.
    """
    for issuer, document in access.issuers:
        if document.get("client_id_metadata_document_supported") is not True:
            yield "client_id_metadata_document_supported", f"not true at {clip(issuer.issuer)}"
