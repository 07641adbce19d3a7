"""Access of an installation to private package indexes: the relay adds the user's credentials outside of the box.

For an index with credentials the relay ends the TLS connection of the box with a certificate of its own, which only
this box trusts, and opens one to the index. The box sees neither the credentials nor the key of that certificate.
"""

from __future__ import annotations

import re
import ssl
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from msgspec import Struct, field

from crawler.http.tls_context import create_tls_context
from crawler.sandbox.toolchain.index_credentials import IndexCredentials
from crawler.sandbox.toolchain.package_indexes import Endpoint

_VALID: Final = (datetime(2020, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC))
"""Longer than any clock is wrong; what ends the use of a certificate is the loss of its key."""
_ISSUER: Final = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Hallmark, one installation")])
_SIGNS_CERTIFICATES: Final = x509.KeyUsage(
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=False,
    encipher_only=False,
    decipher_only=False,
)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_OURS: Final = frozenset({"authorization", "connection"})


class Authority(Struct):
    """A certificate authority for one installation; its key is in the memory of this process only.

    Its certificates have what RFC 5280 (4.2.1) demands, since Python 3.13 and later accept no others.
    """

    _key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    _contexts: dict[str, ssl.SSLContext] = field(default_factory=dict)

    def certificate(self) -> bytes:
        """The certificate that a box trusts, as PEM."""
        made = (
            self._build(_ISSUER, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
            .add_extension(_SIGNS_CERTIFICATES, critical=True)
        )
        return made.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    def context(self, host: str) -> ssl.SSLContext:
        """The server's side of TLS for a host."""
        if host not in self._contexts:
            self._contexts[host] = self._make_context(host)
        return self._contexts[host]

    def _make_context(self, host: str) -> ssl.SSLContext:
        key = ec.generate_private_key(ec.SECP256R1())
        names = x509.SubjectAlternativeName([x509.DNSName(host)])
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host[:64])])
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        issued = self._build(name, key.public_key()).add_extension(names, critical=False)
        issued = issued.add_extension(issuer, critical=False)
        pem = issued.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
        form = serialization.PrivateFormat.PKCS8
        pem += key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with tempfile.NamedTemporaryFile() as file:  # OpenSSL reads keys from files only; it is ours alone
            file.write(pem)
            file.flush()
            context.load_cert_chain(file.name)
        return context

    def _build(self, subject: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(_ISSUER)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(_VALID[0])
            .not_valid_after(_VALID[1])
        )


class PrivateIndexes(Struct):
    """The private indexes of one installation. `bundle`: the authorities that the user trusts."""

    credentials: IndexCredentials
    bundle: Path
    authority: Authority = field(default_factory=Authority)

    def covers(self, endpoint: Endpoint) -> bool:
        """Whether requests to an endpoint may need credentials."""
        return self.credentials.covers((endpoint.scheme, endpoint.host, endpoint.port))

    def trusted_by_box(self) -> bytes:
        """The certificate bundle of the box."""
        return self.bundle.read_bytes() + b"\n" + self.authority.certificate()

    @property
    def upstream(self) -> ssl.SSLContext:
        """The client's side of TLS to an index, verified as the user's tools do."""
        return create_tls_context(str(self.bundle))

    def authorise(self, head: bytes, endpoint: Endpoint) -> bytes | None:
        """A request for a path with the credentials of its address; None for one that changes something, or that a
        server could read as one to another host or path.
        """
        line, *lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
        method, _, rest = line.partition(" ")
        path = rest.partition(" ")[0]
        fields = [(each.partition(":")[0].strip().lower(), each) for each in lines]
        hosts = {each.partition(":")[2].strip().lower() for name, each in fields if name == "host"}
        is_plain = method in {"GET", "HEAD"} and _is_plain_path(path) and not _CONTROL.search("".join([line, *lines]))
        if not is_plain or not hosts or hosts - _names(endpoint):
            return None
        kept = [each for name, each in fields if name not in _OURS and not name.startswith("proxy-")]
        header = self.credentials.find_header(f"{endpoint.scheme}://{_authority(endpoint)}{path}")
        added = [f"Authorization: {header}"] if header else []
        return "\r\n".join([line, *kept, *added, "Connection: close", "", ""]).encode("latin-1")


def _is_plain_path(path: str) -> bool:
    """Whether a path stays where it begins: an index could read `..` as the way to another path."""
    parts = re.split(r"[/\\;]", unquote(path.partition("?")[0]))
    return path.startswith("/") and not {".", ".."} & set(parts)


def _authority(endpoint: Endpoint) -> str:
    host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
    return f"{host}:{endpoint.port}"


def _names(endpoint: Endpoint) -> set[str]:
    """The Host headers of an endpoint."""
    usual = {"https": 443, "http": 80}[endpoint.scheme]
    full = _authority(endpoint)
    return {full, full.rpartition(":")[0]} if endpoint.port == usual else {full}
