"""Builds the scopes of evidence outside the server: project, package, files, dependencies and publisher."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, TypeVar

from evidence.kinds import advisories, dependencies, drift, package, registration, repository, secrets, source
from evidence.kinds.advisories import Advisories
from evidence.kinds.dependencies import Dependencies
from evidence.kinds.drift import Drift
from evidence.kinds.package import Package
from evidence.kinds.registration import Registration
from evidence.kinds.repository import Repository
from evidence.kinds.secrets import Secrets
from evidence.kinds.source import Source
from evidence.model import Absent, Dossier, Reason
from scoring.results.outcome import Skipped
from scoring.scopes import source_files, supply_chain
from scoring.scopes.base import Scope
from scoring.scopes.project import Project, Published, evidence_moment
from scoring.scopes.publisher import Publisher
from scoring.scopes.source_files import Code, Readme, Variable, Workflow
from scoring.scopes.supply_chain import Audit, Drifted, Locked, Searched

View = TypeVar("View")

_KINDS: Final = (advisories, dependencies, drift, package, registration, repository, secrets, source)
_GONE: Final = re.compile(r"\b(404|410|451)\b")


def build_scopes(wanted: type[Scope], dossier: Dossier, *, with_repository: bool = True) -> tuple[Scope, ...]:
    """Build the things of one of SCOPES; the dossier must hold the kind that the scope reads (or the source)."""
    return SCOPES[wanted](dossier) if with_repository or wanted is not Project else (_project(dossier, None),)


def list_skipped(wanted: type[Scope], dossier: Dossier) -> tuple[Skipped, ...]:
    """The parts of the evidence for one of SCOPES that could not be read."""
    if wanted is Audit and (seen := _view(dossier, advisories.KIND, Advisories.parse)):
        return supply_chain.list_skipped_dependencies(seen, whole=_is_whole(dossier))
    if wanted is Searched and (searched := _view(dossier, secrets.KIND, Secrets.parse)):
        return supply_chain.list_skipped_files(searched)
    if wanted is Workflow and (read := _view(dossier, source.KIND, Source.parse)):
        return source_files.list_skipped_workflows(read)
    return ()


def missing_repository_detail(dossier: Dossier) -> str:
    """The host's answer for a declared repository that does not exist; empty when it exists or is unknown."""
    content = dossier.read(repository.KIND)
    if isinstance(content, Absent) and content.reason is Reason.NO_REPOSITORY and _GONE.search(content.detail):
        return content.detail
    return ""


def _projects(dossier: Dossier) -> tuple[Scope, ...]:
    return (_project(dossier, _view(dossier, repository.KIND, Repository.parse)),)


def _project(dossier: Dossier, hosted: Repository | None) -> Project:
    return Project(
        at="repository" if hosted else "source",
        moment=evidence_moment(dossier),
        repository=hosted,
        source=_view(dossier, source.KIND, Source.parse),
        package=_view(dossier, package.KIND, Package.parse),
    )


def _published(dossier: Dossier) -> tuple[Scope, ...]:
    seen, entry = _seen(dossier, package.KIND, Package.parse), _registration(dossier)
    registered = entry.text("name") if entry else ""
    return (Published(at="package", moment=evidence_moment(dossier), package=seen, registered=registered),)


def _publishers(dossier: Dossier) -> tuple[Scope, ...]:
    return (
        Publisher(
            at="publisher",
            registration=_seen(dossier, registration.KIND, Registration.parse),
            repository=_view(dossier, repository.KIND, Repository.parse),
            package=_view(dossier, package.KIND, Package.parse),
        ),
    )


def _variables(dossier: Dossier) -> tuple[Scope, ...]:
    entry = _registration(dossier)
    settings = entry.settings if entry else ()
    return source_files.list_variables(_source(dossier), frozenset(setting.label for setting in settings))


def _audits(dossier: Dossier) -> tuple[Scope, ...]:
    seen = _seen(dossier, advisories.KIND, Advisories.parse)
    unlisted = dossier.read(dependencies.KIND)
    return (
        Audit(
            at="advisories",
            moment=evidence_moment(dossier),
            seen=seen,
            whole=_is_whole(dossier),
            unlisted=unlisted.reason.value if isinstance(unlisted, Absent) else "",
        ),
    )


def _is_whole(dossier: Dossier) -> bool:
    """Whether there is a complete list of the dependencies."""
    known = _view(dossier, dependencies.KIND, Dependencies.parse)
    return known is not None and known.complete


def _source(dossier: Dossier) -> Source:
    return _seen(dossier, source.KIND, Source.parse)


def _registration(dossier: Dossier) -> Registration | None:
    return _view(dossier, registration.KIND, Registration.parse)


def _view(dossier: Dossier, kind: str, parse: Callable[[bytes], View]) -> View | None:
    content = dossier.read(kind)
    if isinstance(content, Absent):
        return None
    view: View = _parsed(parse, content.body)
    return view


@lru_cache(maxsize=len(_KINDS))
def _parsed(parse: Callable[[bytes], Any], body: bytes) -> Any:
    """A cached view of a body, which several scopes share."""
    return parse(body)


def _seen(dossier: Dossier, kind: str, parse: Callable[[bytes], View]) -> View:
    view = _view(dossier, kind, parse)
    if view is None:
        raise LookupError(f"{kind} of {dossier.server.id} is absent: ask absent() first")
    return view


SCOPES: Final[dict[type[Scope], Callable[[Dossier], tuple[Scope, ...]]]] = {
    Project: _projects,
    Published: _published,
    Publisher: _publishers,
    Code: lambda dossier: (Code(at="source", seen=_source(dossier)),),
    Readme: lambda dossier: (Readme(at="source/readme", seen=_source(dossier)),),
    Variable: _variables,
    Workflow: lambda dossier: source_files.list_workflows(_source(dossier)),
    Audit: _audits,
    Locked: lambda dossier: (Locked(at="dependencies", seen=_seen(dossier, dependencies.KIND, Dependencies.parse)),),
    Searched: lambda dossier: (Searched(at="secrets", seen=_seen(dossier, secrets.KIND, Secrets.parse)),),
    Drifted: lambda dossier: (Drifted(at="drift", seen=_seen(dossier, drift.KIND, Drift.parse)),),
}
"""How the things of each scope are made of a dossier."""
