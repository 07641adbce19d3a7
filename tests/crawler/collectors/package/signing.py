"""A small instance of Sigstore made at test time: certificate authority, certificate log, log of signatures.

The forms are those of RFC 6962 (timestamps and tree), of Fulcio's certificates and of Rekor's entries.
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from cryptography import x509
from cryptography.hazmat import asn1
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from tests.servers.indexes.documents import SLSA

SIGNED_AT: Final = datetime(2026, 11, 1, 12, tzinfo=UTC)
_ISSUED_AT: Final = SIGNED_AT - timedelta(seconds=5)
_IN_TOTO: Final = "application/vnd.in-toto+json"
_TIMESTAMPS: Final = x509.ObjectIdentifier("1.3.6.1.4.1.11129.2.4.2")
_FULCIO: Final = "1.3.6.1.4.1.57264.1"
_NAME: Final = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Fixture authority")])
_REKOR: Final = "rekor.invalid"


class Key:
    """An ECDSA key, and its names in the forms of Sigstore."""

    def __init__(self) -> None:
        self.private = ec.generate_private_key(ec.SECP256R1())
        self.public = self.private.public_key()
        self.der = self.public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        self.id = hashlib.sha256(self.der).digest()

    def sign(self, data: bytes) -> bytes:
        return self.private.sign(data, ec.ECDSA(hashes.SHA256()))


@dataclass(frozen=True)
class Sigstore:
    """The three keys that a client trusts; `dataclasses.replace` makes an instance that shares the others."""

    authority: Key = field(default_factory=Key)
    certificate_log: Key = field(default_factory=Key)
    signature_log: Key = field(default_factory=Key)

    def trusted_root(self) -> bytes:
        """The document that a client gets of this instance."""
        authority = {
            "subject": {"organization": "fixture", "commonName": "Fixture authority"},
            "uri": "https://fulcio.invalid",
            "certChain": {"certificates": [{"rawBytes": _text(_root(self.authority).public_bytes(Encoding.DER))}]},
            "validFor": {"start": _stamp(SIGNED_AT - timedelta(days=1))},
        }
        return json.dumps(
            {
                "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
                "tlogs": [_log_instance(f"https://{_REKOR}", self.signature_log)],
                "certificateAuthorities": [authority],
                "ctlogs": [_log_instance("https://ctlog.invalid", self.certificate_log)],
            }
        ).encode()

    def sign(self, statement: Mapping[str, Any], repository: str) -> dict[str, Any]:
        """The bundle of a statement that a workflow of the repository signed."""
        payload, signer = json.dumps(statement).encode(), Key()
        signature = signer.sign(b"DSSEv1 %d %s %d %s" % (len(_IN_TOTO), _IN_TOTO.encode(), len(payload), payload))
        certificate = self._certify(signer, repository)
        return {
            "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
            "verificationMaterial": {
                "certificate": {"rawBytes": _text(certificate.public_bytes(Encoding.DER))},
                "tlogEntries": [self._enter(payload, signature, certificate)],
            },
            "dsseEnvelope": {
                "payload": _text(payload),
                "payloadType": _IN_TOTO,
                "signatures": [{"sig": _text(signature)}],
            },
        }

    def _certify(self, signer: Key, repository: str) -> x509.Certificate:
        """A certificate for ten minutes, with the timestamp of the certificate log over the same without it."""
        draft = _leaf(signer, self.authority, repository)
        entry = draft.sign(self.authority.private, hashes.SHA256()).tbs_certificate_bytes
        time = struct.pack("!Q", int(_ISSUED_AT.timestamp() * 1000))
        signed = b"".join(
            [b"\0\0", time, b"\0\1", self.authority.id, struct.pack("!I", len(entry))[1:], entry, b"\0\0"]
        )
        signature = self.certificate_log.sign(signed)
        stamp = b"".join([b"\0", self.certificate_log.id, time, b"\0\0", b"\4\3", _counted(signature)])
        value = asn1.encode_der(_counted(_counted(stamp)))
        stamped = draft.add_extension(x509.UnrecognizedExtension(_TIMESTAMPS, value), critical=False)
        return stamped.sign(self.authority.private, hashes.SHA256())

    def _enter(self, payload: bytes, signature: bytes, certificate: x509.Certificate) -> dict[str, Any]:
        """The second entry of the log, with its promise, its proof of inclusion and a signed checkpoint."""
        body = _entry_body(payload, signature, certificate)
        before = hashlib.sha256(b"\0the entry before").digest()
        root = hashlib.sha256(b"\1" + before + hashlib.sha256(b"\0" + body).digest()).digest()
        time = int(SIGNED_AT.timestamp())
        log = self.signature_log
        promised = {"body": _text(body), "integratedTime": time, "logID": log.id.hex(), "logIndex": 1}
        note = f"{_REKOR} - 1\n2\n{_text(root)}\n"
        checkpoint = f"{note}\n\N{EM DASH} {_REKOR} {_text(log.id[:4] + log.sign(note.encode()))}\n"
        return {
            "logIndex": "1",
            "logId": {"keyId": _text(log.id)},
            "kindVersion": {"kind": "dsse", "version": "0.0.1"},
            "integratedTime": str(time),
            "inclusionPromise": {"signedEntryTimestamp": _text(log.sign(_canonical(promised)))},
            "inclusionProof": {
                "logIndex": "1",
                "rootHash": _text(root),
                "treeSize": "2",
                "hashes": [_text(before)],
                "checkpoint": {"envelope": checkpoint},
            },
            "canonicalizedBody": _text(body),
        }


def as_npm_answer(bundle: Mapping[str, Any]) -> dict[str, Any]:
    """What the attestation endpoint of npm answers."""
    return {"attestations": [{"predicateType": SLSA, "bundle": bundle}]}


def as_python_answer(bundle: Mapping[str, Any]) -> dict[str, Any]:
    """The same bundle as a provenance object of PEP 740."""
    material, envelope = bundle["verificationMaterial"], bundle["dsseEnvelope"]
    attestation = {
        "version": 1,
        "envelope": {"statement": envelope["payload"], "signature": envelope["signatures"][0]["sig"]},
        "verification_material": {
            "certificate": material["certificate"]["rawBytes"],
            "transparency_entries": material["tlogEntries"],
        },
    }
    return {"version": 1, "attestation_bundles": [{"attestations": [attestation]}]}


def _root(key: Key) -> x509.Certificate:
    return (
        _certificate(key, key, timedelta(days=1))
        .subject_name(_NAME)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public), critical=False)
        .add_extension(_usage(authority=True), critical=True)
        .sign(key.private, hashes.SHA256())
    )


def _leaf(signer: Key, authority: Key, repository: str) -> x509.CertificateBuilder:
    """The workflow's identity is the subject, and what its token says is in Fulcio's extensions."""
    workflow = f"{repository}/.github/workflows/release.yml@refs/heads/main"
    builder = (
        _certificate(signer, authority, timedelta())
        .subject_name(x509.Name([]))
        .add_extension(_usage(authority=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CODE_SIGNING]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public), critical=False)
        .add_extension(x509.SubjectAlternativeName([x509.UniformResourceIdentifier(workflow)]), critical=True)
    )
    claims = {8: "https://token.actions.githubusercontent.com", 9: workflow, 12: repository, 14: "refs/heads/main"}
    for number, claim in claims.items():
        name = x509.ObjectIdentifier(f"{_FULCIO}.{number}")
        builder = builder.add_extension(x509.UnrecognizedExtension(name, asn1.encode_der(claim)), critical=False)
    return builder


def _certificate(key: Key, issuer: Key, sooner: timedelta) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .issuer_name(_NAME)
        .public_key(key.public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(_ISSUED_AT - sooner)
        .not_valid_after(_ISSUED_AT + timedelta(minutes=10))
    )


def _usage(*, authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=authority,
        crl_sign=authority,
        encipher_only=False,
        decipher_only=False,
    )


def _log_instance(url: str, key: Key) -> dict[str, Any]:
    public = {
        "rawBytes": _text(key.der),
        "keyDetails": "PKIX_ECDSA_P256_SHA_256",
        "validFor": {"start": _stamp(SIGNED_AT - timedelta(days=1))},
    }
    return {"baseUrl": url, "hashAlgorithm": "SHA2_256", "publicKey": public, "logId": {"keyId": _text(key.id)}}


def _entry_body(payload: bytes, signature: bytes, certificate: x509.Certificate) -> bytes:
    signed = {"signature": _text(signature), "verifier": _text(certificate.public_bytes(Encoding.PEM))}
    digest = {"algorithm": "sha256", "value": hashlib.sha256(payload).hexdigest()}
    spec = {"envelopeHash": digest, "payloadHash": digest, "signatures": [signed]}
    return _canonical({"apiVersion": "0.0.1", "kind": "dsse", "spec": spec})


def _canonical(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _counted(data: bytes) -> bytes:
    return struct.pack("!H", len(data)) + data


def _stamp(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
