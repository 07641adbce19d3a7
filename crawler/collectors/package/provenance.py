"""Published provenance of a package build: npm provenance and PEP 740, and the result of its verification."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from crawler.collectors.package.document_fields import Members, as_exact_text, as_object, as_repository_url, as_web_url
from crawler.collectors.package.provenance_verification import (
    Verified,
    verify_npm_attestations,
    verify_python_attestations,
)
from evidence.canonical import Json, NotJson, parse_json

_MOST: Final = 20  # attestations of one version
_STATEMENT: Final = 1 << 20
_FORGES: Final = {"GitHub": "https://github.com/", "GitLab": "https://gitlab.com/"}


def empty_provenance() -> dict[str, Json]:
    """The index supports provenance, and there is none."""
    return {"attested": False, "repository": None, "predicates": []}


def has_npm_attestations(manifest: Members) -> bool | None:
    """Whether the version has attestations; None when this index does not pass on that information.

    Every version has the registry's `signatures` in `dist`, so a `dist` without them was cut down by a mirror.
    """
    dist = as_object(manifest.get("dist"))
    if isinstance(dist.get("attestations"), Mapping):
        return True
    return False if isinstance(dist.get("signatures"), list) else None


def read_npm_provenance(manifest: Members, answer: Members, trusted_root: bytes | None = None) -> dict[str, Json]:
    """From the version's `dist.attestations` and the answer of the attestation endpoint, empty when there was none."""
    integrity = as_object(manifest.get("dist")).get("integrity")
    verified = verify_npm_attestations(answer, integrity if isinstance(integrity, str) else "", trusted_root)
    announced = as_object(as_object(as_object(manifest.get("dist")).get("attestations")).get("provenance"))
    bundles = [as_object(entry) for entry in _list(answer.get("attestations"))]
    statements = [
        _statement(as_object(as_object(entry.get("bundle")).get("dsseEnvelope")).get("payload")) for entry in bundles
    ]
    types = (announced.get("predicateType"), *(entry.get("predicateType") for entry in bundles))
    found = (_slsa_repository(as_object(statement.get("predicate"))) for statement in statements)
    return _attested(types, found, verified)


def read_python_provenance(
    answer: Members, digest: tuple[str, str] | None, trusted_root: bytes | None = None
) -> dict[str, Json]:
    """From a PEP 740 provenance object, empty when it could not be read; `digest` is that of its file."""
    bundles = [as_object(entry) for entry in _list(answer.get("attestation_bundles"))]
    statements = [
        _statement(as_object(as_object(entry).get("envelope")).get("statement"))
        for bundle in bundles
        for entry in _list(bundle.get("attestations"))
    ]
    found = (_publisher_repository(as_object(bundle.get("publisher"))) for bundle in bundles)
    types = (statement.get("predicateType") for statement in statements)
    return _attested(types, found, verify_python_attestations(answer, digest, trusted_root))


def _attested(types: Iterable[Json], repositories: Iterator[str | None], verified: Verified) -> dict[str, Json]:
    predicates = sorted({name for value in types if (name := as_web_url(value))})
    return {
        "attested": True,
        "repository": verified.repository or next((url for url in repositories if url), None),
        "predicates": list[Json](predicates[:_MOST]),
        **({"verification": verified.outcome.value} if verified.outcome else {}),
    }


def _slsa_repository(predicate: Members) -> str | None:
    """The source repository in a SLSA statement: https://slsa.dev/spec/v1.0/provenance, or 0.2."""
    parameters = as_object(as_object(predicate.get("buildDefinition")).get("externalParameters"))
    current = as_object(parameters.get("workflow")).get("repository")
    older = as_object(as_object(predicate.get("invocation")).get("configSource")).get("uri")
    for text in (current, older):
        if isinstance(text, str) and (found := as_repository_url(text.partition("@refs/")[0])):
            return str(found["url"])
    return None


def _publisher_repository(publisher: Members) -> str | None:
    forge = _FORGES.get(as_exact_text(publisher.get("kind"), 40) or "")
    path = as_exact_text(publisher.get("repository"), 400)
    found = as_repository_url(forge + path) if forge and path else None
    return str(found["url"]) if found else None


def _statement(payload: Json) -> Members:
    if not isinstance(payload, str) or len(payload) > _STATEMENT:
        return {}
    try:
        return as_object(parse_json(base64.b64decode(payload), max_bytes=_STATEMENT))
    except (binascii.Error, ValueError, NotJson):
        return {}


def _list(value: Json) -> list[Json]:
    return value[:_MOST] if isinstance(value, list) else []
