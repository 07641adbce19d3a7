from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from crawler.advisories.http_client import AdvisoryClient
from crawler.advisories.known_exploited import KnownExploited
from crawler.advisories.mirror import Mirror
from crawler.advisories.version_order import OsvOrder
from crawler.collectors.advisories import AdvisoriesCollector
from evidence.canonical import Json, canonical_json
from evidence.kinds.advisories import KIND, Advisories, Reach
from evidence.model import Absent, Dossier, Observed, Reason, Record, Server, Target, TargetType
from tests.crawler.advisories.local_osv import NOW, Waits, api, refresh
from tests.servers.osv.records import CRITICAL, advisory, fixed_in
from tests.servers.osv.serving import running
from tests.servers.osv.world import Answer, OsvWorld

SERVER = Server(
    ref="npm:bakery", name="bakery", targets=(Target(type=TargetType.NPM, identifier="bakery", version="1.0.0"),)
)


def record(kind: str, content: Observed | Absent, observation: Mapping[str, Json] | None = None) -> Record:
    return Record(
        server=SERVER.id,
        kind=kind,
        schema=1,
        collector="test",
        collector_version=1,
        observed_at=NOW,
        content=content,
        observation=observation or {},
    )


def dossier(*records: Record) -> Dossier:
    return Dossier(server=SERVER, as_of=NOW, records={found.kind: found for found in records})


def dependencies(*rows: tuple[str, str | None, str, list[str]]) -> Record:
    listed = [
        {"ecosystem": "npm", "name": name, "version": version, "relation": relation, "scopes": scopes, "path": "x"}
        for name, version, relation, scopes in rows
    ]
    return record("dependencies", Observed(canonical_json({"complete": True, "dependencies": listed})))


LOCKED = dependencies(
    ("flour", "1.0.0", "direct", []), ("salt", "1.0.0", "transitive", ["dev"]), ("water", None, "unknown", [])
)
PACKAGE = record(
    "package",
    Observed(canonical_json({"ecosystem": "npm", "name": "bakery", "exists": True, "version": "1.0.0"})),
)


def world() -> OsvWorld:
    found = OsvWorld()
    found.add(
        advisory("GHSA-1", fixed_in("npm", "flour", "1.1.0"), severity=[{"type": "CVSS_V3", "score": CRITICAL}]),
        advisory("GHSA-2", fixed_in("npm", "salt", "2.0.0")),
        advisory("GHSA-3", fixed_in("npm", "bakery", "1.5.0")),
        advisory("GHSA-4", fixed_in("npm", "flour", "0.5.0")),
    )
    return found


def follow(path: Path, found: Dossier, earlier: Dossier | None = None, *, base: str = "", **members: Any) -> Record:
    now = members.pop("now", NOW)

    async def run() -> list[Record]:
        order = OsvOrder()
        if not base:
            collector = AdvisoriesCollector(Mirror(path), None, order, lambda: now, **members)
            return await collector.follow(found, earlier or dossier())
        async with api(base, Waits()) as asked:
            collector = AdvisoriesCollector(Mirror(path), asked, order, lambda: now, **members)
            return await collector.follow(found, earlier or dossier())

    (only,) = asyncio.run(run())
    assert (only.kind, only.server) == (KIND, SERVER.id)
    return only


def view(found: Record) -> Advisories:
    assert isinstance(found.content, Observed), found.content
    return Advisories.parse(found.content.body)


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    path = tmp_path / "mirror.db"
    with running(world()) as base:
        refresh(base, path, ["npm"])
    return path


def test_dependencies_and_the_package_itself_are_compared(mirror: Path) -> None:
    found = follow(mirror, dossier(LOCKED, PACKAGE))
    seen = view(found)
    assert seen.checked == 3
    assert [(one.id, one.relation, sorted(one.scopes)) for one in seen.groups] == [
        ("GHSA-1", Reach.DIRECT, []),
        ("GHSA-3", Reach.ITSELF, []),
        ("GHSA-2", Reach.TRANSITIVE, ["dev"]),
    ]
    assert [(one.name, one.why) for one in seen.unknown] == [("water", "not_a_version")]
    assert found.observation == {
        "looked_at": NOW.isoformat(),
        "by": "mirror",
        "as_of": {"npm": NOW.isoformat()},
        "stale": [],
        "partial": [],
    }


def test_the_mirror_and_the_api_give_the_same_body(mirror: Path, tmp_path: Path) -> None:
    found = dossier(LOCKED, PACKAGE)
    with running(world()) as base:
        asked = follow(tmp_path / "none.db", found, base=base)
    assert asked.content == follow(mirror, found).content
    assert asked.observation["by"] == "api"


