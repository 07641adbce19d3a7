"""Each published night becomes a snapshot, by beat: once, whole, signed, and without servers that opted out."""

from __future__ import annotations

import stat
import struct
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest
import structlog
from msgspec.structs import replace

from evidence.model import Trigger
from evidence.store import Disclosure, FindingState, OptOut, OptOutScope, Store, open_store
from publish.datasets.export import ExportOrder, export_snapshot
from publish.datasets.rows import export_parts, export_workers
from publish.datasets.rows.export_parts import PartFolder
from publish.datasets.rows.part_files import DamagedPart
from publish.datasets.snapshot.manifest import MANIFEST, SIGNATURE
from publish.datasets.snapshot.minisign import generate_key, write_secret_key
from publish.datasets.snapshot.storage import list_snapshots
from publish.datasets.verification.verify import verify_snapshot
from publish.findings.identity import find_private_findings
from scoring import receipt
from tests.publish import samples
from tests.publish.datasets import nights
from tests.publish.test_public_receipts import poisoned
from workers import schedule
from workers.concurrency import Halt
from workers.context import Context
from workers.coordination.broker import TaskLock
from workers.event_loop import run_coroutine
from workers.publication import dataset_snapshots
from workers.settings.environment import InvalidSetting, read_settings
from workers.settings.secret import Secret

NIGHT = replace(nights.RUN, trigger=Trigger.NIGHTLY)
DOSSIERS = samples.dossiers(4)[1:]


@asynccontextmanager
async def free(name: str) -> AsyncIterator[bool]:
    yield True


@asynccontextmanager
async def taken(name: str) -> AsyncIterator[bool]:
    yield False


@dataclass
class Queues:
    """Queues without a worker."""

    issued: list[tuple[str, str]] = field(default_factory=list)

    def issue(self, task: str, argument: str) -> None:
        self.issued.append((task, argument))

    def waiting(self, queue: str) -> int:
        return 0


def keep(ctx: Context, turn: TaskLock = free, queues: Queues | None = None) -> None:
    run_coroutine(dataset_snapshots.write_current_snapshot(ctx, turn, queues or Queues()))


def write_parts(ctx: Context, turn: TaskLock = free, queues: Queues | None = None, halt: Halt | None = None) -> None:
    run_coroutine(dataset_snapshots.write_parts(ctx, NIGHT.id, halt or Halt(), turn, queues or Queues()))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def list_parts(ctx: Context) -> dict[str, bytes]:
    """The written parts by folder and number."""
    place = Path(ctx.settings.datasets)
    return {f"{path.parent.name}/{path.name}": path.read_bytes() for path in place.glob(".*.parts/*")}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = open_store(f"sqlite:///{tmp_path}/night.db")
    made.migrate()
    return nights.fill(made, DOSSIERS, NIGHT)


def context(store: Store, tmp_path: Path, **settings: Any) -> Context:
    known = read_settings(
        home=tmp_path, database_url=f"sqlite:///{tmp_path}/night.db", datasets=str(tmp_path / "place"), **settings
    )
    clock = SimpleNamespace(wall=lambda: datetime(2026, 3, 2, tzinfo=UTC))
    log = structlog.get_logger()
    return cast("Context", SimpleNamespace(settings=known, store=store, clock=clock, log=log, pins=NIGHT.pins))


