from __future__ import annotations

import json
import sqlite3
import zipfile
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from crawler.advisories import mirror_refresh
from crawler.advisories.mirror import EcosystemState, Mirror
from crawler.advisories.mirror_database import MirrorUnreadable
from crawler.advisories.mirror_refresh import RefreshInProgress, RefreshMode, _alone
from tests.crawler.advisories.local_osv import NOW, Waits, affecting, refresh
from tests.servers.osv.records import advisory, affects, fixed_in
from tests.servers.osv.serving import running
from tests.servers.osv.world import Answer, OsvWorld, archive

FUTURE = "2027-07-09T15:54:00Z"


def bread(name: str = "PYSEC-1", fixed: str = "2.0", **members: Any) -> dict[str, Any]:
    return advisory(name, fixed_in("PyPI", "bread", fixed), **members)


def state(path: Path, name: str = "PyPI") -> EcosystemState:
    return next(found for found in Mirror(path).states() if found.name == name)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "advisories" / "mirror.db"


def test_the_first_refresh_loads_archives(path: Path) -> None:
    world = OsvWorld()
    world.add(
        bread(), bread("PYSEC-2", withdrawn="2026-01-05T00:00:00Z"), advisory("GO-1", fixed_in("Go", "x", "1.0.0"))
    )
    with running(world) as base:
        outcomes = refresh(base, path, ["PyPI", "Go", "Maven"])
    assert [(one.ecosystem, one.how, one.written) for one in outcomes] == [
        ("PyPI", RefreshMode.LOADED, 2),
        ("Go", RefreshMode.LOADED, 1),
        ("Maven", RefreshMode.FAILED, 0),
    ]
    assert affecting(path, "PyPI", "bread", "1.0") == ["PYSEC-1"]
    assert {found.name for found in Mirror(path).states()} == {"PyPI", "Go"}
    assert state(path).refreshed_at == NOW and not state(path).partial


def test_the_next_one_fetches_only_what_changed(path: Path) -> None:
    world = OsvWorld()
    world.add(bread(), bread("PYSEC-2", fixed="3.0"))
    with running(world) as base:
        refresh(base, path)
        world.requests.clear()
        world.add(bread(fixed="1.0", modified="2026-01-03T00:00:00Z"))
        (outcome,) = refresh(base, path, now=NOW + timedelta(hours=1))
        assert (outcome.how, outcome.written) == (RefreshMode.UPDATED, 1)
        assert world.requests == ["GET /PyPI/modified_id.csv", "GET /PyPI/PYSEC-1.json"]
        world.requests.clear()
        refresh(base, path, now=NOW + timedelta(hours=2))
        assert world.requests == ["GET /PyPI/modified_id.csv"]
    assert affecting(path, "PyPI", "bread", "1.5") == ["PYSEC-2"]


def test_a_date_in_the_future_hides_no_change(path: Path) -> None:
    world = OsvWorld()
    world.add(bread(modified=FUTURE), bread("PYSEC-2"))
    with running(world) as base:
        refresh(base, path)
        world.add(bread("PYSEC-3", modified="2026-01-03T00:00:00Z"))
        (outcome,) = refresh(base, path, now=NOW + timedelta(hours=1))
    assert (outcome.how, outcome.written) == (RefreshMode.UPDATED, 1)
    assert affecting(path, "PyPI", "bread", "1.0") == ["PYSEC-1", "PYSEC-2", "PYSEC-3"]


def test_what_appears_late_below_the_mark_is_seen_within_the_overlap(path: Path) -> None:
    world = OsvWorld()
    world.add(bread(modified="2026-01-10T12:00:00Z"))
    with running(world) as base:
        refresh(base, path)
        world.add(bread("PYSEC-2", modified="2026-01-10T11:00:00Z"), bread("PYSEC-3", modified="2026-01-01T00:00:00Z"))
        refresh(base, path, now=NOW + timedelta(hours=1))
        assert affecting(path, "PyPI", "bread", "1.0") == ["PYSEC-1", "PYSEC-2"]
        refresh(base, path, now=NOW + mirror_refresh.RECONCILE)
    assert affecting(path, "PyPI", "bread", "1.0") == ["PYSEC-1", "PYSEC-2", "PYSEC-3"]


