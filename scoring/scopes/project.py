"""The scopes `Project` and `Published`: how a server's source is kept, and how its package is published."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import ClassVar, Literal, TypeAlias

from evidence.kinds import package, repository
from evidence.kinds.package import Package
from evidence.kinds.repository import Repository
from evidence.kinds.source import REPOSITORIES, Source
from evidence.model import Dossier
from scoring.results.outcome import Undecided
from scoring.scopes import maintenance
from scoring.scopes.base import Scope
from scoring.text import timestamps

ProjectFile: TypeAlias = Literal["licence", "security_policy", "contributing", "ci", "changelog", "readme"]


class Project(Scope, frozen=True, kw_only=True, dict=True):
    """A server's project as of one moment: its repository, source and package, as far as they are known."""

    reads: ClassVar[str] = repository.KIND
    moment: datetime
    repository: Repository | None = None
    source: Source | None = None
    package: Package | None = None

    @property
    def hosted(self) -> Repository:
        """The repository; raise Undecided when there is only the source."""
        if self.repository is None:
            raise Undecided("there is no evidence of the repository")
        return self.repository

    @cached_property
    def size(self) -> maintenance.ProjectSize:
        """The size, which scales time limits; unknown values count as small."""
        hosted = self.hosted
        people = hosted.contributors
        threads = [part.opened_year or part.sampled for part in (hosted.issues, hosted.pulls) if part]
        return maintenance.ProjectSize(
            contributors=((people.count if people.year is None else people.year) if people else 0),
            stars=hosted.stars or 0,
            issues=sum(threads),
        )

    @property
    def released_at(self) -> str | None:
        """The newest release date of the repository or the package."""
        released = self.repository.releases if self.repository else None
        return timestamps.newest_timestamp(
            [released.latest_at if released else None, self.package.latest_published if self.package else None]
        )

    def days_since(self, text: str | None) -> int | None:
        return timestamps.days_between(text, self.moment)

    def has(self, file: ProjectFile) -> bool:
        """Whether the project has a file; Undecided when neither its host nor a complete source shows it."""
        hosted = self._hosted_file(file)
        own = self._own_file(file, beside_host=hosted is not None)
        if hosted or own:
            return True
        if hosted is None and own is None:
            raise Undecided("neither the host nor the source shows it")
        return False

    def _hosted_file(self, file: ProjectFile) -> bool | None:
        hosted = self.repository
        if hosted is None:
            return None
        if file == "licence":  # null is unknown, unless the host listed the other files
            return bool(hosted.licence) if hosted.licence or hosted.readme is not None else None
        if file == "security_policy":
            return hosted.community.security
        if file == "contributing":
            return hosted.community.contributing
        return {"ci": hosted.ci, "changelog": hosted.changelog, "readme": hosted.readme}[file]

    def _own_file(self, file: ProjectFile, *, beside_host: bool) -> bool | None:
        """Whether source or package have the file; None when unknown.

        A package omits files that its repository has. So a file found in a package counts only with `beside_host`:
        otherwise present files would count and missing files would not. A licence counts in both cases.
        """
        if file == "licence" and self.package and self.package.licence:
            return True
        if self.source is None:
            return None
        if self.source.origin in REPOSITORIES:
            return _holds(self.source, file) or (False if self.source.complete else None)
        if file == "licence" and self.package and self.package.version_exists:
            return _holds(self.source, file) or (False if self.source.complete else None)
        return True if beside_host and _holds(self.source, file) else None


def _holds(source: Source, file: ProjectFile) -> bool:
    if file == "readme":
        return source.readme is not None
    return bool(source.paths(file) if file == "ci" else source.path(file))


class Published(Scope, frozen=True, kw_only=True, dict=True):
    """The package of a server in its index as of one moment, and the registered name of the server."""

    reads: ClassVar[str] = package.KIND
    moment: datetime
    package: Package
    registered: str = ""

    @property
    def size(self) -> maintenance.ProjectSize:
        """The size as far as an index shows it: the number of maintainers."""
        return maintenance.ProjectSize(contributors=len(self.package.maintainers or ()), stars=0, issues=0)

    def days_since(self, text: str | None) -> int | None:
        return timestamps.days_between(text, self.moment)


def evidence_moment(dossier: Dossier) -> datetime:
    """The moment from which ages are computed: the evidence's moment, never the clock."""
    return dossier.as_of
