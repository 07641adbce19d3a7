"""Cache of resolved requests: from a package and version to its layer, or to the reason why there is none."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict, replace

from crawler.sandbox.install.installer import InstallResult
from crawler.sandbox.layers.layers import FORMAT, Layers, write_json_atomically
from crawler.sandbox.package_spec import PackageSpec
from evidence.model import Absent, Reason, TargetType

REFUSAL_TTL = timedelta(hours=1)
"""A probe starts a server several times; a failed installation is not repeated within this time."""

REINSTALL_AFTER = timedelta(days=7)
"""A package that its dependencies break is installed again after this time: they may have been repaired."""

_CACHED_REASONS = frozenset(
    {
        Reason.INSTALL_FAILED,
        Reason.NO_PACKAGE,
        Reason.NO_VERSION,
        Reason.RUNTIME_UNSUPPORTED,
        Reason.TOO_LARGE,
        Reason.TIMEOUT,
    }
)


class ResolvedInstallation(Struct, frozen=True, kw_only=True):
    """The installation of a request. `newest`: the newest version in the index at the time `checked_at`.

    `python`: the version of the interpreter for which it was installed, empty for our own. `declared`: the requested
    version, if the index has it no more and the newest one was installed in its place. `as_of`: the release date as of
    which the dependencies were resolved, empty for those of `installed_at`.
    """

    name: str
    version: str
    newest: str
    layer: str
    commands: dict[str, list[str]]
    blocked_scripts: list[str]
    engines: str | None
    checked_at: str
    python: str = ""
    declared: str = ""
    as_of: str = ""
    installed_at: str = ""


def make_installation(wanted: PackageSpec, newest: str, found: InstallResult, now: datetime) -> ResolvedInstallation:
    """The installation of a request whose newest version in the index is `newest`."""
    return ResolvedInstallation(
        name=wanted.name,
        version=found.version,
        newest=newest,
        layer=found.layer,
        commands=found.commands,
        blocked_scripts=found.blocked_scripts,
        engines=found.engines,
        checked_at=now.isoformat(),
        installed_at=now.isoformat(),
        python=found.python,
        as_of=wanted.as_of,
    )


class Resolutions(Struct, frozen=True):
    """The resolved requests of one cache. `pythons`: the versions available to packages besides our own."""

    layers: Layers
    ttl: timedelta
    pythons: Sequence[str] = ()

    def lock_path(self, spec: PackageSpec) -> Path:
        """The lock file of an installation of `spec`."""
        return self.layers.cache_dir / "locks" / self._key(spec)

    def find_installation(self, spec: PackageSpec) -> ResolvedInstallation | None:
        """The cached installation of `spec` at any age, if its layer still exists."""
        found = self.recall_installation(spec)
        return found if found and self.layers.has(found.layer) else None

    def recall_installation(self, spec: PackageSpec) -> ResolvedInstallation | None:
        """The last installation of `spec` at any age, though its layer may be evicted."""
        found = _installed(self._read(spec, "json"))
        return found if found and found.name == spec.name else None

    def is_fresh(self, spec: PackageSpec, found: ResolvedInstallation, now: datetime) -> bool:
        """True if the index need not be queried: the version is pinned, or was resolved within the TTL."""
        return spec.pinned or _within(found.checked_at, now, self.ttl)

    def store_installation(self, spec: PackageSpec, found: ResolvedInstallation) -> None:
        """Store the installation of `spec`."""
        write_json_atomically(self._path(spec, "json"), asdict(found))
        self._path(spec, "refused").unlink(missing_ok=True)

    def forget_outdated(self, spec: PackageSpec, now: datetime) -> None:
        """Forget an installation whose dependencies were resolved longer ago than REINSTALL_AFTER."""
        found = self.find_installation(spec)
        if found and not _within(found.installed_at, now, REINSTALL_AFTER):
            for request in {spec, spec.with_version(found.version)}:
                self._path(request, "json").unlink(missing_ok=True)

    def renew(self, spec: PackageSpec, found: ResolvedInstallation, now: datetime) -> ResolvedInstallation:
        """Store an installation that is still the newest as valid for another TTL."""
        touched = replace(found, checked_at=now.isoformat())
        self.store_installation(spec, touched)
        return touched

    def store_refusal(self, spec: PackageSpec, newest: str, why: Absent, now: datetime) -> None:
        """Store for REFUSAL_TTL that `newest` could not be installed, unless we caused the failure."""
        if why.reason in _CACHED_REASONS:
            entry = {"newest": newest, "reason": why.reason, "detail": why.detail, "at": now.isoformat()}
            write_json_atomically(self._path(spec, "refused"), entry)

    def find_refusal(self, spec: PackageSpec, newest: str, now: datetime) -> Absent | None:
        """The stored reason why `newest` could not be installed, if it is recent."""
        entry = self._read(spec, "refused")
        at, reason, detail = entry.get("at"), entry.get("reason"), entry.get("detail")
        if entry.get("newest") != newest or not isinstance(at, str) or not isinstance(detail, str):
            return None
        if not isinstance(reason, str) or reason not in set(_CACHED_REASONS) or not _within(at, now, REFUSAL_TTL):
            return None
        return Absent(Reason(reason), detail)

    def _read(self, spec: PackageSpec, suffix: str) -> Mapping[str, object]:
        try:
            found = json.loads(self._path(spec, suffix).read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def _path(self, spec: PackageSpec, suffix: str) -> Path:
        return self.layers.cache_dir / "index" / f"{self._key(spec)}.{suffix}"

    def _key(self, spec: PackageSpec) -> str:
        choice = "".join(f"+{name}" for name in self.pythons) if spec.ecosystem is TargetType.PYPI else ""
        return f"{spec.key}-{self.layers.abi}{choice}-{FORMAT}"


def _installed(entry: Mapping[str, object]) -> ResolvedInstallation | None:
    try:
        found = ResolvedInstallation(**entry)  # type: ignore[arg-type]  # checked below: the file may be damaged
    except TypeError:
        return None
    texts = (
        found.name,
        found.version,
        found.newest,
        found.layer,
        found.checked_at,
        found.python,
        found.declared,
        found.as_of,
        found.installed_at,
    )
    if not all(isinstance(text, str) for text in texts) or not isinstance(found.commands, dict):
        return None
    return found if all(_is_command(argv) for argv in found.commands.values()) else None


def _is_command(argv: object) -> bool:
    return isinstance(argv, list) and all(isinstance(word, str) for word in argv)


def _within(then: str, now: datetime, most: timedelta) -> bool:
    try:
        return timedelta() <= now - datetime.fromisoformat(then) < most
    except (ValueError, TypeError):
        return False