def test_a_record_that_leaves_an_ecosystem_is_forgotten_when_lists_are_compared(path: Path) -> None:
    world = OsvWorld()
    world.add(bread(), bread("PYSEC-2"), bread("PYSEC-3"))
    with running(world) as base:
        refresh(base, path)
        world.records["PYSEC-2"]["affected"] = [affects("npm", "bread")]
        refresh(base, path, now=NOW + timedelta(hours=1))
        assert "PYSEC-2" in affecting(path, "PyPI", "bread", "1.0"), "the list says nothing of it yet"
        (outcome,) = refresh(base, path, now=NOW + mirror_refresh.RECONCILE)
    assert (outcome.how, outcome.removed) == (RefreshMode.RECONCILED, 1)
    assert affecting(path, "PyPI", "bread", "1.0") == ["PYSEC-1", "PYSEC-3"]


def test_an_object_that_is_still_there_after_its_record_left_matches_nothing(path: Path) -> None:
    world = OsvWorld()
    world.add(bread(), bread("PYSEC-2"))
    with running(world) as base:
        refresh(base, path)
        world.records["PYSEC-2"] |= {"affected": [affects("npm", "bread")], "modified": "2026-01-04T00:00:00Z"}
        world.listed["PyPI"] = [("2026-01-04T00:00:00Z", "PYSEC-2")]
        refresh(base, path, now=NOW + timedelta(hours=1))
    assert affecting(path, "PyPI", "bread", "1.0") == ["PYSEC-1"]


def test_a_list_that_lost_most_of_its_records_removes_none(path: Path) -> None:
    world = OsvWorld()
    world.add(bread(), bread("PYSEC-2"), bread("PYSEC-3"))
    with running(world) as base:
        refresh(base, path)
        world.raw["/PyPI/modified_id.csv"] = b"2026-01-02T03:04:05Z,PYSEC-1\n"
        (outcome,) = refresh(base, path, now=NOW + mirror_refresh.RECONCILE)
    assert outcome.how is RefreshMode.FAILED
    assert len(affecting(path, "PyPI", "bread", "1.0")) == 3


def test_a_withdrawn_record_stops_matching(path: Path) -> None:
    world = OsvWorld()
    world.add(bread())
    with running(world) as base:
        refresh(base, path)
        world.add(bread(withdrawn="2026-02-01T00:00:00Z", modified="2026-02-01T00:00:00Z"))
        refresh(base, path, now=NOW + timedelta(hours=1))
    assert affecting(path, "PyPI", "bread", "1.0") == []


def test_bad_records_are_named_and_end_nothing(path: Path) -> None:
    world = OsvWorld()
    world.raw["/PyPI/all.zip"] = archive(
        {
            "PYSEC-1.json": json.dumps(bread()).encode(),
            "PYSEC-2.json": b"{",
            "PYSEC-3.json": b"[" * 100_000,
            "PYSEC-4.json": b'{"id": "PYSEC-4"}',
            "PYSEC-5.json": json.dumps(bread("PYSEC-6")).encode(),
            "../PYSEC-7.json": json.dumps(bread("PYSEC-7")).encode(),
            "README": b"no record",
        }
    )
    world.raw["/PyPI/modified_id.csv"] = b"nonsense\n2026-01-02T03:04:05Z,PYSEC-1\n"
    with running(world) as base:
        (outcome,) = refresh(base, path)
    assert (outcome.how, outcome.written, len(outcome.bad)) == (RefreshMode.LOADED, 1, 6)
    assert state(path).partial
    assert dict(state(path).bad)["PYSEC-2"] == "not JSON"
    assert affecting(path, "PyPI", "bread", "1.0") == ["PYSEC-1"]


