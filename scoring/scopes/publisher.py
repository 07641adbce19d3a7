"""The scope `Publisher`: who publishes a server, and which service it is for, as far as evidence ties them together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import ClassVar, Final

from evidence.kinds import registration
from evidence.kinds.package import NPM, Package
from evidence.kinds.registration import Registration
from evidence.kinds.repository import Repository
from scoring.scopes.base import Scope
from scoring.text import domains

_ORGANIZATION: Final = "Organization"
_PERSON: Final = "User"
_WORD: Final = re.compile(r"[a-z0-9]+")
_GITHUB: Final = re.compile(r"io\.github\.([^/]+)/", re.IGNORECASE)
_SHORTEST: Final = 3
"""Names shorter than this are found in too many others to tie anything together."""


class Publisher(Scope, frozen=True, kw_only=True, dict=True):
    """A registration with its repository and its package, as far as they are known."""

    reads: ClassVar[str] = registration.KIND
    registration: Registration
    repository: Repository | None = None
    package: Package | None = None

    @cached_property
    def services(self) -> frozenset[str]:
        """The domains of the declared remotes."""
        found = (domains.domain_of_url(_text(remote.raw.get("url"))) for remote in self.registration.remotes)
        return frozenset(domain for domain in found if domain)

    @cached_property
    def sites(self) -> frozenset[str]:
        """Domains that the publisher controls: of the name, which registries verify, and of a verified owner."""
        owner = self.repository.owner if self.repository else None
        website = domains.domain_of_url(owner.website) if owner and (owner.verified or owner.type == _PERSON) else ""
        return frozenset(domain for domain in (domains.domain_of_namespace(self._name), website) if domain)

    @cached_property
    def accounts(self) -> frozenset[str]:
        """Accounts of the publisher: the repository's organisation and the package's npm scope."""
        found: set[str] = set()
        if self.is_organisation and self.repository:
            found.add(_plain(self.repository.owner.login))
        if self.package and self.package.exists and self.package.ecosystem == NPM and self.package.name.startswith("@"):
            found.add(_plain(self.package.name[1:].partition("/")[0]))
        return frozenset(account for account in found if len(account) >= _SHORTEST)

    @property
    def is_organisation(self) -> bool:
        return self.repository is not None and self.repository.owner.type == _ORGANIZATION

    @property
    def is_person(self) -> bool:
        """Whether the repository belongs to a person and the registration names no other publisher."""
        return (
            self.repository is not None
            and self.repository.owner.type == _PERSON
            and not domains.domain_of_namespace(self._name)
        )

    @property
    def is_vendor(self) -> bool:
        """Whether the publisher is the service: the same domain, or an account with the service's name."""
        if self.sites & self.services:
            return True
        owned = {_plain(domains.organisation_label(domain)) for domain in self.services}
        return bool(self.accounts & owned) or any(self._is_named_after(account) for account in self._names())

    @property
    def account(self) -> str:
        """The account or domain that publishes: of the name, which registries verify, or of the repository."""
        if domain := domains.domain_of_namespace(self._name):
            return domain
        named = _GITHUB.match(self._name)
        return named[1] if named else self.repository.owner.login if self.repository else ""

    @property
    def is_tied(self) -> bool:
        """Whether the account is a verified organisation's, a domain of its own, or bears the name of the service."""
        if domains.domain_of_namespace(self._name):
            return not self.services
        if self.is_organisation and self.repository and self.repository.owner.verified:
            return True
        path = _plain(self._name.partition("/")[2])
        site = _plain(domains.organisation_label(domains.domain_of_url(self.registration.text("websiteUrl"))))
        known = _plain(self.account)
        return len(known) >= _SHORTEST and (known in path or known == site or any(one in path for one in self.accounts))

    def _names(self) -> Iterator[str]:
        """Names of the publishing organisation that may be part of the server's name."""
        if self.is_organisation and self.repository:
            yield self.repository.owner.login
        if domain := domains.domain_of_namespace(self._name):
            yield domains.organisation_label(domain)

    def _is_named_after(self, account: str) -> bool:
        """Whether the words of the account are part of the server's name: `github` in `github-mcp-server`."""
        plain = _plain(account)
        path = self._name.partition("/")[2] or self._name
        words = [*_words(path), *_words(self.repository.name.partition("/")[2] if self.repository else "")]
        return len(plain) >= _SHORTEST and plain in words

    @property
    def _name(self) -> str:
        return self.registration.text("name")


def _words(name: str) -> list[str]:
    return _WORD.findall(name.lower())


def _plain(name: str) -> str:
    return "".join(_words(name))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
