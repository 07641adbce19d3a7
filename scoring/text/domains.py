"""Registered domains of host names, as names of organisations."""

from __future__ import annotations

from typing import Final

from scoring.text.origins import parse_origin
from scoring.text.words import parse_word_list

_SECOND_LEVEL: Final = frozenset({"ac", "co", "com", "edu", "gov", "net", "or", "org"})
"""Second-level labels of country registries, as in example.co.uk."""

_COUNTRY: Final = 2

_SHARED: Final = parse_word_list(
    """
    amazonaws.com azurewebsites.net cloudfunctions.net fly.dev github.com github.io gitlab.com gitlab.io glama.ai
    herokuapp.com hf.space netlify.app ngrok.app ngrok.io onrender.com pages.dev pipedream.net railway.app render.com
    replit.app run.app smithery.ai supabase.co vercel.app workers.dev x.com youtube.com
    """
)
"""Shared hosting domains, which identify no organisation."""


def domain_of_url(url: str | None) -> str:
    """The registered domain of a URL in lower case; empty without one, for an IP address and for shared hosting."""
    origin = parse_origin(url if url and "://" in url else f"https://{url or ''}")
    return domain_of_host(origin.host) if origin else ""


def domain_of_host(host: str) -> str:
    """The registered domain of a host name; empty for an IP address, a single label and shared hosting."""
    labels = host.lower().strip(".").split(".")
    if len(labels) < 2 or not all(labels) or labels[-1].isdigit() or ":" in host:
        return ""
    below = len(labels[-1]) == _COUNTRY and labels[-2] in _SECOND_LEVEL
    domain = ".".join(labels[-3:] if below else labels[-2:])
    return "" if domain in _SHARED else domain


def domain_of_namespace(name: str) -> str:
    """The domain of a reverse-DNS name such as `com.example/notes`; empty for accounts of shared hosts and others."""
    namespace, slash, _ = name.partition("/")
    labels = namespace.lower().split(".")
    return (
        domain_of_host(".".join(reversed(labels)))
        if slash and len(labels) > 1 and labels[:2] != ["io", "github"]
        else ""
    )


def organisation_label(domain: str) -> str:
    """The first label of a domain: `example` of example.co.uk."""
    return domain.partition(".")[0]