def test_a_record_larger_than_any_real_one_is_not_unpacked(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.advisories.records.MAX_RECORD", 100_000)
    world = OsvWorld()
    bomb = json.dumps(bread("PYSEC-2", details="0" * 1_000_000)).encode()
    world.raw["/PyPI/all.zip"] = archive({"PYSEC-1.json": json.dumps(bread()).encode(), "PYSEC-2.json": bomb})
    with running(world) as base:
        (outcome,) = refresh(base, path)
    assert [(one.name, one.why) for one in outcome.bad] == [("PYSEC-2", "larger than 100000 bytes")]


def test_a_damaged_entry_is_named(path: Path) -> None:
    packed = bytearray(archive({"PYSEC-1.json": json.dumps(bread()).encode(), "PYSEC-2.json": b"x" * 5000}))
    with zipfile.ZipFile(BytesIO(packed)) as found:
        packed[found.getinfo("PYSEC-2.json").header_offset + 45] ^= 0xFF
    world = OsvWorld(raw={"/PyPI/all.zip": bytes(packed)})
    with running(world) as base:
        (outcome,) = refresh(base, path)
    assert [one.name for one in outcome.bad] == ["PYSEC-2"]


@pytest.mark.parametrize("packed", [b"", b"no zip", archive({}), archive({"PYSEC-1.json": b"{}"})])
def test_an_archive_without_records_replaces_nothing(path: Path, packed: bytes) -> None:
    world = OsvWorld()
    world.add(bread())
    with running(world) as base:
        refresh(base, path)
        world.raw["/PyPI/all.zip"] = packed
        (outcome,) = refresh(base, path, anew=True)
    assert outcome.how is RefreshMode.FAILED
    assert affecting(path, "PyPI", "bread", "1.0") == ["PYSEC-1"]


def test_what_became_bad_stays_as_it_was(path: Path) -> None:
    world = OsvWorld()
    world.add(bread(), bread("PYSEC-2"), bread("PYSEC-3"))
    with running(world) as base:
        refresh(base, path)
        files = {f"PYSEC-{number}.json": json.dumps(bread(f"PYSEC-{number}")).encode() for number in (1, 2)}
        world.raw["/PyPI/all.zip"] = archive(files | {"PYSEC-2.json": b"{"})
        refresh(base, path, anew=True)
    assert affecting(path, "PyPI", "bread", "1.0") == ["PYSEC-1", "PYSEC-2"], "the third is gone, the second is bad"


def test_a_refresh_that_breaks_off_goes_on_where_it_was(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror_refresh, "_BATCH", 1)
    world = OsvWorld()
    world.add(bread(), bread("PYSEC-2"))
    gone = Answer(403, b"{}")
    with running(world) as base:
        refresh(base, path)
        world.add(*(bread(f"PYSEC-{number}", fixed="9.0", modified="2026-01-03T00:00:00Z") for number in (1, 2)))
        world.faults["/PyPI/PYSEC-2.json"] = [gone]
        (outcome,) = refresh(base, path, now=NOW + timedelta(hours=1))
        assert outcome.how is RefreshMode.FAILED
        assert affecting(path, "PyPI", "bread", "5.0") == ["PYSEC-1"]
        assert state(path).partial and state(path).refreshed_at == NOW
        world.requests.clear()
        (outcome,) = refresh(base, path, now=NOW + timedelta(hours=2))
    assert world.requests == ["GET /PyPI/modified_id.csv", "GET /PyPI/PYSEC-2.json"]
    assert affecting(path, "PyPI", "bread", "5.0") == ["PYSEC-1", "PYSEC-2"]
    assert not state(path).partial


def test_an_archive_that_breaks_off_is_fetched_again(path: Path) -> None:
    world = OsvWorld()
    world.add(bread())
    whole = archive({"PYSEC-1.json": json.dumps(bread()).encode()})
    world.faults["/PyPI/all.zip"] = [Answer(200, whole, cut=40), Answer(503, b"", {"retry-after": "7"})]
    waits = Waits()
    with running(world) as base:
        (outcome,) = refresh(base, path, waits=waits)
    assert (outcome.how, outcome.written) == (RefreshMode.LOADED, 1)
    assert waits == [1.0, 7.0]


def test_a_refused_export_is_not_asked_again(path: Path) -> None:
    world = OsvWorld(faults={"/PyPI/all.zip": [Answer(403, b"")] * 9})
    world.add(bread())
    waits = Waits()
    with running(world) as base:
        (outcome,) = refresh(base, path, waits=waits)
    assert (outcome.how, outcome.why, waits) == (RefreshMode.FAILED, "OSV answered HTTP 403", [])


def test_many_changes_are_taken_from_the_archive(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror_refresh, "_SINGLE", 2)
    world = OsvWorld()
    world.add(bread())
    with running(world) as base:
        refresh(base, path)
        world.add(*(bread(f"PYSEC-{number}", modified="2026-01-03T00:00:00Z") for number in range(4)))
        (outcome,) = refresh(base, path, now=NOW + timedelta(hours=1))
    assert (outcome.how, outcome.written) == (RefreshMode.LOADED, 4)


def test_readers_see_one_state_while_it_is_refreshed(path: Path) -> None:
    world = OsvWorld()
    world.add(bread())
    with running(world) as base:
        refresh(base, path)
        with Mirror(path).snapshot() as snapshot:
            assert snapshot is not None
            world.add(bread("PYSEC-2"))
            refresh(base, path, anew=True)
            assert [one.id for one in snapshot.candidates("PyPI", "bread")] == ["PYSEC-1"]
    assert affecting(path, "PyPI", "bread", "1.0") == ["PYSEC-1", "PYSEC-2"]


def test_one_process_refreshes_at_a_time(path: Path) -> None:
    path.parent.mkdir()
    with _alone(Path(f"{path}.lock")), pytest.raises(RefreshInProgress):
        refresh("http://127.0.0.1:9", path)


def test_another_database_is_never_replaced(path: Path) -> None:
    path.parent.mkdir()
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE precious (thing)")
    other.close()
    world = OsvWorld()
    world.add(bread())
    with running(world) as base, pytest.raises(MirrorUnreadable, match="another database"):
        refresh(base, path)
    assert Mirror(path).states() == ()


def test_a_mirror_of_another_layout_is_made_anew(path: Path) -> None:
    world = OsvWorld()
    world.add(bread())
    with running(world) as base:
        refresh(base, path)
        with sqlite3.connect(path) as old:
            old.execute("PRAGMA user_version = 99")
        old.close()
        assert Mirror(path).states() == ()
        refresh(base, path)
    assert affecting(path, "PyPI", "bread", "1.0") == ["PYSEC-1"]


def test_a_damaged_file_is_said_to_be_damaged(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"this is no database at all" * 100)
    with pytest.raises(MirrorUnreadable):
        Mirror(path).states()


def test_aliases_are_followed_through_records_that_match_nothing(path: Path) -> None:
    world = OsvWorld()
    world.add(
        bread("PYSEC-1", aliases=["CVE-1"]),
        bread("PYSEC-2", aliases=["CVE-2"]),
        advisory("GHSA-1", fixed_in("PyPI", "butter", "1"), aliases=["CVE-1", "CVE-2"]),
    )
    with running(world) as base:
        refresh(base, path)
    with Mirror(path).snapshot() as snapshot:
        assert snapshot is not None
        assert snapshot.named(["PYSEC-1"])["GHSA-1"] == ["CVE-1", "CVE-2"]
