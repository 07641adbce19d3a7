"""Kind `package`: metadata of the npm or Python index for the first npm or PyPI package that the server declares.

Body, schema 1 (canonical JSON; null is always "not known", never "none"):

    {"ecosystem": "npm" | "PyPI", "name": STRING, "declared": VERSION | null, "exists": BOOL,
     "version": VERSION | null, "version_exists": BOOL, "latest": VERSION | null, "versions": INT | null,
     "first_published": TIME | null, "published": TIME | null, "latest_published": TIME | null,
     "deprecated": TEXT | null, "yanked": TEXT | null, "install_scripts": [STRING, ...] | null,
     "provenance": {"attested": BOOL, "repository": URL | null, "predicates": [URL, ...],
                    "verification": "verified" | "failed"} | null,
     "maintainers": [STRING, ...] | null, "licence": TEXT | null,
     "repository": {"url": URL, "directory": PATH | null} | null, "mcp_name": STRING | null,
     "has_readme": BOOL | null, "requires": TEXT | null}

`exists` is false for a name that the index does not know and for one that was unpublished; then `version_exists` is
false and everything else is null. `version` is the version that was examined: the declared one (for npm also a tag), or
the latest when none is declared. It is null, with all members of a version, when the declared version is not in the
index. `published` is the time of `version`, `latest_published` that of `latest`, `first_published` that of the oldest
version. Times are RFC 3339 as the index wrote them.

`deprecated` is npm's notice at the version, or the status of a Python project (`archived`, `deprecated`, `quarantined`)
with its reason. `yanked` is the reason ("" where none is given) when every file of a Python version is yanked.
`install_scripts` are those that npm runs when the package is installed as a dependency (`preinstall`, `install`,
`postinstall`; `binding.gyp` when only that makes npm build); for Python `build` when the version has no wheel, so that
its build code runs. `provenance` states that attestations are published; null when the index does not state it.
`verification` is `verified` when a certificate of sigstore signed a statement about the file of the index, and then
`repository` is that of the certificate; `failed` when a signature or the file contradicts it; it is missing when
neither is certain, because it could not be read, or the library is missing or does not know its form. `maintainers` are
names or accounts without addresses. `mcp_name` is `mcpName` of package.json, or `mcp-name:` in the description of a
Python package. `requires` is the range of Node or Python versions.

Absent(no_package): the server declares no npm or PyPI package; the detail names what it declares.

Observation: `looked_at`, the time of the lookup; `documents` (name of each document that was read, and its ETag),
`incomplete` (documents that could not be read), `archive` (the file of the version), `downloads` where the operator
configured a source.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from evidence.canonical import parse_json
from evidence.json_members import object_or_empty, read_members, text_or_none
from evidence.kinds.traits import Traits

KIND: Final = "package"
SCHEMA: Final = 1
TRAITS: Final = Traits(
    licence="Facts that the package index publishes, under the terms of that index.",
    # The other members hold addresses of the operator's index.
    public_observation=frozenset({"looked_at", "downloads"}),
    stands_with=KIND,
)

NPM: Final = "npm"
PYPI: Final = "PyPI"


class Provenance(Struct, frozen=True, kw_only=True):
    """The index's statement about where a version was built; `verification` is empty when it was not verified."""

    attested: bool
    repository: str | None = None
    predicates: tuple[str, ...] = ()
    verification: str = ""


class Repository(Struct, frozen=True, kw_only=True):
    """The source repository that a package declares: a URL, and a folder inside."""

    url: str
    directory: str | None = None


class Package(Struct, frozen=True, kw_only=True):
    """Typed, tolerant view of a package body. None is "not known"; for `yanked` and `deprecated` it is "no"."""

    ecosystem: str
    name: str
    exists: bool
    version_exists: bool
    declared: str | None = None
    version: str | None = None
    latest: str | None = None
    versions: int | None = None
    first_published: str | None = None
    published: str | None = None
    latest_published: str | None = None
    deprecated: str | None = None
    yanked: str | None = None
    install_scripts: tuple[str, ...] | None = None
    provenance: Provenance | None = None
    maintainers: tuple[str, ...] | None = None
    licence: str | None = None
    repository: Repository | None = None
    mcp_name: str | None = None
    has_readme: bool | None = None
    requires: str | None = None

    @staticmethod
    def parse(body: bytes) -> Package:
        """View over the body; raise NotJson when the bytes are not JSON."""
        members = object_or_empty(parse_json(body))
        provenance, repository = members.get("provenance"), object_or_empty(members.get("repository"))
        return read_members(
            Package,
            members,
            provenance=read_members(Provenance, provenance) if isinstance(provenance, Mapping) else None,
            repository=read_members(Repository, repository) if text_or_none(repository.get("url")) else None,
        )
