"""The scopes `Audit`, `Locked`, `Searched` and `Drifted`: advisories, lockfiles, secrets in files, changed listings."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Final

from evidence.kinds import advisories, dependencies, drift, secrets
from evidence.kinds.advisories import Advisories, Group
from evidence.kinds.dependencies import Dependencies
from evidence.kinds.drift import Drift
from evidence.kinds.secrets import SPECIFIC, SecretLocation, Secrets
from scoring.results.outcome import Skipped, Undecided
from scoring.scopes.base import Scope
from scoring.text import timestamps


class Audit(Scope, frozen=True, kw_only=True, dict=True):
    """The published advisories about what one server is built from, as of one moment.

    `whole`: there is a list of its dependencies, and all are on it. `unlisted` is why there is none.
    """

    reads: ClassVar[str] = advisories.KIND
    moment: datetime
    seen: Advisories
    whole: bool = True
    unlisted: str = ""

    @property
    def at_runtime(self) -> tuple[Group, ...]:
        """The flaws in what runs with the server: not only in optional dependencies and those for development."""
        return tuple(one for one in self.seen.groups if one.is_at_runtime)

    def days_since(self, text: str) -> int | None:
        return timestamps.days_between(text, self.moment)

    def require_any(self) -> None:
        """Raise Undecided with the first reason when dependencies exist and none could be compared."""
        if not self.seen.checked and not self.seen.groups and self.seen.unknown_total:
            raise Undecided(self.seen.unknown[0].why if self.seen.unknown else "nothing could be compared")
        if not self.seen.checked and not self.seen.groups and not self.whole:
            raise Undecided("the dependencies were not read completely")
        if self.unlisted and self.seen.checked <= 1 and not self.seen.groups:
            raise Undecided(f"only the package itself was compared, its dependencies are not known: {self.unlisted}")


class Locked(Scope, frozen=True, kw_only=True, dict=True):
    """The declared dependencies of a project."""

    reads: ClassVar[str] = dependencies.KIND
    seen: Dependencies

    @property
    def origin(self) -> str:
        """`github`, `npm` or `PyPI`."""
        origin = self.seen.body.get("origin")
        return origin if isinstance(origin, str) else ""


class Searched(Scope, frozen=True, kw_only=True, dict=True):
    """The files of a server's source, searched for secrets."""

    reads: ClassVar[str] = secrets.KIND
    seen: Secrets

    @property
    def leaked(self) -> tuple[SecretLocation, ...]:
        """The findings that count and match a provider's format, each secret once."""
        counting = (one for one in self.seen.counting if one.confidence == SPECIFIC)
        first: dict[str, SecretLocation] = {}
        for one in counting:
            first.setdefault(one.digest or f"{one.path}:{one.line}", one)
        return tuple(first.values())


class Drifted(Scope, frozen=True, kw_only=True, dict=True):
    """What changed since the listing that was approved."""

    reads: ClassVar[str] = drift.KIND
    seen: Drift


_NOT_WHOLE: Final = "not read completely"
_NOT_COMPARED: Final = "versions could not be compared"


def list_skipped_dependencies(seen: Advisories, *, whole: bool) -> tuple[Skipped, ...]:
    """The dependencies that could not be compared with advisories."""
    cut = () if whole else (Skipped(dependencies.KIND, _NOT_WHOLE),)
    why = seen.unknown[0].why if seen.unknown else _NOT_COMPARED
    return (*cut, *((Skipped(advisories.KIND, why),) if seen.unknown_total else ()))


def list_skipped_files(seen: Secrets) -> tuple[Skipped, ...]:
    """A Skipped entry when files were not searched completely."""
    return () if seen.complete else (Skipped(secrets.KIND, _NOT_WHOLE),)
