"""Finds proofs that tie a server's publisher to the tested server. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evidence.kinds import package, registration, repository
from evidence.kinds.package import Package
from evidence.kinds.registration import Registration
from evidence.kinds.repository import Repository
from publish.badges.evidence_agreement import EvidenceReader
from scoring.text import domains

VERIFYING_REGISTRIES: Final = frozenset({"official"})
"""Registries that let only the owner of a domain or an account register names in its namespace."""

PROOF_DESCRIPTION: Final = (
    "proofs of who publishes it: control that was proven to us; a name in a verified namespace of the domain that "
    "serves it; a package and a repository that both belong to what the registry names"
)

_ACCOUNTS: Final = "io.github."


def find_publisher_proofs(look: EvidenceReader, *, controlled: bool) -> tuple[str, ...]:
    """Each proof in words. Hidden evidence is no proof."""
    return tuple(_ties(look, controlled))


def _ties(look: EvidenceReader, controlled: bool) -> Iterator[str]:
    if controlled:
        yield "control of the server was proven"
    entry = look.parsed(registration.KIND, Registration.parse)
    if entry is None or not entry.refs or entry.refs[0].get("registry") not in VERIFYING_REGISTRIES:
        return
    name = entry.text("name")
    domain = domains.domain_of_namespace(name)
    if domain and domains.domain_of_url(look.dossier.server.ref) == domain:
        yield f"{domain}, which the registry verified, serves it"
    if _is_linked(look, entry, name):
        yield "package, repository and registry name each other"


def _is_linked(look: EvidenceReader, entry: Registration, name: str) -> bool:
    """Whether the package declares the registered name, and its repository is the registered one and exists.

    A name of an account has to be of the account that the repository belongs to.
    """
    found = look.parsed(package.KIND, Package.parse)
    hosted = look.parsed(repository.KIND, Repository.parse)
    if found is None or hosted is None or not found.exists or found.mcp_name != name or found.repository is None:
        return False
    declared = entry.text("repository.url", "repository")
    if _path(found.repository.url) != _path(declared) or _path(declared) not in {
        hosted.name.lower(),
        _requested_name(hosted),
    }:
        return False
    account = name.partition("/")[0].lower()
    return not account.startswith(_ACCOUNTS) or account == _ACCOUNTS + hosted.owner.login.lower()


def _requested_name(hosted: Repository) -> str:
    return (hosted.asked or "").lower()


def _path(url: str) -> str:
    """`owner/name` of a repository's address, in lower case."""
    plain = url.lower().removeprefix("git+").partition("#")[0].rstrip("/").removesuffix(".git")
    return "/".join(plain.replace(":", "/").split("/")[-2:])
