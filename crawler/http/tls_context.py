"""TLS contexts that verify certificates in the same way on every version of Python."""

from __future__ import annotations

import ssl

import certifi


def create_tls_context(bundle: str | None = None) -> ssl.SSLContext:
    """A TLS context that verifies certificates with the authorities of a bundle, of the system, or bundled ones if it
    has none.

    From Python 3.13 on, default contexts also refuse certificates that violate RFC 5280 in ways that browsers, curl and
    Node.js accept, such as one without the key identifier of its authority. The outcome must not depend on that.
    """
    paths = ssl.get_default_verify_paths()
    usual = None if paths.cafile or paths.capath else certifi.where()
    context = ssl.create_default_context(cafile=bundle or usual)
    context.verify_flags = ssl.VERIFY_X509_TRUSTED_FIRST
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
