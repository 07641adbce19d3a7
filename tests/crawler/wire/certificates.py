"""Certificates made at test time."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Authority:
    """A certificate authority of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Fixture authority")])
        now = datetime.now(UTC)
        self._certificate = (
            x509.CertificateBuilder()
            .subject_name(self._name)
            .issuer_name(self._name)
            .public_key(self._key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=2))
            .not_valid_after(now + timedelta(days=2))
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
            .add_extension(_usage(authority=True), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.file = folder / "authority.pem"
        self.file.write_bytes(self._certificate.public_bytes(serialization.Encoding.PEM))

    def trusting(self) -> ssl.SSLContext:
        """A client context that trusts this authority."""
        return ssl.create_default_context(cafile=str(self.file))

    def issue(
        self, name: str = "localhost", *, expired: bool = False, has_key_identifier: bool = True
    ) -> tuple[Path, Path]:
        """Files of a certificate and its key for a host name."""
        key = ec.generate_private_key(ec.SECP256R1())
        now = datetime.now(UTC) - timedelta(days=1 if expired else 0)
        builder = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=12))
            .not_valid_after(now + timedelta(hours=12))
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(authority=False), critical=True)
        )
        if has_key_identifier:
            issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
            builder = builder.add_extension(issuer, critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        stem = f"{name}-{'expired' if expired else 'valid'}-{has_key_identifier}"
        files = self.folder / f"{stem}.pem", self.folder / f"{stem}.key"
        files[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        files[1].write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return files

    def serving(
        self, name: str = "localhost", *, expired: bool = False, has_key_identifier: bool = True
    ) -> ssl.SSLContext:
        """A server context with a certificate for a host name."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.issue(name, expired=expired, has_key_identifier=has_key_identifier))
        return context


def _usage(*, authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=authority,
        crl_sign=authority,
        encipher_only=False,
        decipher_only=False,
    )
