"""What requests were resolved to: from a package and version to its layer, or to why there is none."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from crawler.sandbox.layers.layers import FORMAT, Layers, write_json_atomically
from crawler.sandbox.package_spec import PackageSpec
from evidence.model import Absent, Reason, TargetType

REFUSAL_TTL = timedelta(hours=1)
"""A visit starts a server several times; what cannot be installed is tried once for all of them."""

_THEIRS = frozenset(
    {Reason.INSTALL_FAILED, Reason.NO_PACKAGE, Reason.RUNTIME_UNSUPPORTED, Reason.TOO_LARGE, Reason.TIMEOUT}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedInstallation:
    """What a request was resolved to. `newest` is what the index called newest then; `checked_at` is when.

    `python` is the interpreter that it was installed for, empty for the one that runs us.
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


@dataclass(frozen=True, slots=True)
class Resolutions:
    """What was resolved for the layers of one cache. `pythons`: those that packages may get beside our own."""

    layers: Layers
    ttl: timedelta
    pythons: Sequence[str] = ()

    def lock_path(self, spec: PackageSpec) -> Path:
        """The lock that an installation of `spec` holds."""
        return self.layers.cache_dir / "locks" / self._key(spec)

    def find(self, spec: PackageSpec) -> ResolvedInstallation | None:
        """What `spec` was resolved to, however long ago, if its layer is still there."""
        found = _installed(self._read(spec, "json"))
        return found if found and found.name == spec.name and self.layers.has(found.layer) else None

    def fresh(self, spec: PackageSpec, found: ResolvedInstallation, now: datetime) -> bool:
        """True when no index needs to be asked: the version is pinned, or was looked up within the TTL."""
        return spec.pinned or _within(found.checked_at, now, self.ttl)

    def put(self, spec: PackageSpec, found: ResolvedInstallation) -> None:
        """Remember what `spec` was resolved to."""
        write_json_atomically(self._path(spec, "json"), asdict(found))
        self._path(spec, "refused").unlink(missing_ok=True)

    def touch(self, spec: PackageSpec, found: ResolvedInstallation, now: datetime) -> ResolvedInstallation:
        """The index still calls the same version newest: good for another TTL."""
        touched = replace(found, checked_at=now.isoformat())
        self.put(spec, touched)
        return touched

    def refuse(self, spec: PackageSpec, newest: str, why: Absent, now: datetime) -> None:
        """Remember for a while that `newest` could not be installed, unless that was our own failure."""
        if why.reason in _THEIRS:
            entry = {"newest": newest, "reason": why.reason, "detail": why.detail, "at": now.isoformat()}
            write_json_atomically(self._path(spec, "refused"), entry)

    def refused(self, spec: PackageSpec, newest: str, now: datetime) -> Absent | None:
        """Why `newest` could not be installed a short while ago."""
        entry = self._read(spec, "refused")
        at, reason, detail = entry.get("at"), entry.get("reason"), entry.get("detail")
        if entry.get("newest") != newest or not isinstance(at, str) or not isinstance(detail, str):
            return None
        if not isinstance(reason, str) or reason not in set(_THEIRS) or not _within(at, now, REFUSAL_TTL):
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
        found = ResolvedInstallation(**entry)  # type: ignore[arg-type]  # checked below: anything may have happened to the file
    except TypeError:
        return None
    texts = (found.name, found.version, found.newest, found.layer, found.checked_at, found.python)
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
