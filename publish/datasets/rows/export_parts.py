"""The parts in which many workers export a run: files beside the snapshots, which one worker joins.

The bytes of a part depend only on what the key of its plan names, so a part that is written twice, or late, changes
nothing: under the same key every worker writes the same bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final
from uuid import uuid4

from msgspec import Struct

from evidence.canonical import Json, canonical_json, sha256
from evidence.model import ServerId
from evidence.store import Store
from publish.datasets.rows.export_workers import ExportedBatch, export_batches, split_batches
from publish.datasets.rows.part_files import DamagedPart, read_part, write_part
from publish.datasets.snapshot.manifest import SCHEMA
from publish.datasets.snapshot.storage import open_place

BATCHES_PER_PART: Final = 10
"""500 servers: some seconds of work."""

_FOLDER: Final = ".parts"
_PARTIAL: Final = ".partial"


class ExportPlan(Struct, frozen=True):
    """The batches of a run, and the key of everything else on which their rows depend."""

    run: str
    batches: Sequence[Sequence[ServerId]]
    key: str

    @property
    def parts(self) -> int:
        return -(-len(self.batches) // BATCHES_PER_PART)

    def list_batches(self, number: int) -> Sequence[Sequence[ServerId]]:
        """The batches of a part."""
        return self.batches[number * BATCHES_PER_PART : (number + 1) * BATCHES_PER_PART]


def plan_export(store: Store, run: str, *, hidden: Collection[ServerId], code: str, reopened: Json) -> ExportPlan:
    """Divide a run into parts without the `hidden` servers.

    `code` names the code that writes them, `reopened` the findings that were made private again.
    """
    batches = split_batches(store.list_planned_servers(run), hidden)
    basis = [SCHEMA, code, reopened, BATCHES_PER_PART, [list(batch) for batch in batches]]
    return ExportPlan(run, batches, sha256(canonical_json(basis))[:16])


class PartFolder:
    """The files of the parts of a plan, beside the snapshots of a place. It is a source of batches for the export."""

    def __init__(self, place: str, plan: ExportPlan) -> None:
        self._files, root = open_place(place)
        self._folder = f"{root}/{_prefix(plan.run)}{plan.key}{_FOLDER}"
        self._plan = plan

    def list_missing(self) -> list[int]:
        """The numbers of the parts that were not written yet."""
        self._files.invalidate_cache()
        there = self._files.ls(self._folder, detail=False) if self._files.exists(self._folder) else ()
        names = {path.rpartition("/")[2] for path in there}
        return [number for number in range(self._plan.parts) if str(number) not in names]

    def is_missing(self, number: int) -> bool:
        """Whether a part was not written yet."""
        self._files.invalidate_cache()
        return not self._files.exists(f"{self._folder}/{number}")

    def write(self, store: Store, number: int) -> None:
        """Write a part, which appears when it is complete."""
        self._files.makedirs(self._folder, exist_ok=True)
        partial = f"{self._folder}/{uuid4().hex}{_PARTIAL}"
        with self._files.open(partial, "wb") as file:
            write_part(export_batches(store, self._plan.run, self._plan.list_batches(number)), file)
        self._files.mv(partial, f"{self._folder}/{number}")

    def pages(
        self, _store: Store, _run_id: str, *, comparable: bool, hidden: Collection[ServerId] = ()
    ) -> Iterator[ExportedBatch]:
        """The batches of all parts in their order; raise DamagedPart for one, which is removed, to be written again."""
        assert not comparable
        for number in range(self._plan.parts):
            place = f"{self._folder}/{number}"
            try:
                with self._files.open(place, "rb") as file:
                    yield from read_part(file, len(self._plan.list_batches(number)))
            except DamagedPart:
                self._files.rm(place)
                raise


def remove_parts(place: str, run: str) -> None:
    """Remove the parts of a run, and those of earlier runs that no snapshot was made of."""
    files, root = open_place(place)
    files.invalidate_cache()
    for path in files.ls(root, detail=False) if files.exists(root) else ():
        name = path.rstrip("/").rpartition("/")[2]
        if name.endswith(_FOLDER) and name < _prefix(run) + "~":
            files.rm(path, recursive=True)


def _prefix(run: str) -> str:
    return f".{run}."