@pytest.fixture
def parted(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Context:
    """A night of three servers, one in each part, and a snapshot of it that one process wrote."""
    monkeypatch.setattr(export_workers, "BATCH_SIZE", 1)
    monkeypatch.setattr(export_parts, "BATCHES_PER_PART", 1)
    export_snapshot(store, ExportOrder(run=NIGHT.id, archive=True), tmp_path / "alone")
    return context(store, tmp_path)


def test_parts_of_several_workers_join_to_the_snapshot_that_one_process_writes(parted: Context, tmp_path: Path) -> None:
    queues = Queues()
    keep(parted, queues=queues)
    assert queues.issued == [(schedule.EXPORT_PARTS, NIGHT.id)] * 2, "as many tasks as shards"
    assert list_snapshots(parted.settings.datasets) == ()

    @asynccontextmanager
    async def others(name: str) -> AsyncIterator[bool]:
        yield ":1-" not in name  # another worker writes part 1

    write_parts(parted, others, queues)
    assert len(list_parts(parted)) == 2
    keep(parted, queues=queues)
    assert list_snapshots(parted.settings.datasets) == (), "a part is missing"
    write_parts(parted, queues=queues)
    assert queues.issued[-1] == (schedule.EXPORT_DATASETS, NIGHT.id), "the last part asks for the snapshot"
    keep(parted)
    assert contents(tmp_path / "place" / NIGHT.id) == contents(tmp_path / "alone")
    assert list_parts(parted) == {}


def test_a_part_that_is_written_twice_or_late_changes_nothing(parted: Context, tmp_path: Path) -> None:
    write_parts(parted)
    first = list_parts(parted)
    plan = dataset_snapshots.plan_parts(parted, NIGHT)
    PartFolder(parted.settings.datasets, plan).write(parted.store, 1)
    assert list_parts(parted) == first
    keep(parted)
    written = contents(tmp_path / "place" / NIGHT.id)
    PartFolder(parted.settings.datasets, plan).write(parted.store, 1)  # a worker that stood still goes on
    keep(parted)
    assert contents(tmp_path / "place" / NIGHT.id) == written == contents(tmp_path / "alone")


def test_an_interrupted_task_asks_for_the_next_one(parted: Context) -> None:
    queues, halt = Queues(), Halt()
    halt.set()
    write_parts(parted, queues=queues, halt=halt)
    assert (queues.issued, list_parts(parted)) == ([(schedule.EXPORT_PARTS, NIGHT.id)], {})


def test_parts_from_before_an_opt_out_are_not_joined(parted: Context, tmp_path: Path) -> None:
    write_parts(parted)
    before, gone = list_parts(parted), DOSSIERS[0].server
    entry = OptOut(scope=OptOutScope.SERVER, value=gone.ref, at=samples.AS_OF, who="operator", note="asked")
    parted.store.opt_outs.add_opt_out(entry)
    queues = Queues()
    keep(parted, queues=queues)
    assert queues.issued == [(schedule.EXPORT_PARTS, NIGHT.id)], "only the part of this server is missing"
    write_parts(parted)
    assert before.items() < list_parts(parted).items()
    assert len(list_parts(parted)) == len(before) + 1
    keep(parted)
    servers = {row["server"] for row in nights.rows(tmp_path / "place" / NIGHT.id, "servers")}
    assert len(servers) == 2
    assert gone.id not in servers


def test_a_finding_that_is_made_private_again_changes_only_the_part_of_its_server(parted: Context) -> None:
    before = dataset_snapshots.plan_parts(parted, NIGHT)
    place = next(at for at in range(before.parts) if before.list_batches(at) == [[DOSSIERS[0].server.id]])
    after = replace(before, reopened={DOSSIERS[0].server.id: ["fnd_1 since 2099-01-01"]})
    changed = [at for at in range(before.parts) if before.name_part(at) != after.name_part(at)]
    assert (changed, after.key != before.key) == ([place], True)


def test_an_opt_out_while_parts_are_joined_withdraws_the_snapshot(
    parted: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_parts(parted)
    gone = DOSSIERS[0].server
    entry = OptOut(scope=OptOutScope.SERVER, value=gone.ref, at=samples.AS_OF, who="operator", note="asked")
    write = dataset_snapshots.write_snapshot

    def write_slowly(*args: Any, **options: Any) -> Any:
        made = write(*args, **options)
        parted.store.opt_outs.add_opt_out(entry)
        return made

    monkeypatch.setattr(dataset_snapshots, "write_snapshot", write_slowly)
    keep(parted)
    assert list_snapshots(parted.settings.datasets) == ()


def without_a_table(data: bytes) -> bytes:
    """The first batch of a part as an author without our tables would write it."""
    size, _ = struct.unpack_from(">QI", data)
    batch = msgspec.msgpack.decode(data[12 : 12 + size])
    del batch["blocks"]["servers"]
    changed = msgspec.msgpack.encode(batch)
    return struct.pack(">QI", len(changed), zlib.crc32(changed)) + changed + data[12 + size :]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: data[:-20], id="shorter"),
        pytest.param(lambda data: b"", id="empty"),
        pytest.param(lambda data: bytes(len(data)), id="zeros, as after a power failure"),
        pytest.param(lambda data: b"\xff" * 8 + data[8:], id="a size that no memory has"),
        pytest.param(lambda data: data[:-100] + bytes([data[-100] ^ 1]) + data[-99:], id="one bit"),
        pytest.param(without_a_table, id="no table of servers, with a right checksum"),
    ],
)
def test_a_damaged_part_is_written_again(parted: Context, tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    write_parts(parted)
    part = next(path for path in (tmp_path / "place").glob(".*.parts/*") if path.name.startswith("1-"))
    part.write_bytes(damage(part.read_bytes()))
    with pytest.raises(DamagedPart):
        keep(parted)
    assert list_snapshots(parted.settings.datasets) == ()
    write_parts(parted)
    keep(parted)
    assert contents(tmp_path / "place" / NIGHT.id) == contents(tmp_path / "alone")


def test_the_newest_night_is_written_once(store: Store, tmp_path: Path) -> None:
    ctx = context(store, tmp_path)
    keep(ctx)
    (one,) = list_snapshots(ctx.settings.datasets)
    assert (one.run, one.servers) == (NIGHT.id, len(DOSSIERS))
    assert one.archive is not None
    before = (tmp_path / "place" / one.id / MANIFEST).stat().st_mtime_ns
    keep(ctx)
    assert (tmp_path / "place" / one.id / MANIFEST).stat().st_mtime_ns == before


def test_nothing_is_written_while_another_worker_is_at_it(store: Store, tmp_path: Path) -> None:
    ctx = context(store, tmp_path)
    keep(ctx, taken)
    assert list_snapshots(ctx.settings.datasets) == ()


def test_a_snapshot_is_signed_with_the_key_of_the_settings(store: Store, tmp_path: Path) -> None:
    signer = generate_key()
    path = tmp_path / "datasets.key"
    write_secret_key(path, signer.encode("pass word", operations=32_768, memory=2**24))
    ctx = context(store, tmp_path, datasets_key=path, datasets_password=Secret("pass word"))
    keep(ctx)
    folder = tmp_path / "place" / NIGHT.id
    assert signer.public.check((folder / MANIFEST).read_bytes(), (folder / SIGNATURE).read_bytes())
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755


def test_a_key_that_cannot_be_used_writes_nothing(store: Store, tmp_path: Path) -> None:
    for path in (tmp_path / "none.key", tmp_path / "night.db"):
        ctx = context(store, tmp_path, datasets_key=path)
        with pytest.raises(InvalidSetting, match="HALLMARK_DATASETS_KEY"):
            keep(ctx)
    assert list_snapshots(ctx.settings.datasets) == ()


def test_who_opted_out_after_the_night_is_left_out(store: Store, tmp_path: Path) -> None:
    gone = DOSSIERS[0].server
    entry = OptOut(scope=OptOutScope.SERVER, value=gone.ref, at=samples.AS_OF, who="operator", note="asked")
    store.opt_outs.add_opt_out(entry)
    ctx = context(store, tmp_path)
    keep(ctx)
    folder = tmp_path / "place" / NIGHT.id
    assert {row["server"] for row in nights.rows(folder, "servers")} == {one.server.id for one in DOSSIERS[1:]}


def test_older_snapshots_go(store: Store, tmp_path: Path) -> None:
    ctx = context(store, tmp_path, datasets_keep=1)
    keep(ctx)
    later = replace(NIGHT, id="20260302T030000Z-nightly", as_of=datetime(2026, 3, 2, 3, tzinfo=UTC))
    nights.fill(store, nights.later(DOSSIERS, later.as_of - NIGHT.as_of), later)
    keep(ctx)
    assert [one.id for one in list_snapshots(ctx.settings.datasets)] == [later.id]
    assert "Since" in (tmp_path / "place" / later.id / "CHANGELOG.md").read_text()


def test_beat_asks_only_when_there_is_a_place() -> None:
    assert "export-datasets" not in schedule.build_beat_table(read_settings(datasets=""))
    entry = schedule.build_beat_table(read_settings(datasets="somewhere"))["export-datasets"]
    assert entry["task"] == schedule.EXPORT_DATASETS
    assert schedule.TASK_QUEUES[schedule.EXPORT_DATASETS] == schedule.PUBLISH_QUEUE


class DisclosedNight:
    """A published night with one finding, which the operator disclosed and may make private again."""

    def __init__(self, folder: Path) -> None:
        made = open_store(f"sqlite:///{folder}/night.db")
        made.migrate()
        self.store = nights.fill(made, [poisoned()], NIGHT)
        *_, card = self.store.read_scorecards(NIGHT.id, rubric="enterprise")
        self.finding = find_private_findings(poisoned(), [receipt.decode_scorecard(card.body)])[0]
        self.store.put_findings([self.finding], samples.AS_OF)
        self.move(FindingState.PRIVATE_TRIAGE, FindingState.PUBLIC_DISCLOSED, samples.AS_OF)

    def move(self, before: FindingState, after: FindingState, at: datetime) -> None:
        change = Disclosure(at=at, who="operator", before=before, after=after, note="why", recipient="vendor")
        self.store.transition_finding(self.finding.id, change)


@pytest.fixture
def disclosed(tmp_path: Path) -> DisclosedNight:
    return DisclosedNight(tmp_path)


def test_a_finding_that_was_public_for_a_time_has_its_part_written_again(
    disclosed: DisclosedNight, tmp_path: Path
) -> None:
    ctx, public, private = (
        context(disclosed.store, tmp_path),
        FindingState.PUBLIC_DISCLOSED,
        FindingState.PRIVATE_TRIAGE,
    )
    keys = []
    for year in (2097, 2098):
        disclosed.move(public, private, datetime(year, 1, 1, tzinfo=UTC))
        keys.append(dataset_snapshots.plan_parts(ctx, NIGHT).key)
        disclosed.move(private, public, datetime(year, 2, 1, tzinfo=UTC))
    assert keys[0] != keys[1]


@pytest.mark.parametrize("again", [None, FindingState.DISMISSED], ids=["reopened", "dismissed"])
def test_a_snapshot_with_a_finding_that_is_public_no_longer_is_withdrawn(
    disclosed: DisclosedNight, tmp_path: Path, again: FindingState | None
) -> None:
    finding, move = disclosed.finding, disclosed.move
    ctx = context(disclosed.store, tmp_path)
    keep(ctx)
    folder = tmp_path / "place" / NIGHT.id

    def is_published() -> bool:
        return any(row["rule"] == finding.rule for row in nights.rows(folder, "lines"))

    assert is_published()
    report = verify_snapshot(folder, processes=0)
    assert report.problems == [], "a disclosed finding is found again"
    move(FindingState.PUBLIC_DISCLOSED, FindingState.PRIVATE_TRIAGE, datetime(2099, 1, 1, tzinfo=UTC))
    if again is not None:
        move(FindingState.PRIVATE_TRIAGE, again, datetime(2099, 1, 2, tzinfo=UTC))
    keep(ctx)
    assert not is_published()
    assert verify_snapshot(folder, processes=0).problems == []


def test_a_new_private_finding_of_a_later_run_withdraws_nothing(tmp_path: Path) -> None:
    made = open_store(f"sqlite:///{tmp_path}/night.db")
    made.migrate()
    store = nights.fill(made, [poisoned()], NIGHT)
    ctx = context(store, tmp_path)
    keep(ctx)
    before, key = contents(tmp_path / "place" / NIGHT.id), dataset_snapshots.plan_parts(ctx, NIGHT).key
    *_, card = store.read_scorecards(NIGHT.id, rubric="enterprise")
    found = find_private_findings(poisoned(), [receipt.decode_scorecard(card.body)])
    store.put_findings(found, datetime(2099, 1, 1, tzinfo=UTC))
    keep(ctx)
    assert contents(tmp_path / "place" / NIGHT.id) == before
    assert dataset_snapshots.plan_parts(ctx, NIGHT).key == key
