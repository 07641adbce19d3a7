"""`hallmark judge`: off until configured; a table and JSON with agreement; no score moves and no key is written."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from evidence.store import Store, open_store
from tests.publish import samples
from tests.publish.filled_stores import fill
from tests.publish.findings.test_identity import INJECTION, server
from tests.servers.chat_completions import KEY, Reply, World, running
from tests.workers.cli.conftest import Hallmark
from workers.retention import RETENTION


@pytest.fixture
def store(home: Path) -> Iterator[Store]:
    home.mkdir()
    found = open_store(f"sqlite:///{home}/hallmark.db")
    found.migrate()
    fill(found, [server(INJECTION), samples.dossiers(1)[0]])
    yield found
    found.close()


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with running() as found:
        monkeypatch.setenv("HALLMARK_JUDGE_URL", found.url)
        monkeypatch.setenv("HALLMARK_JUDGE_MODEL", "tiny")
        monkeypatch.setenv("HALLMARK_JUDGE_KEY", KEY)
        yield found


def test_it_is_off_until_an_address_is_set(hallmark: Hallmark, store: Store) -> None:
    result = hallmark("judge")
    assert result.code == 2
    assert "HALLMARK_JUDGE_URL" in result.err


def test_opinions_stand_beside_our_findings(hallmark: Hallmark, store: Store, world: World) -> None:
    result = hallmark("judge", "--json")
    assert result.code == 0
    (document,) = result.rows
    entries = document["entries"]
    assert isinstance(entries, list)
    assert {one["verdict"] for one in entries} == {"honest"}
    assert {"ours": "attack", "verdict": "honest"} in [
        {"ours": one["ours"], "verdict": one["verdict"]} for one in entries
    ]
    assert 0 < float(str(document["agreement"])) < 1
    asked = len(world.asked)
    assert hallmark("judge", "--json").code == 0
    assert len(world.asked) == asked
    table = hallmark("judge")
    assert "attack" in table.out
    assert "agreement" in table.out


def test_no_score_moves_and_no_key_is_kept(
    hallmark: Hallmark, store: Store, world: World, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (run,) = store.list_runs()
    before = [card.body for card in store.read_scorecards(run.run.id)]
    with caplog.at_level(logging.DEBUG):
        result = hallmark("judge")
    world.replies.append(Reply(status=401, body=KEY.encode()))
    refused = hallmark("judge", "--json")
    assert before == [card.body for card in store.read_scorecards(run.run.id)]
    assert world.headers[0]["authorization"] == f"Bearer {KEY}"
    written = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert KEY.encode() not in written
    assert KEY not in result.out + result.err + refused.out + refused.err + caplog.text


def test_an_opinion_is_in_no_public_output(hallmark: Hallmark, store: Store, world: World) -> None:
    world.say["e"] = json.dumps({"id": "BOUNDARY", "verdict": "unclear", "reason": "zzopinion"})
    assert "zzopinion" in hallmark("judge", "--json").out
    (run,) = store.list_runs()
    exported = hallmark("export", "--run", run.run.id)
    shown = hallmark("show", server(INJECTION).server.id, "--evidence", "--json")
    assert (exported.code, shown.code) == (0, 0)
    assert len(exported.out) > 1_000
    assert "zzopinion" not in shown.out + exported.out


def test_a_judge_that_refuses_is_named(hallmark: Hallmark, store: Store, world: World) -> None:
    world.replies.append(Reply(status=401))
    result = hallmark("judge")
    assert result.code == 3
    assert "refused: the judge answers HTTP 401" in result.err
    assert "no text is decided" in result.out + result.err
    assert "None" not in result.out
    assert len(world.asked) == 1


def test_a_server_that_opted_out_is_not_asked_about(hallmark: Hallmark, store: Store, world: World) -> None:
    quiet, other = samples.dossiers(1)[0].server, server(INJECTION).server
    added = hallmark("opt-out", "add", f"server: {quiet.ref}", "--by", "ana", "--note", "asked by mail")
    assert added.code == 0, added.err
    document = hallmark("judge", "--json").rows[0]
    assert isinstance(document["entries"], list)
    assert {one["server"] for one in document["entries"]} == {other.id}
    asked = len(world.asked)
    refused = hallmark("judge", quiet.id)
    assert refused.code == 3
    assert "is not asked about" in refused.err
    assert len(world.asked) == asked


def test_another_address_is_another_judge(
    hallmark: Hallmark, store: Store, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = hallmark("judge", "--json").rows[0]
    asked = len(world.asked)
    monkeypatch.setenv("HALLMARK_JUDGE_URL", world.url.replace("127.0.0.1", "localhost"))
    second = hallmark("judge", "--json").rows[0]
    assert first["model_digest"] != second["model_digest"]
    assert len(world.asked) == 2 * asked


def test_opinions_are_dropped_with_old_evidence(hallmark: Hallmark, store: Store) -> None:
    old, new = "aa" * 32, "bb" * 32
    now = datetime.now(UTC)
    store.put_opinions({old: b"{}"}, at=now - RETENTION - timedelta(days=1))
    store.put_opinions({new: b"{}"}, at=now)
    assert hallmark("compact", "--dry-run").code == 0
    assert set(store.read_opinions([old, new])) == {old, new}
    assert hallmark("compact").code == 0
    assert set(store.read_opinions([old, new])) == {new}
