"""The body of an access record: documents are spliced in byte for byte, the rest is our own canonical JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from crawler.collectors.protocol.access.access_challenge import AccessDecision, AccessRequest
from crawler.collectors.protocol.access.authorization_metadata import (
    MASK,
    IssuerMetadata,
    MetadataAttempt,
    mask_document,
    mask_url,
)
from crawler.collectors.protocol.json_splicing import JsonText, Spliced, encode_json
from crawler.http.authentication_challenges import Challenge
from crawler.secret_masking import mask_secrets
from evidence.canonical import Json
from evidence.kinds.access import ACCEPTED
from evidence.model import Target

_LONGEST_VALUE: Final = 2048
# Different in every answer, or secret by definition.
_VOLATILE: Final = frozenset(
    {"nonce", "nextnonce", "cnonce", "opaque", "rspauth", "response", "ticket", "request_id", "trace_id", "token"}
    | {"request-id", "trace-id", "correlation-id", "correlation_id", "timestamp", "invoice", "macaroon", "state"}
)
_ADDRESSES: Final = frozenset(
    {"resource_metadata", "error_uri", "as_uri", "authorization_uri", "resource", "resource_id"}
)


class AccessFindings(Struct, frozen=True):
    """Everything that was found about the access to one server."""

    target: Target
    decision: AccessDecision
    requests: tuple[AccessRequest, ...]
    resource: tuple[MetadataAttempt, ...]
    issuers: tuple[IssuerMetadata, ...]
    bogus: AccessRequest | None
    metadata_cut: bool


def access_body(findings: AccessFindings) -> bytes:
    """The bytes of schema 1 (evidence/kinds/access.py)."""
    gate = findings.decision.gate
    versions = {one.era: one.version for one in findings.requests if one.opened and one.step != "sse-open"}
    cut = [*(["challenges"] if _cut(findings.decision) else []), *(["metadata"] if findings.metadata_cut else [])]
    return encode_json(
        {
            "registered": mask_url(findings.target.identifier),
            "class": findings.decision.access.value,
            "gate": _gate(findings.decision),
            "versions": versions,
            "answers": [_answer(one) for one in findings.requests],
            "challenges": [_challenge(one) for one in gate.challenges] if gate else [],
            "resource_metadata": [_attempt(one) for one in findings.resource],
            "authorization_servers": [_issuer(one) for one in findings.issuers],
            "bogus": _bogus(findings.bogus) if findings.bogus else None,
            "cut": cut,
        }
    )


def _gate(decision: AccessDecision) -> Json:
    if decision.gate is None or decision.refusal is None:
        return None
    reason, detail = decision.refusal.reason.value, decision.refusal.detail
    return {
        "step": decision.gate.step,
        "era": decision.gate.era,
        "status": decision.gate.reply.status,
        "reason": reason,
        "detail": detail,
    }


def _answer(one: AccessRequest) -> Json:
    refusal = one.refusal
    outcome = refusal.reason.value if refusal else "open"
    return {"step": one.step, "era": one.era, "status": one.reply.status, "outcome": outcome}


def _challenge(challenge: Challenge) -> Json:
    return {
        "scheme": challenge.scheme,
        "token68": bool(challenge.token68),
        "parameters": {name: _value(name, value) for name, value in challenge.parameters},
    }


def _value(name: str, value: str) -> str:
    if name in _VOLATILE:
        return MASK
    shown = mask_url(value) if name in _ADDRESSES else mask_secrets(value)
    return shown[:_LONGEST_VALUE]


def _cut(decision: AccessDecision) -> bool:
    """Whether a header of the deciding answer reached the length at which the HTTP client stops keeping it."""
    headers = decision.gate.reply.exchange.headers if decision.gate else ()
    return any(name == "www-authenticate" and len(value) >= _LONGEST_VALUE for name, value in headers)


def _bogus(one: AccessRequest) -> Json:
    refusal = one.refusal
    outcome, detail = (refusal.reason.value, refusal.detail) if refusal else (ACCEPTED, "")
    return {"step": one.step, "status": one.reply.status, "outcome": outcome, "detail": detail}


def _attempt(attempt: MetadataAttempt) -> Mapping[str, Spliced]:
    failure = attempt.failure
    return {
        "by": attempt.by,
        "url": attempt.url,
        "status": attempt.status,
        "location": attempt.location,
        "document": JsonText(mask_document(attempt.document)) if attempt.document is not None else None,
        "problem": attempt.problem,
        "failure": {"reason": failure.reason.value, "detail": failure.detail} if failure else None,
    }


def _issuer(issuer: IssuerMetadata) -> Mapping[str, Spliced]:
    attempts = [_attempt(one) for one in issuer.attempts]
    return {"issuer": issuer.issuer, "layout": issuer.layout, "attempts": attempts}
