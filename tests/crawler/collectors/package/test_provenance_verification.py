"""Verified, failed and unverified are three outcomes: only a contradiction is a failure. Nothing is fetched.

What is verified was signed here, by an instance of Sigstore that is made at test time.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest

from crawler.collectors.package import provenance_verification
from crawler.collectors.package.provenance import read_npm_provenance, read_python_provenance
from crawler.collectors.package.provenance_verification import (
    UNVERIFIED,
    Verification,
    Verified,
    verify_npm_attestations,
    verify_python_attestations,
)
from tests.crawler.collectors.package.signing import Key, Sigstore, as_npm_answer, as_python_answer
from tests.servers.indexes.documents import PYPI_PUBLISH, SLSA

REPOSITORY: Final = "https://github.com/example/notes"
CONTENT: Final = b"what the index serves"
PYTHON_DIGEST: Final = ("sha256", hashlib.sha256(CONTENT).hexdigest())
INTEGRITY: Final = f"sha512-{base64.b64encode(hashlib.sha512(CONTENT).digest()).decode()}"
INSTANCE: Final = Sigstore()
TRUSTED: Final = INSTANCE.trusted_root()
needs_sigstore = pytest.mark.skipif(
    not provenance_verification.find_spec("sigstore"), reason="the extra `provenance` is not installed"
)


def unchanged(bundle: dict[str, Any]) -> None:
    """The bundle as it was signed."""


def npm_bundle(instance: Sigstore = INSTANCE) -> dict[str, Any]:
    """Of a package of npm: the provenance of its build."""
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [
            {"name": "pkg:npm/%40example/notes@1.0.0", "digest": {"sha512": hashlib.sha512(CONTENT).hexdigest()}}
        ],
        "predicateType": SLSA,
        "predicate": {"buildDefinition": {"externalParameters": {"workflow": {"repository": REPOSITORY}}}},
    }
    return instance.sign(statement, REPOSITORY)


def python_bundle(instance: Sigstore = INSTANCE) -> dict[str, Any]:
    """Of a file on PyPI: that its publisher uploaded it."""
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": "notes-1.0.0.tar.gz", "digest": {"sha256": PYTHON_DIGEST[1]}}],
        "predicateType": PYPI_PUBLISH,
        "predicate": None,
    }
    return instance.sign(statement, REPOSITORY)


def verify_both(edit: Callable[[dict[str, Any]], object], instance: Sigstore = INSTANCE) -> list[Verified]:
    """The results for the package of npm and the file on PyPI after an edit of their bundles."""
    npm, python = npm_bundle(instance), python_bundle(instance)
    edit(npm)
    edit(python)
    return [
        verify_npm_attestations(as_npm_answer(npm), INTEGRITY, TRUSTED),
        verify_python_attestations(as_python_answer(python), PYTHON_DIGEST, TRUSTED),
    ]


def other_statement(bundle: dict[str, Any]) -> None:
    text = base64.b64decode(bundle["dsseEnvelope"]["payload"]).replace(b"1.0.0", b"1.0.1")
    bundle["dsseEnvelope"]["payload"] = base64.b64encode(text).decode()


def other_signature(bundle: dict[str, Any]) -> None:
    bundle["dsseEnvelope"]["signatures"][0]["sig"] = base64.b64encode(b"x" * 70).decode()


def signature_of_another_key(bundle: dict[str, Any]) -> None:
    bundle["dsseEnvelope"]["signatures"] = python_bundle()["dsseEnvelope"]["signatures"]


def other_log(bundle: dict[str, Any]) -> None:
    key = base64.b64encode(b"x" * 32).decode()
    bundle["verificationMaterial"]["tlogEntries"][0]["logId"]["keyId"] = key


def other_entry(bundle: dict[str, Any]) -> None:
    bundle["verificationMaterial"]["tlogEntries"] = python_bundle()["verificationMaterial"]["tlogEntries"]


def other_certificate(bundle: dict[str, Any]) -> None:
    bundle["verificationMaterial"]["certificate"]["rawBytes"] = "AAAA"


def old_form(bundle: dict[str, Any]) -> None:
    bundle["verificationMaterial"]["tlogEntries"][0]["inclusionProof"] = None


@needs_sigstore
def test_a_signed_statement_about_the_file_is_verified_in_both_forms() -> None:
    assert verify_both(unchanged) == [Verified(Verification.VERIFIED, REPOSITORY)] * 2


@needs_sigstore
@pytest.mark.parametrize("edit", [other_statement, other_signature, signature_of_another_key])
def test_a_wrong_signature_fails(edit: Callable[[dict[str, Any]], object]) -> None:
    assert verify_both(edit) == [Verified(Verification.FAILED)] * 2


@needs_sigstore
def test_a_statement_about_another_file_fails() -> None:
    other = f"sha512-{base64.b64encode(b'0' * 64).decode()}"
    npm = verify_npm_attestations(as_npm_answer(npm_bundle()), other, TRUSTED)
    python = verify_python_attestations(as_python_answer(python_bundle()), ("sha256", "0" * 64), TRUSTED)
    assert npm == python == Verified(Verification.FAILED)


@needs_sigstore
def test_a_digest_of_another_algorithm_contradicts_nothing() -> None:
    other = f"sha384-{base64.b64encode(b'0' * 48).decode()}"
    npm = verify_npm_attestations(as_npm_answer(npm_bundle()), other, TRUSTED)
    python = verify_python_attestations(as_python_answer(python_bundle()), ("sha384", "0" * 96), TRUSTED)
    assert npm == python == UNVERIFIED


@needs_sigstore
@pytest.mark.parametrize("edit", [other_log, other_entry, other_certificate, old_form])
def test_what_the_roots_do_not_cover_is_no_failure(edit: Callable[[dict[str, Any]], object]) -> None:
    assert verify_both(edit) == [UNVERIFIED] * 2


@needs_sigstore
@pytest.mark.parametrize("part", ["authority", "certificate_log", "signature_log"])
def test_an_unknown_authority_or_log_is_no_failure(part: str) -> None:
    assert verify_both(unchanged, replace(INSTANCE, **{part: Key()})) == [UNVERIFIED] * 2


@needs_sigstore
def test_without_another_root_the_shipped_one_decides() -> None:
    assert provenance_verification._verifier(None)
    assert verify_npm_attestations(as_npm_answer(npm_bundle()), INTEGRITY) == UNVERIFIED
    assert verify_python_attestations(as_python_answer(python_bundle()), PYTHON_DIGEST) == UNVERIFIED


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
    assert verify_python_attestations(answer, PYTHON_DIGEST) == UNVERIFIED
    assert verify_npm_attestations(answer, "sha512-AAAA") == UNVERIFIED


@pytest.mark.parametrize("integrity", ["", "sha512", "sha512-", "sha512-%%%", "-AAAA"])
def test_without_a_digest_of_the_file_nothing_is_verified(integrity: str) -> None:
    assert verify_npm_attestations(as_npm_answer(npm_bundle()), integrity, TRUSTED) == UNVERIFIED
    assert verify_python_attestations(as_python_answer(python_bundle()), None, TRUSTED) == UNVERIFIED


def test_without_the_library_nothing_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance_verification, "find_spec", lambda _: None)
    assert verify_both(unchanged) == [UNVERIFIED] * 2


@needs_sigstore
def test_the_evidence_tells_the_outcomes_apart() -> None:
    answer = as_python_answer(python_bundle())
    read = read_python_provenance(answer, PYTHON_DIGEST, TRUSTED)
    assert (read["attested"], read["verification"], read["repository"]) == (True, "verified", REPOSITORY)
    assert read_python_provenance(answer, ("sha256", "0" * 64), TRUSTED)["verification"] == "failed"
    assert "verification" not in read_python_provenance({}, PYTHON_DIGEST, TRUSTED)
    manifest = {"dist": {"integrity": INTEGRITY}}
    assert read_npm_provenance(manifest, as_npm_answer(npm_bundle()), TRUSTED)["verification"] == "verified"
    assert "verification" not in read_npm_provenance({}, {}, TRUSTED)