def test_a_flaw_that_is_known_to_be_exploited_has_the_date(tmp_path: Path) -> None:
    listed, known = world(), tmp_path / "known.json"
    listed.add(advisory("GHSA-5", fixed_in("npm", "flour", "1.1.0"), aliases=["CVE-2024-0001"]))
    known.write_text('{"vulnerabilities": [{"cveID": "CVE-2024-0001", "dateAdded": "2026-01-02"}]}')
    with running(listed) as base:
        refresh(base, tmp_path / "mirror.db", ["npm"])

    async def run() -> list[Record]:
        async with httpx.AsyncClient() as client:
            asked = AdvisoryClient(lambda: client, what="the catalogue")
            exploited = KnownExploited(asked, str(known), tmp_path / "copy.json", lambda: NOW)
            mirror, order = Mirror(tmp_path / "mirror.db"), OsvOrder()
            collector = AdvisoriesCollector(mirror, None, order, lambda: NOW, exploited=exploited)
            return await collector.follow(dossier(LOCKED), dossier())

    (found,) = asyncio.run(run())
    assert {one.id: one.exploited for one in view(found).groups if one.exploited} == {"CVE-2024-0001": "2026-01-02"}
    written = datetime.fromtimestamp(known.stat().st_mtime, UTC)
    assert found.observation["exploited_as_of"] == written.isoformat()


def test_an_old_mirror_is_used_and_said_to_be_old(mirror: Path) -> None:
    found = follow(mirror, dossier(LOCKED), now=NOW + timedelta(days=8))
    assert found.observation["stale"] == ["npm"]
    assert view(found).groups


def test_an_ecosystem_that_the_mirror_lacks_is_unknown(mirror: Path) -> None:
    listed = [{"ecosystem": "PyPI", "name": "rye", "version": "1.0", "relation": "direct", "scopes": [], "path": "x"}]
    body = canonical_json({"complete": True, "dependencies": listed})
    seen = view(follow(mirror, dossier(record("dependencies", Observed(body)))))
    assert (seen.checked, seen.ecosystems, seen.unknown[0].why) == (0, (), "ecosystem_missing")


def test_no_dependencies_at_all_is_an_observation(mirror: Path) -> None:
    seen = view(follow(mirror, dossier(dependencies())))
    assert (seen.checked, seen.groups, seen.unknown) == (0, (), ())


def test_without_dependencies_and_package_it_is_absent_for_their_reason(mirror: Path) -> None:
    missing = record("dependencies", Absent(Reason.NO_REPOSITORY, "none is declared"))
    found = follow(mirror, dossier(missing))
    assert isinstance(found.content, Absent)
    assert found.content.reason is Reason.NO_REPOSITORY


def test_rubbish_in_what_was_found_is_no_crash(mirror: Path) -> None:
    rubbish = [record(kind, Observed(b"[{]")) for kind in ("dependencies", "package")]
    assert isinstance(follow(mirror, dossier(*rubbish)).content, Absent)


def test_without_mirror_and_api_what_was_found_before_stands_for_two_weeks(mirror: Path, tmp_path: Path) -> None:
    before = follow(mirror, dossier(LOCKED))
    nowhere = tmp_path / "none.db"
    later = follow(nowhere, dossier(LOCKED), dossier(before), now=NOW + timedelta(days=14))
    assert (later.content, later.observation) == (before.content, before.observation)
    too_late = follow(nowhere, dossier(LOCKED), dossier(before), now=NOW + timedelta(days=14, seconds=1))
    assert isinstance(too_late.content, Absent)
    assert too_late.content.reason is Reason.NOT_COLLECTED


def test_an_api_that_does_not_answer_moves_no_score(mirror: Path, tmp_path: Path) -> None:
    before = follow(mirror, dossier(LOCKED))
    busy = OsvWorld(faults={"/v1/querybatch": [Answer(503, b"")] * 20})
    with running(busy) as base:
        kept = follow(tmp_path / "none.db", dossier(LOCKED), dossier(before), base=base)
        absent = follow(tmp_path / "none.db", dossier(LOCKED), base=base)
    assert kept.content == before.content
    assert absent.content == Absent(Reason.UNREACHABLE, "OSV answered HTTP 503")


def test_an_api_that_is_away_is_not_waited_for_by_every_server(tmp_path: Path) -> None:
    away = OsvWorld(faults={"/v1/querybatch": [Answer(503, b"")] * 20})
    seconds = [0.0]

    async def nights(base: str) -> list[int]:
        asked: list[int] = []
        async with api(base, Waits()) as osv:
            collector = AdvisoriesCollector(
                Mirror(tmp_path / "none.db"), osv, OsvOrder(), lambda: NOW, tick=lambda: seconds[0]
            )
            for at in (0.0, 179.0, 181.0):
                seconds[0] = at
                (record,) = await collector.follow(dossier(LOCKED), dossier())
                assert record.content == Absent(Reason.UNREACHABLE, "OSV answered HTTP 503")
                asked.append(len(away.requests))
        return asked

    with running(away) as base:
        first, soon, later = asyncio.run(nights(base))
    assert 0 < first == soon < later


def test_a_damaged_mirror_is_an_absence(tmp_path: Path) -> None:
    path = tmp_path / "mirror.db"
    path.write_bytes(b"no database" * 1000)
    found = follow(path, dossier(LOCKED))
    assert isinstance(found.content, Absent)
    assert found.content.reason is Reason.NOT_COLLECTED
