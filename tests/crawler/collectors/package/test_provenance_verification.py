"""Verified, failed and unverified are three outcomes: only a contradiction is a failure. Nothing is fetched.

`attestation.json` is the provenance object that PyPI publishes for `pypi_attestations-0.0.19.tar.gz`.
"""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crawler.collectors.package import provenance_verification
from crawler.collectors.package.provenance import read_npm_provenance, read_python_provenance
from crawler.collectors.package.provenance_verification import (
    UNVERIFIED,
    Verification,
    verify_npm_attestations,
    verify_python_attestations,
)

PUBLISHED: dict[str, Any] = json.loads((Path(__file__).with_name("attestation.json")).read_text("utf-8"))
SHA256 = "9bb1add04b1b4e182be6b0b80931593f7a291eb49d69b4fd728a5d4cbcdc4bd3"
REPOSITORY = "https://github.com/trailofbits/pypi-attestations"
needs_sigstore = pytest.mark.skipif(
    not provenance_verification.find_spec("sigstore"), reason="the extra `provenance` is not installed"
)


def changed(edit: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """The published object after an edit of its only attestation."""
    found = copy.deepcopy(PUBLISHED)
    edit(found["attestation_bundles"][0]["attestations"][0])
    return found


def as_npm() -> dict[str, Any]:
    """The same signed statement in the form in which npm publishes it."""
    (bundle,) = PUBLISHED["attestation_bundles"]
    text = provenance_verification._to_bundle(bundle["attestations"][0])
    return {"attestations": [{"predicateType": "x", "bundle": json.loads(text)}]}


def other_statement(attestation: dict[str, Any]) -> None:
    text = base64.b64decode(attestation["envelope"]["statement"]).replace(b"0.0.19", b"0.0.18")
    attestation["envelope"]["statement"] = base64.b64encode(text).decode()


def other_signature(attestation: dict[str, Any]) -> None:
    attestation["envelope"]["signature"] = base64.b64encode(b"x" * 70).decode()


def other_log(attestation: dict[str, Any]) -> None:
    key = base64.b64encode(b"x" * 32).decode()
    attestation["verification_material"]["transparency_entries"][0]["logId"]["keyId"] = key


def other_certificate(attestation: dict[str, Any]) -> None:
    attestation["verification_material"]["certificate"] = "AAAA"


def old_form(attestation: dict[str, Any]) -> None:
    attestation["verification_material"]["transparency_entries"][0]["inclusionProof"] = None


@needs_sigstore
def test_a_signed_statement_about_the_file_is_verified_in_both_forms() -> None:
    python = verify_python_attestations(PUBLISHED, ("sha256", SHA256))
    npm = verify_npm_attestations(as_npm(), f"sha256-{base64.b64encode(bytes.fromhex(SHA256)).decode()}")
    assert (python.outcome, python.repository) == (Verification.VERIFIED, REPOSITORY)
    assert npm == python


@needs_sigstore
@pytest.mark.parametrize("edit", [other_statement, other_signature])
def test_a_wrong_signature_fails(edit: Callable[[dict[str, Any]], object]) -> None:
    assert verify_python_attestations(changed(edit), ("sha256", SHA256)).outcome is Verification.FAILED


@needs_sigstore
def test_a_statement_about_another_file_fails() -> None:
    assert verify_python_attestations(PUBLISHED, ("sha256", "0" * 64)).outcome is Verification.FAILED


@needs_sigstore
@pytest.mark.parametrize("edit", [other_log, other_certificate, old_form])
def test_what_the_shipped_roots_do_not_cover_is_no_failure(edit: Callable[[dict[str, Any]], object]) -> None:
    assert verify_python_attestations(changed(edit), ("sha256", SHA256)) == UNVERIFIED


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"attestation_bundles": 5},
        {"attestation_bundles": [{"attestations": [{}, 3, {"envelope": [], "verification_material": "x"}]}]},
        {"attestations": [{"bundle": {}}, {"bundle": 3}, 3]},
        {"attestations": [{"bundle": {"dsseEnvelope": {"payload": "x" * 100_000}}}] * 100},
    ],
    ids=range(5),
)
def test_a_misshapen_answer_is_unverified(answer: dict[str, Any]) -> None:
    assert verify_python_attestations(answer, ("sha256", SHA256)) == UNVERIFIED
    assert verify_npm_attestations(answer, "sha512-AAAA") == UNVERIFIED


@pytest.mark.parametrize("integrity", ["", "sha512", "sha512-", "sha512-%%%", "-AAAA"])
def test_without_a_digest_of_the_file_nothing_is_verified(integrity: str) -> None:
    assert verify_npm_attestations(as_npm(), integrity) == UNVERIFIED
    assert verify_python_attestations(PUBLISHED, None) == UNVERIFIED


def test_without_the_library_nothing_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance_verification, "find_spec", lambda _: None)
    assert verify_python_attestations(PUBLISHED, ("sha256", SHA256)) == UNVERIFIED


@needs_sigstore
def test_the_evidence_tells_the_outcomes_apart() -> None:
    read = read_python_provenance(PUBLISHED, ("sha256", SHA256))
    assert (read["attested"], read["verification"], read["repository"]) == (True, "verified", REPOSITORY)
    assert read_python_provenance(PUBLISHED, ("sha256", "0" * 64))["verification"] == "failed"
    assert "verification" not in read_python_provenance({}, ("sha256", SHA256))
    assert "verification" not in read_npm_provenance({}, {})
