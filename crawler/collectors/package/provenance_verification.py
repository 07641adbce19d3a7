"""Verifies attestations of npm and PyPI with the roots of trust that the library `sigstore` ships; nothing is fetched.

Only a contradiction is a failure: a signature that is not that of the statement, or a statement about another file.
What the roots do not cover (a newer log, an old form of bundle, a key in place of a certificate) stays unverified.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from itertools import islice
from typing import Any, Final

from msgspec import Struct

from crawler.collectors.package.document_fields import Members, as_object, as_repository_url
from evidence.canonical import Json, NotJson, parse_json
from evidence.json_members import objects_in, text_or_empty

_MOST: Final = 5
_STATEMENT: Final = 1 << 20
_IN_TOTO: Final = "application/vnd.in-toto+json"
_ROOT: Final = ("https%3A%2F%2Ftuf-repo-cdn.sigstore.dev", "trusted_root.json")
_WRONG_SIGNATURE: Final = "DSSE: invalid signature"
_DER_TEXT: Final = 0x0C


class Verification(StrEnum):
    """What is known for certain of an attestation."""

    VERIFIED = "verified"
    FAILED = "failed"


class Verified(Struct, frozen=True):
    """The result for one version, and the repository in the certificate of a verified attestation."""

    outcome: Verification | None = None
    repository: str | None = None


UNVERIFIED: Final = Verified()


def verify_npm_attestations(answer: Members, integrity: str, trusted_root: bytes | None = None) -> Verified:
    """Of the answer of the attestation endpoint; `integrity` is that of the version's file.

    `trusted_root` is the document of another instance of Sigstore, in place of the one that the library ships.
    """
    digest = _read_integrity(integrity)
    bundles = (one.get("bundle") for one in objects_in(answer.get("attestations")))
    return _verify((json.dumps(bundle) for bundle in bundles if isinstance(bundle, dict)), digest, trusted_root)


def verify_python_attestations(
    answer: Members, digest: tuple[str, str] | None, trusted_root: bytes | None = None
) -> Verified:
    """Of a PEP 740 provenance object; `digest` is that of the file that it is about."""
    listed = [one for bundle in objects_in(answer.get("attestation_bundles")) for one in _attestations(bundle)]
    return _verify(map(_to_bundle, listed), digest, trusted_root)


def _verify(bundles: Iterable[str], digest: tuple[str, str] | None, trusted_root: bytes | None) -> Verified:
    """Failed if one attestation contradicts the file, verified if one matches it."""
    if digest is None or find_spec("sigstore") is None:
        return UNVERIFIED
    results = [found for bundle in islice(bundles, _MOST) if (found := _verify_one(bundle, digest, trusted_root))]
    failed = next((one for one in results if one.outcome is Verification.FAILED), None)
    return failed or next(iter(results), UNVERIFIED)


def _verify_one(text: str, digest: tuple[str, str], trusted_root: bytes | None) -> Verified | None:
    from sigstore.errors import Error, VerificationError  # noqa: PLC0415  half a second to import
    from sigstore.models import Bundle  # noqa: PLC0415

    try:
        bundle = Bundle.from_json(text)
        kind, statement = _verifier(trusted_root).verify_dsse(bundle, _AnyIdentity())
    except VerificationError as error:
        return Verified(Verification.FAILED) if str(error).startswith(_WRONG_SIGNATURE) else None
    except (Error, ValueError):  # pydantic's errors are ValueErrors
        return None
    stated = set(_subjects(statement))
    if kind != _IN_TOTO or digest[0] not in {algorithm for algorithm, _ in stated}:
        return None  # nothing is said that the digest of the index can contradict
    if digest not in stated:
        return Verified(Verification.FAILED)
    return Verified(Verification.VERIFIED, _repository_of(bundle.signing_certificate))


class _AnyIdentity:
    """Every signer: the receipt names the repository, and a rule compares it."""

    def verify(self, cert: Any) -> None:
        """Accept the certificate, whose chain was verified."""


@cache
def _verifier(trusted_root: bytes | None) -> Any:
    from sigstore.models import TrustedRoot  # noqa: PLC0415
    from sigstore.verify import Verifier  # noqa: PLC0415
    from sigstore_models.trustroot import v1  # noqa: PLC0415

    root = trusted_root or files("sigstore._store").joinpath(*_ROOT).read_bytes()
    return Verifier(trusted_root=TrustedRoot(v1.TrustedRoot.from_json(root)))


def _subjects(statement: bytes) -> Iterator[tuple[str, str]]:
    """The digests of the files that a statement is about."""
    try:
        members = as_object(parse_json(statement, max_bytes=_STATEMENT))
    except NotJson:
        return
    for subject in objects_in(members.get("subject")):
        for algorithm, value in as_object(subject.get("digest")).items():
            yield algorithm, text_or_empty(value).lower()


def _repository_of(certificate: Any) -> str | None:
    """The repository from which the workflow ran: https://github.com/sigstore/fulcio/blob/main/docs/oid-info.md."""
    from cryptography.x509 import ExtensionNotFound, ObjectIdentifier  # noqa: PLC0415

    try:
        value = certificate.extensions.get_extension_for_oid(ObjectIdentifier("1.3.6.1.4.1.57264.1.12")).value.value
    except ExtensionNotFound:
        return None
    text = value[2:].decode("utf-8", "replace") if value[:1] == bytes([_DER_TEXT]) else ""
    found = as_repository_url(text)
    return str(found["url"]) if found else None


def _attestations(bundle: Members) -> list[Members]:
    return [as_object(one) for one in objects_in(bundle.get("attestations"))]


def _to_bundle(attestation: Members) -> str:
    """The attestation of PEP 740 as a bundle of sigstore, which has the same parts."""
    material, envelope = as_object(attestation.get("verification_material")), as_object(attestation.get("envelope"))
    signed: dict[str, Json] = {
        "payload": envelope.get("statement"),
        "payloadType": _IN_TOTO,
        "signatures": [{"sig": envelope.get("signature")}],
    }
    proof: dict[str, Json] = {
        "certificate": {"rawBytes": material.get("certificate")},
        "tlogEntries": material.get("transparency_entries"),
    }
    media = "application/vnd.dev.sigstore.bundle.v0.3+json"
    return json.dumps({"mediaType": media, "verificationMaterial": proof, "dsseEnvelope": signed})


def _read_integrity(text: str) -> tuple[str, str] | None:
    """Algorithm and hexadecimal digits of a Subresource Integrity value."""
    algorithm, _, value = text.partition("-")
    try:
        return (algorithm, base64.b64decode(value, validate=True).hex()) if algorithm and value else None
    except (binascii.Error, ValueError):
        return None
