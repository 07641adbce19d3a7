"""The parts in which many workers export a run: files beside the snapshots, which one worker joins.

The bytes of a part depend only on what its key names, so a part that is written twice, or late, changes nothing: under
the same key every worker writes the same bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final
from uuid import uuid4

from msgspec import Struct

from evidence.canonical import Json, canonical_json, sha256
from evidence.model import ServerId
from evidence.store import Store
from publish.datasets.rows.export_workers import ExportedBatch, export_batches, place_batches
from publish.datasets.rows.part_files import DamagedPart, read_part, write_part
from publish.datasets.snapshot.manifest import SCHEMA
from publish.datasets.snapshot.storage import open_place

BATCHES_PER_PART: Final = 10
"""500 servers: some seconds of work."""

_FOLDER: Final = ".parts"
_PARTIAL: Final = ".partial"


class ExportPlan(Struct, frozen=True):
    """The batches of a run, of which some may be empty, and everything else on which the bytes of its parts depend.

    `reopened` are the findings of each server that were made private again, with the time.
    """

    run: str
    code: str
    batches: Sequence[Sequence[ServerId]]
    reopened: Mapping[ServerId, Sequence[str]]

    @property
    def parts(self) -> int:
        return -(-len(self.batches) // BATCHES_PER_PART)

    @property
    def key(self) -> str:
        """Equal for plans whose parts are all the same."""
        return _digest([self.name_part(number) for number in range(self.parts)])

    def list_batches(self, number: int) -> list[Sequence[ServerId]]:
        """The batches of a part that have servers."""
        batches = self.batches[number * BATCHES_PER_PART : (number + 1) * BATCHES_PER_PART]
        return [batch for batch in batches if batch]

    def name_part(self, number: int) -> str:
        """Number and key of a part: an opt-out or a finding that is made private again changes only its own part's."""
        batches = self.list_batches(number)
        reopened = {
            server: list(self.reopened[server]) for batch in batches for server in batch if server in self.reopened
        }
        return f"{number}-{_digest([SCHEMA, self.code, reopened, [list(batch) for batch in batches]])}"


def plan_export(
    store: Store, run: str, *, hidden: Collection[ServerId], code: str, reopened: Mapping[ServerId, Sequence[str]]
) -> ExportPlan:
    """Divide a run into parts without the `hidden` servers; `code` names the code that writes them."""
    return ExportPlan(run, code, place_batches(store.list_planned_servers(run), hidden), reopened)


class PartFolder:
    """The files of the parts of a plan, beside the snapshots of a place. It is a source of batches for the export.

    Parts that an earlier plan of the run had too were written for it.
    """

    def __init__(self, place: str, plan: ExportPlan) -> None:
        self._files, root = open_place(place)
        self._folder = f"{root}/.{plan.run}{_FOLDER}"
        self._plan = plan

    def list_missing(self) -> list[int]:
        """The numbers of the parts that were not written yet."""
        self._files.invalidate_cache()
        there = self._files.ls(self._folder, detail=False) if self._files.exists(self._folder) else ()
        names = {path.rpartition("/")[2] for path in there}
        return [number for number in range(self._plan.parts) if self._plan.name_part(number) not in names]

    def is_missing(self, number: int) -> bool:
        """Whether a part was not written yet."""
        self._files.invalidate_cache()
        return not self._files.exists(self._locate(number))

    def write(self, store: Store, number: int) -> None:
        """Write a part, which appears when it is complete."""
        self._files.makedirs(self._folder, exist_ok=True)
        partial = f"{self._folder}/{uuid4().hex}{_PARTIAL}"
        with self._files.open(partial, "wb") as file:
            write_part(export_batches(store, self._plan.run, self._plan.list_batches(number)), file)
        self._files.mv(partial, self._locate(number))

    def pages(
        self, _store: Store, _run_id: str, *, comparable: bool, hidden: Collection[ServerId] = ()
    ) -> Iterator[ExportedBatch]:
        """The batches of all parts in their order; raise DamagedPart for one, which is removed, to be written again."""
        assert not comparable
        for number in range(self._plan.parts):
            place = self._locate(number)
            try:
                with self._files.open(place, "rb") as file:
                    yield from read_part(file, len(self._plan.list_batches(number)))
            except DamagedPart:
                self._files.rm(place)
                raise

    def _locate(self, number: int) -> str:
        return f"{self._folder}/{self._plan.name_part(number)}"


def remove_parts(place: str, run: str) -> None:
    """Remove the parts of a run, and those of earlier runs that no snapshot was made of."""
    files, root = open_place(place)
    files.invalidate_cache()
    for path in files.ls(root, detail=False) if files.exists(root) else ():
        name = path.rstrip("/").rpartition("/")[2]
        if name.endswith(_FOLDER) and name <= f".{run}{_FOLDER}":
            files.rm(path, recursive=True)


def _digest(basis: Json) -> str:
    return sha256(canonical_json(basis))[:16]
