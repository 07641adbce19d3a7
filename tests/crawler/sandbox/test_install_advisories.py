"""The packages of an installation are matched with advisories."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from crawler.advisories.mirror import Mirror
from crawler.advisories.version_order import OsvOrder
from crawler.collectors.advisories import AdvisoriesCollector
from crawler.collectors.source.dependencies import find_dependencies_elsewhere
from evidence.canonical import canonical_json
from evidence.kinds.advisories import Advisories, Reach
from evidence.kinds.dependencies import INSTALLED, Dependencies
from evidence.model import Absent, Dossier, Observed, Record, Server, Target, TargetType
from tests.crawler.advisories.local_osv import NOW, refresh
from tests.crawler.sandbox.driving import sandbox
from tests.crawler.sandbox.index_server import IndexServer
from tests.servers.osv.records import advisory, fixed_in
from tests.servers.osv.serving import running
from tests.servers.osv.world import OsvWorld

pytestmark = pytest.mark.sandbox


@pytest.mark.parametrize(
    ("kind", "ecosystem"), [(TargetType.NPM, "npm"), pytest.param(TargetType.PYPI, "PyPI", marks=pytest.mark.soak)]
)
def test_an_advisory_of_what_a_range_resolves_to_is_found(
    cache: Path, index: IndexServer, tmp_path: Path, kind: TargetType, ecosystem: str
) -> None:
    for version in ("1.0.0", "1.2.0"):
        index.add_npm("flour", version, manifest={"dependencies": {"salt": "*"}})
        index.add_wheel("flour", version, requires=("salt",))
    index.add_npm("salt", "2.0.0")
    index.add_wheel("salt", "2.0.0")
    index.add_npm("bakery", manifest={"dependencies": {"flour": "^1.0.0"}})
    index.add_wheel("bakery", "1.0.0", requires=("flour",))
    known = OsvWorld()
    known.add(
        advisory("GHSA-old", fixed_in(ecosystem, "flour", "1.1.0")),
        advisory("GHSA-new", fixed_in(ecosystem, "flour", "1.3.0")),
        advisory("GHSA-deep", fixed_in(ecosystem, "salt", "2.0.1")),
    )
    with running(known) as base:
        refresh(base, tmp_path / "mirror.db", [ecosystem])
    target = Target(type=kind, identifier="bakery")
    server = Server(ref=f"{kind.value}:bakery", name="bakery", targets=(target,))

    async def run() -> tuple[Dependencies, Advisories]:
        empty = Dossier(server=server, as_of=NOW, records={})
        body = await find_dependencies_elsewhere(empty, None, None, await sandbox(cache, index.environ(str(tmp_path))))
        assert not isinstance(body, Absent)
        content = Observed(canonical_json(body))
        record = Record(
            server=server.id,
            kind="dependencies",
            schema=1,
            collector="source",
            collector_version=1,
            observed_at=NOW,
            content=content,
        )
        found = Dossier(server=server, as_of=NOW, records={record.kind: record})
        collector = AdvisoriesCollector(Mirror(tmp_path / "mirror.db"), None, OsvOrder(), lambda: NOW)
        (seen,) = await collector.follow(found, empty)
        assert isinstance(seen.content, Observed)
        return Dependencies.parse(content.body), Advisories.parse(seen.content.body)

    needs, seen = asyncio.run(run())
    assert (needs.taken_from, needs.complete) == (INSTALLED, True)
    assert [(one.name, one.version) for one in needs.dependencies] == [("flour", "1.2.0"), ("salt", "2.0.0")]
    assert {(one.id, one.relation) for one in seen.groups} == {
        ("GHSA-new", Reach.DIRECT),
        ("GHSA-deep", Reach.TRANSITIVE),
    }
