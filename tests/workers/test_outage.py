"""A whole run on a machine without network: the run says so, and no server is scored, advised or sampled by it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import pytest

from evidence.kinds import samples
from evidence.model import Absent, Dossier, Observed, Reason
from evidence.store import StoredScorecard
from publish.views.absence_advice import advise_on_absence
from tests.servers.daemon import free_port
from tests.servers.hostile import Call, serving
from tests.workers.world import settings
from workers import embedded
from workers.context import open_context
from workers.embedded import RunResult
from workers.runs.options import RunOptions
from workers.settings.environment import InvalidSetting

Ran: TypeAlias = tuple[RunResult, Mapping[str, Dossier], Sequence[StoredScorecard]]

_SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"


def _write_registry(folder: Path, remotes: Mapping[str, str]) -> None:
    """Server.json documents by name and address; each also has a repository at the GitHub of the settings."""
    folder.mkdir()
    for name, url in remotes.items():
        document = {
            "$schema": _SCHEMA,
            "name": f"example.{name}/mcp",
            "description": "A server",
            "version": "1.0.0",
            "repository": {"url": f"https://github.invalid/example/{name}", "source": "github"},
            "remotes": [{"type": "streamable-http", "url": url}],
        }
        (folder / f"{name}.json").write_text(json.dumps(document))


async def _run(home: Path, canary: str, remotes: Mapping[str, str]) -> Ran:
    _write_registry(home / "registry", remotes)
    chosen = settings(
        home,
        sources=("repository",),
        canaries=(canary,),
        github_api="https://api.github.invalid",
        allow_private=True,
        sandbox="off",
        retry_pause=0,
        host_gap=0,
        connect_timeout=3,
    )
    async with open_context(chosen) as ctx:
        result = await embedded.run_embedded(ctx, RunOptions(registries=(str(home / "registry"),)))
        planned = ctx.store.list_planned_servers(result.run.id)
        dossiers = {dossier.server.name: dossier for dossier in ctx.store.read_dossiers(result.run.id, planned)}
        return result, dossiers, ctx.store.read_scorecards(result.run.id)


REMOTES: Final = {name: f"https://mcp.{name}.invalid/mcp" for name in ("alpha", "beta", "gamma")}


def test_a_run_without_network_blames_itself_and_no_server(tmp_path: Path) -> None:
    result, dossiers, cards = asyncio.run(_run(tmp_path, f"127.0.0.1:{free_port()}", REMOTES))

    assert dict(result.absent) == {"collector_offline": 3}
    assert result.outage.startswith("Hallmark was offline for a part of this run and did not collect: listing of 3")
    for dossier in dossiers.values():
        kinds = {kind: dossier.read(kind) for kind in ("listing", "exchanges", "access", "repository", samples.KIND)}
        assert {content.reason for content in kinds.values() if isinstance(content, Absent)} == {
            Reason.COLLECTOR_OFFLINE
        }
        assert not [kind for kind, content in kinds.items() if isinstance(content, Observed)]
    assert {card.server for card in cards} == {dossier.server.id for dossier in dossiers.values()}
    assert {card.score for card in cards} == {None}
    assert {("adaptive", 1), ("adaptive", 2)} <= {(card.rubric, card.version) for card in cards}
    assert advise_on_absence(Reason.COLLECTOR_OFFLINE).ours


def test_dead_servers_are_unreachable_while_a_canary_answers(tmp_path: Path) -> None:
    async def answer(call: Call) -> None:
        await call.reply(200, b"{}")

    async def main() -> Ran:
        async with serving(answer) as url:
            return await _run(tmp_path, url.split("/")[2], REMOTES)

    result, dossiers, _ = asyncio.run(main())

    assert dict(result.absent) == {"unreachable": 3}
    assert result.outage == ""
    windows = [samples.read_samples(dossier.records[samples.KIND].observation) for dossier in dossiers.values()]
    assert [window[-1].failure for window in windows] == ["unreachable"] * 3


def test_a_canary_that_is_no_host_is_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="HALLMARK_CANARIES: expected HOST or HOST:PORT"):
        settings(tmp_path, canaries=("https://canary.example/",))
