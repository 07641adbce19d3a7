"""The manifest of a snapshot: versions, sources, and the digest of each file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from evidence.store import RunRow
from publish.datasets.format.methodology import is_current_code
from publish.datasets.format.table_files import FileDigest
from publish.datasets.format.tables import OUTCOMES, TABLES
from publish.datasets.rows.evidence_bodies import LICENCES
from publish.datasets.snapshot.source_counts import SourceCounts

SCHEMA: Final = "2.0.0"
"""Version of tables, columns and files: major if readers break, minor for additions, else patch."""

MANIFEST: Final = "manifest.json"
SIGNATURE: Final = "manifest.json.minisig"
CHECKSUMS: Final = "SHA256SUMS"
METHODOLOGY: Final = "methodology.json"
COMPARABLE: Final = "comparable"
LICENCE: Final = "CC-BY-4.0"

SNAPSHOT_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
FILE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,120}(\.[a-z0-9]{1,10}){0,3}")

_MEDIA: Final = {
    "parquet": "application/vnd.apache.parquet",
    "gz": "application/gzip",
    "json": "application/json",
    "md": "text/markdown",
    "txt": "text/plain",
    "minisig": "text/plain",
    "zip": "application/zip",
}


class NotASnapshot(ValueError):
    """A folder or manifest is no snapshot; the message says what was expected and found."""


class SnapshotFile(Struct, frozen=True):
    """One file of a snapshot. `rows` and `table` are None for a file that is no table."""

    name: str
    bytes: int
    sha256: str
    rows: int | None = None
    table: str | None = None

    @property
    def media_type(self) -> str:
        return _MEDIA.get(self.name.rpartition(".")[2], "text/plain")


class Manifest(Struct, frozen=True, kw_only=True):
    """The manifest. The comparable form has no run, no times and no earlier snapshot."""

    snapshot: str
    schema: str
    methodology: str
    comparable: bool
    pins: Mapping[str, str]
    files: tuple[SnapshotFile, ...]
    run: Mapping[str, Any] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    sources: Mapping[str, Any] = field(default_factory=dict)
    registries: Mapping[str, int] = field(default_factory=dict)
    earlier: str | None = None

    @property
    def as_of(self) -> datetime | None:
        """The time of its receipts; None in the comparable form."""
        return datetime.fromisoformat(self.run["as_of"]) if self.run else None

    @property
    def by_name(self) -> Mapping[str, SnapshotFile]:
        return {file.name: file for file in self.files}


def make_manifest(
    row: RunRow,
    *,
    counts: Mapping[str, int],
    seen: SourceCounts,
    methodology: str,
    comparable: bool,
    earlier: str | None,
) -> Manifest:
    """The manifest of a run, without its files."""
    run = row.run
    return Manifest(
        snapshot=COMPARABLE if comparable else run.id,
        schema=SCHEMA,
        methodology=methodology,
        comparable=comparable,
        pins=dict(run.pins),
        files=(),
        run={} if comparable else {"id": run.id, "trigger": run.trigger.value, "as_of": run.as_of.isoformat()},
        counts=counts,
        sources=_sources(seen, comparable=comparable),
        registries=dict(sorted(seen.registries.items())),
        earlier=None if comparable else earlier,
    )


def add_files(manifest: Manifest, written: Mapping[str, FileDigest]) -> Manifest:
    """The manifest with these files."""
    files = (SnapshotFile(name, one.bytes, one.sha256, one.rows, _table(name)) for name, one in sorted(written.items()))
    return replace(manifest, files=tuple(files))


def encode_manifest(manifest: Manifest) -> bytes:
    """The manifest as JSON, members sorted; the same manifest, the same bytes."""
    document = {
        "format": "hallmark-dataset",
        "versions": {
            "schema": manifest.schema,
            "methodology": manifest.methodology,
            "snapshot": manifest.snapshot,
        },
        "form": COMPARABLE if manifest.comparable else "full",
        "run": dict(manifest.run) or None,
        "pins": dict(manifest.pins),
        "counts": dict(manifest.counts),
        "sources": dict(manifest.sources),
        "registries": dict(manifest.registries),
        "licence": {"dataset": LICENCE, "evidence": dict(LICENCES)},
        "status": _status(manifest.pins),
        "earlier": manifest.earlier,
        "files": {file.name: _file(file) for file in manifest.files},
    }
    return json.dumps(document, sort_keys=True, indent=2).encode() + b"\n"


def render_checksums(written: Mapping[str, FileDigest]) -> bytes:
    """The lines that `sha256sum -c` reads."""
    return "".join(f"{one.sha256}  {name}\n" for name, one in sorted(written.items())).encode()


def decode_manifest(data: bytes) -> Manifest:
    """Decode a manifest; raise NotASnapshot with what was expected."""
    try:
        body = json.loads(data)
        if body["format"] != "hallmark-dataset":
            raise NotASnapshot(f"format hallmark-dataset expected, found {str(body['format'])[:40]!r}")
        manifest = Manifest(
            snapshot=body["versions"]["snapshot"],
            schema=body["versions"]["schema"],
            methodology=body["versions"]["methodology"],
            comparable=body["form"] == COMPARABLE,
            pins={str(name): str(value) for name, value in body["pins"].items()},
            files=tuple(_read_file(name, one) for name, one in body["files"].items()),
            run=dict(body["run"] or {}),
            counts={str(name): int(value) for name, value in body["counts"].items()},
            sources=dict(body["sources"]),
            registries={str(name): int(value) for name, value in body["registries"].items()},
            earlier=body["earlier"],
        )
        _check(manifest)
    except NotASnapshot:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise NotASnapshot(f"{MANIFEST} is not a manifest of a dataset: {type(error).__name__} at {error}") from error
    return manifest


def _check(manifest: Manifest) -> None:
    if not SNAPSHOT_ID.fullmatch(manifest.snapshot):
        raise NotASnapshot(f"the id of a snapshot expected, found {manifest.snapshot[:100]!r}")
    if manifest.comparable is bool(manifest.run):
        raise NotASnapshot("a run expected in the full form, and none in the comparable one")
    if manifest.as_of is not None and manifest.as_of.tzinfo is None:
        raise NotASnapshot("a moment with its zone expected in `run.as_of`")
    for file in manifest.files:
        if not FILE_NAME.fullmatch(file.name):
            raise NotASnapshot(f"the plain name of a file expected in {MANIFEST}, found {file.name[:100]!r}")


def _file(file: SnapshotFile) -> dict[str, Any]:
    known = {"bytes": file.bytes, "sha256": file.sha256, "media_type": file.media_type}
    return known if file.table is None else {**known, "rows": file.rows, "table": file.table}


def _read_file(name: str, body: Mapping[str, Any]) -> SnapshotFile:
    rows, table = body.get("rows"), body.get("table")
    return SnapshotFile(str(name), int(body["bytes"]), str(body["sha256"]), None if rows is None else int(rows), table)


def _table(name: str) -> str | None:
    stem = name.partition(".")[0]
    return next((table.name for table in TABLES if table.name == stem and not name.endswith(".json")), None)


def _sources(seen: SourceCounts, *, comparable: bool) -> dict[str, Any]:
    """Number of records of each kind, and the period in which they were observed."""
    found: dict[str, Any] = {}
    for kind, source in sorted(seen.kinds.items()):
        found[kind] = {"observed": source.observed, "absent": source.absent}
        if not comparable and source.first and source.last:
            found[kind] |= {"first": source.first.isoformat(), "last": source.last.isoformat()}
    return found


def _status(pins: Mapping[str, str]) -> dict[str, str]:
    """Which tables are complete: an empty table could be mistaken for a result."""
    whole = {table.name: "complete" for table in TABLES}
    if not is_current_code(pins):
        whole[OUTCOMES.name] = "not available: the run was judged by other rules than those of the code that wrote this"
    return whole
