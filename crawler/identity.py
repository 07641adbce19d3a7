"""Canonical identity: which registry entries are the same server, and which of them is authoritative.

Two entries are the same server when their first targets have the same address. The merged server takes its name,
targets and repository from the most trusted entry only, so that a registration can never add anything to a server
that another party registered (docs/decisions/0002).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

from crawler.addresses import (
    UnusableAddress,
    normalise_bundle_url,
    normalise_npm_name,
    normalise_plain_name,
    normalise_pypi_name,
    normalise_repository_url,
    normalise_url,
    parse_oci_reference,
)
from evidence.model import Server, ServerRef, Status, Target, TargetType

# The operator's own documents (`file:...`) come before anything that is downloaded.
_TRUST: Final = {"starter": 1, "official": 2, "docker": 3}
_OWN_DOCUMENTS: Final = 0
_OTHER_REGISTRY: Final = 4
_STATUS_ORDER: Final = {Status.ACTIVE: 0, Status.DEPRECATED: 1, Status.DELETED: 2, Status.INVALID: 3}

_SPELLINGS: Final[Mapping[TargetType, tuple[str, Callable[[str], str]]]] = {
    TargetType.STREAMABLE_HTTP: ("", normalise_url),
    TargetType.SSE: ("", normalise_url),
    TargetType.NPM: ("npm:", normalise_npm_name),
    TargetType.PYPI: ("pypi:", normalise_pypi_name),
    TargetType.OCI: ("oci:", lambda name: parse_oci_reference(name).repository),
    TargetType.NUGET: ("nuget:", lambda name: normalise_plain_name(name).lower()),
    TargetType.CARGO: ("cargo:", lambda name: normalise_plain_name(name).lower().replace("_", "-")),
    TargetType.MCPB: ("mcpb:", normalise_bundle_url),
}


def canonical_ref(ref: ServerRef) -> str:
    """The canonical reference of an entry: its first target's address, else its repository, else its own name."""
    own_name = f"entry:{ref.registry}/{ref.name}"
    if ref.status is Status.INVALID:
        return own_name
    for target in ref.targets[:1]:
        try:
            return target_ref(target)
        except UnusableAddress:
            return own_name
    if ref.repository:
        try:
            return "repo:" + normalise_repository_url(ref.repository)
        except UnusableAddress:
            return own_name
    return own_name


def target_ref(target: Target) -> str:
    """The canonical reference of one target; raise UnusableAddress when its identifier does not match its type."""
    spelling = _SPELLINGS.get(target.type)
    if spelling is None:
        raise UnusableAddress("a command has no address that others could share")
    prefix, normalise = spelling
    return prefix + normalise(target.identifier)


def merge_references(refs: Sequence[ServerRef]) -> Server:
    """One server from all refs with the same canonical reference; their order does not matter.

    Everything but `seen_in` comes from the most trusted ref: not deleted before deleted, then by registry, then a
    name whose namespace owns the address, then status and name.
    """
    ref = canonical_ref(refs[0])
    if strangers := {canonical_ref(other) for other in refs} - {ref}:
        raise ValueError(f"refs of one server expected, found {ref} and {min(strangers)}")
    leader = order_by_trust(refs, ref)[0]
    alive = [other for other in refs if other.status not in {Status.DELETED, Status.INVALID}]
    return Server(
        ref=ref,
        name=leader.name,
        targets=leader.targets,
        repository=leader.repository,
        seen_in=tuple(sorted({other.registry for other in alive or refs})),
    )


def order_by_trust(refs: Sequence[ServerRef], canonical: str) -> list[ServerRef]:
    """The refs of one server, the most trusted first; the order of `refs` does not matter."""
    return sorted(refs, key=lambda ref: _distrust(ref, canonical))


def _distrust(ref: ServerRef, canonical: str) -> tuple[bool, bool, int, bool, int, str, str, str, bytes, str]:
    """A total order: equal only for refs that define the same server."""
    return (
        ref.status is Status.INVALID,
        ref.status is Status.DELETED,
        _registry_rank(ref.registry),
        not owns_address(ref.name, canonical),
        _STATUS_ORDER[ref.status],
        ref.registry,
        ref.name,
        ref.version,
        ref.entry,
        repr((ref.targets, ref.repository)),
    )


def _registry_rank(registry: str) -> int:
    if registry.startswith("file:"):
        return _OWN_DOCUMENTS
    return _TRUST.get(registry, _OTHER_REGISTRY)


def owns_address(name: str, canonical: str) -> bool:
    """Whether the reverse-DNS namespace of a name contains the address: `com.example/x` and
    `https://mcp.example.com/mcp`.

    `io.github.user` contains the user's pages, packages in the user's npm scope and the user's repositories.
    """
    labels = name.partition("/")[0].lower().split(".")
    if len(labels) < 2:
        return False
    if canonical.startswith(("https://", "http://")):
        host = urlsplit(canonical).hostname or ""
        domain = ".".join(reversed(labels))
        return host == domain or host.endswith("." + domain)
    if labels[:2] != ["io", "github"] or len(labels) != 3:
        return False
    user = labels[2]
    return canonical.lower().startswith(
        (
            f"npm:@{user}/",
            f"repo:https://github.com/{user}/",
            f"oci:ghcr.io/{user}/",
            f"mcpb:https://github.com/{user}/",
        )
    )
