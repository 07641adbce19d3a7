"""A night of real receipts to export, and forgers who change a snapshot and then make everything fit again."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from evidence.kinds import access
from evidence.model import Dossier, Reason, Run, ServerRef, Status
from evidence.store import RunState, Store
from publish.datasets.format.columns import transpose_rows
from publish.datasets.format.table_files import FileDigest, TableFiles, encode_columns, pack_block
from publish.datasets.format.tables import TABLES_BY_NAME
from publish.datasets.snapshot.manifest import CHECKSUMS, MANIFEST, render_checksums
from publish.datasets.snapshot.reader import open_snapshot
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from tests.publish import observed, projects, samples
from tests.publish.filled_stores import stored

MARKER = "zzmarkerzz"
RUN = replace(samples.RUN, id="20260301T030000Z-nightly", pins={**dict(catalogue.pinned_versions()), "code": "0.1.0"})


def servers() -> list[Dossier]:
    """Ordinary servers, absent ones, a lock that any token opens, and one of which much is private."""
    ordinary = samples.dossiers(3)
    known = [
        ordinary[2],
        projects.with_project(ordinary[1], "MIT", private=MARKER),
        observed.talkative(),
        observed.locked_out(bogus=(200, access.ACCEPTED)),
        samples.absent_dossier(Reason.TIMEOUT, "opening"),
        samples.hostile_dossier(),
        samples.unsandboxed_dossier(),
    ]
    return list({dossier.server.id: dossier for dossier in known}.values())


def fill(store: Store, dossiers: Sequence[Dossier], run: Run = RUN) -> Store:
    """Put dossiers into a store with the receipts that the catalogue gives them, and publish the run."""
    store.add_run(run)
    refs = [
        (
            one.server,
            ServerRef(registry="starter", name=one.server.name, version="1", status=Status.ACTIVE, entry=b"{}"),
        )
        for one in dossiers
    ]
    store.put_registry_page(run.id, "starter", refs, cursor=None, done=True, at=run.as_of)
    ids = [one.server.id for one in dossiers]
    store.plan_run(run.id, ids, run.as_of)
    store.put_records(run.id, [record for one in dossiers for record in one.records.values()], done=ids, at=run.as_of)
    dated = [replace(one, as_of=run.as_of) for one in dossiers]
    cards = [
        stored(rubric.score(assessment))
        for assessment in map(assess_dossier, dated)
        for rubric in catalogue.list_rubrics()
    ]
    store.put_scorecards(run.id, cards, done=ids, at=run.as_of)
    store.set_run_state(run.id, RunState.PUBLISHED, run.as_of)
    return store


def later(dossiers: Sequence[Dossier], by: timedelta) -> list[Dossier]:
    """The same evidence, observed later."""
    return [
        replace(
            one,
            as_of=one.as_of + by,
            records={
                kind: replace(record, observed_at=record.observed_at + by, observation={})
                for kind, record in one.records.items()
            },
        )
        for one in dossiers
    ]


def rows(folder: Path, table: str) -> list[dict[str, Any]]:
    """The rows of a table, from its JSON Lines."""
    data = gzip.decompress((folder / f"{table}.jsonl.gz").read_bytes())
    return [json.loads(line) for line in data.splitlines()]


def forge(folder: Path, table: str, change: Callable[[dict[str, Any]], None]) -> None:
    """Change rows of a table in all of its files, drop those that are emptied, and let manifest and SHA256SUMS fit."""
    found = rows(folder, table)
    for row in found:
        change(row)
    with TableFiles(TABLES_BY_NAME[table], folder, comparable=False) as files:
        block = encode_columns(TABLES_BY_NAME[table], transpose_rows([row for row in found if row]), comparable=False)
        files.write(pack_block(block))
        fit(folder, files.finish())


def forge_document(folder: Path, name: str, change: Callable[[Any], None]) -> None:
    """Change a JSON document, and let manifest and SHA256SUMS fit again."""
    document = json.loads((folder / name).read_bytes())
    change(document)
    write(folder, name, json.dumps(document).encode())


def write(folder: Path, name: str, data: bytes) -> None:
    """Write a file, and let manifest and SHA256SUMS fit again."""
    (folder / name).write_bytes(data)
    fit(folder, {name: FileDigest(hashlib.sha256(data).hexdigest(), len(data))})


def fit(folder: Path, written: dict[str, FileDigest]) -> None:
    """Let manifest and SHA256SUMS say what these files are."""
    document = json.loads((folder / MANIFEST).read_bytes())
    for name, one in written.items():
        known = document["files"].setdefault(name, {})
        known |= {"sha256": one.sha256, "bytes": one.bytes}
        known |= {"rows": one.rows} if one.rows is not None else {}
    seal(folder, document)


def seal(folder: Path, document: dict[str, Any]) -> None:
    """Write a manifest, and let SHA256SUMS fit again."""
    data = json.dumps(document, sort_keys=True, indent=2).encode() + b"\n"
    (folder / MANIFEST).write_bytes(data)
    files = {file.name: FileDigest(file.sha256, file.bytes) for file in open_snapshot(folder).manifest.files}
    (folder / CHECKSUMS).write_bytes(
        render_checksums({**files, MANIFEST: FileDigest(hashlib.sha256(data).hexdigest(), len(data))})
    )
