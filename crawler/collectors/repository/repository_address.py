"""The repository that a server declares in its registration or its package, and the host of that repository."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from crawler.addresses import UnusableAddress, normalise_folder, normalise_repository_url
from evidence.canonical import Json, NotJson
from evidence.kinds import package
from evidence.model import Dossier, Observed

_NAME: Final = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9_-]{0,99}))/([A-Za-z0-9._-]{1,100})")
_LONGEST_FOLDER: Final = 300

# First path segments at github.com that are no accounts, such as https://github.com/features/...
_PAGES: Final = frozenset({
    "about", "apps", "collections", "contact", "customer-stories", "enterprise", "events", "explore", "features",
    "login", "marketplace", "notifications", "orgs", "pricing", "search", "settings", "site", "sponsors", "stars",
    "topics", "trending", "users",
})  # fmt: skip
_ALIASES: Final = {"raw.githubusercontent.com": 0, "codeload.github.com": 0, "api.github.com": 1}
_FORGES: Final = {
    "gitlab.com": "GitLab", "codeberg.org": "Codeberg", "bitbucket.org": "Bitbucket", "gitee.com": "Gitee",
    "git.sr.ht": "SourceHut", "gist.github.com": "a gist", "dev.azure.com": "Azure DevOps",
    "huggingface.co": "Hugging Face",
}  # fmt: skip


class DeclaredRepository(Struct, frozen=True):
    """A repository on this GitHub: `OWNER/REPO` as declared, and the server's folder in it."""

    name: str
    subfolder: str | None = None


class OtherRepository(Struct, frozen=True):
    """No repository on this GitHub; `found` says what was declared instead."""

    found: str


def find_declared_repository(found: Dossier, host: str = "github.com") -> DeclaredRepository | OtherRepository:
    """The repository of a server on the GitHub at `host`: from the registration, else from its package."""
    others: list[OtherRepository] = []
    for address in _addresses(found):
        declared = _parse_address(address, host)
        if isinstance(declared, DeclaredRepository):
            return declared
        others.append(declared)
        if not declared.found.startswith("no repository"):
            break
    return others[0] if others else OtherRepository("no repository is declared")


def parse_repository_name(value: Json) -> str | None:
    """`OWNER/REPO` as GitHub allows it; None for anything else."""
    if not isinstance(value, str) or not (parts := _NAME.fullmatch(value)):
        return None
    return None if parts[2] in {".", ".."} or parts[2].lower().endswith(".git") else value


def _addresses(found: Dossier) -> Iterator[str]:
    if found.server.repository:
        yield found.server.repository
    content = found.read(package.KIND)
    if not isinstance(content, Observed):
        return
    try:
        stated = package.Package.parse(content.body).repository
    except NotJson:
        return
    if stated is not None:
        # npm's shorthand, in which the part after `#` is a commit and not a folder.
        url = (f"github:{stated.url}" if _NAME.fullmatch(stated.url) else stated.url).partition("#")[0]
        folder = _folder(stated.directory or "")
        yield f"{url}#{folder}" if folder else url


def _parse_address(address: str, host: str) -> DeclaredRepository | OtherRepository:
    try:
        url, _, folder = normalise_repository_url(address).partition("#")
    except UnusableAddress:
        return OtherRepository("no repository: what is declared is not the address of one")
    parts = urlsplit(url)
    repository_host = parts.hostname or ""
    steps = [step for step in unquote(parts.path).split("/") if step]
    if repository_host in _ALIASES and host == "github.com":
        repository_host, steps = host, steps[_ALIASES[repository_host] :]
    if repository_host != host:
        return OtherRepository(_describe_other_host(repository_host))
    name = parse_repository_name("/".join(steps[:2]))
    if name is None or steps[0].lower() in _PAGES:
        return OtherRepository("no repository: the address on GitHub is not that of one")
    return DeclaredRepository(name, _folder(folder))


def _describe_other_host(host: str) -> str:
    if host.endswith(".github.io"):
        return "no repository: the address is a page of GitHub Pages"
    forge = _FORGES.get(host) or ("GitLab" if host.startswith("gitlab.") else None)
    return f"the repository is on {forge} ({host})" if forge else f"the repository is on {host}"


def _folder(folder: str) -> str | None:
    try:
        return normalise_folder(folder)[:_LONGEST_FOLDER] or None
    except UnusableAddress:
        return None
