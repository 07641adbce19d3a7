"""The versions that a run is pinned to when it starts; every process compares them before it works on the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, Protocol

from msgspec import Struct

from crawler.collectors.derivers import DERIVERS
from evidence.canonical import canonical_json, sha256
from evidence.kinds.traits import schemas
from evidence.model import Run
from workers.settings.environment import read_code_version

UNKNOWN: Final = "unknown"
"""Pinned when the commit or source is unknown. Two runs with this pin may be of different code."""

_ROOT: Final = Path(__file__).resolve().parents[2]
_JUDGING_PACKAGES: Final = ("evidence", "scoring", "publish")
"""Packages that make receipts and identify findings."""

_PACKAGES: Final = ("crawler", *_JUDGING_PACKAGES, "workers")
_BYTE_CODE: Final = "__pycache__"
_GIT = _ROOT / ".git"


class VersionedCollector(Protocol):
    """Name and version of a collector, which are pinned."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> int: ...


class PinnedCollector(Struct, frozen=True):
    """Name and version of a collector, without building it."""

    name: str
    version: int


# Composes the `registration` record from the stored registry entries.
REGISTRAR = PinnedCollector("registration", 1)


class PinMismatch(Exception):
    """The run is pinned to other versions; working on it would mix versions in one run."""


def read_current_pins(collectors: Sequence[VersionedCollector], commit: str = "") -> dict[str, str]:
    """All versions of this process, by name."""
    # Imported late: a scan pins nothing, and the manifest imports the store.
    from publish.publication.manifest import FORMAT  # noqa: PLC0415
    from scoring.engine import catalogue  # noqa: PLC0415

    pins = {
        "code": read_code_version(),
        "commit": read_commit(commit),
        "dataset": str(FORMAT),
        "source": _digest_source(_JUDGING_PACKAGES),
    }
    pins |= {f"evidence.{kind}": str(schema) for kind, schema in schemas().items()}
    derivers = [PinnedCollector(one.name, one.version) for one in DERIVERS]
    pins |= {f"collector.{one.name}": str(one.version) for one in (REGISTRAR, *collectors, *derivers)}
    pins |= catalogue.pinned_versions()
    return dict(sorted(pins.items()))


def is_pinned_to(run: Run, mine: Mapping[str, str]) -> bool:
    """Whether the run is pinned to exactly these versions."""
    return dict(run.pins) == dict(mine)


def digest_pins(pinned: Mapping[str, str]) -> str:
    """Eight hexadecimal digits that name a set of versions, for example in names of queues."""
    return sha256(canonical_json(dict(pinned)))[:8]


def check_pins(run: Run, mine: Mapping[str, str]) -> None:
    """Raise PinMismatch with the differences unless the run is pinned to exactly these versions."""
    names = sorted(run.pins.keys() | mine.keys())
    differing = [name for name in names if run.pins.get(name) != mine.get(name)]
    if differing:
        pairs = (f"{name} {run.pins.get(name, 'missing')}, here {mine.get(name, 'missing')}" for name in differing)
        raise PinMismatch(
            f"run {run.id} was planned with other code. Finish it with the code that planned it, or start a new run. "
            f"Planned with {'; '.join(pairs)}"
        )


def read_commit(given: str = "") -> str:
    """The commit of this code: the given one, else that of the git checkout.

    An image or a wheel has no checkout: `source-` and a digest of all of its code, which a build need not be told.
    """
    return given or _read_checked_out_commit() or _name_digest(_digest_source(_PACKAGES))


def _name_digest(digest: str) -> str:
    return digest if digest == UNKNOWN else f"source-{digest}"


@cache
def _digest_source(packages: Sequence[str]) -> str:
    """Sixteen hexadecimal digits of the digest of code with its data files, which may differ from the commit.

    Templates, tables and the seccomp profile change results as code does; byte code is made from code.
    """
    found = (path for package in packages for path in (_ROOT / package).rglob("*"))
    files = sorted(path for path in found if path.is_file() and path.parent.name != _BYTE_CODE)
    parts = {path.relative_to(_ROOT).as_posix(): sha256(path.read_bytes()) for path in files}
    return sha256(canonical_json(parts))[:16] if parts else UNKNOWN


@cache
def _read_checked_out_commit() -> str:
    """The commit of the git checkout that holds this file, read without git; empty without a checkout.

    Read once: a worker keeps its version, and so do the processes that it forks after the checkout has moved on.
    """
    try:
        head = (_GIT / "HEAD").read_text("ascii").strip()
        if not head.startswith("ref: "):
            return head
        reference = head.removeprefix("ref: ")
        loose = _GIT / reference
        return loose.read_text("ascii").strip() if loose.is_file() else _packed(reference)
    except (OSError, UnicodeDecodeError):
        return ""


def _packed(reference: str) -> str:
    for line in (_GIT / "packed-refs").read_text("ascii").splitlines():
        commit, _, name = line.partition(" ")
        if name == reference:
            return commit
    return ""
