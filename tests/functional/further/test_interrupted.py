"""Ctrl-C while an archive is on its way."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.kinds import source
from tests.functional.further.archives import stopping_halfway
from tests.functional.further.first_night import Before
from tests.functional.further.mixed_world import ABANDONED, Town
from tests.functional.further.nights import Home
from tests.servers.github.world import Answer, Fault

pytestmark = [pytest.mark.xdist_group("functional-further"), pytest.mark.soak]


def test_ctrl_c_while_an_archive_is_fetched_leaves_nothing_behind_and_the_run_resumes(
    before: Before, fresh: Home, around: Town, tmp_path: Path
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    fresh.changes |= {"TMPDIR": str(temporary), "HALLMARK_STOP_GRACE": "0.2"}
    content = around.github.world.repositories[ABANDONED].archive
    assert content is not None
    with stopping_halfway(content, hangs_up=False) as host:
        redirected = Fault(f"/{ABANDONED}/tarball/", lambda: Answer(302, headers={"Location": host.url}))
        around.github.world.faults.append(redirected)
        process = fresh.start("run", "--json")
        try:
            assert host.halfway.wait(300), process.communicate(timeout=60)
            fresh.interrupt(process)
        finally:
            process.kill()
        assert process.returncode == 130, fresh.said
    assert list(temporary.iterdir()) == []
    first = fresh.newest()
    fresh.hallmark("run", "--json")
    night = fresh.newest()
    assert night.run == first.run
    assert night.body("left", source.KIND) == before.night.body("left", source.KIND)
    for server in before.night.dossiers:
        assert night.cards[server]["score"] == before.night.cards[server]["score"], server
    assert list(temporary.iterdir()) == []
