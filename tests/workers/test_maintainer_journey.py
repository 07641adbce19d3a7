"""A maintainer's way through the real app: points lost, a fix, a re-test over HTTP, and the points regained."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import timedelta
from pathlib import Path

from starlette.testclient import TestClient

from evidence.model import Observed, Server
from tests.workers.world import LISTING, ScriptedCollector, ScriptedRegistry, World, context, ref, settings
from workers import embedded
from workers.community import request_worker
from workers.runs.options import RunOptions
from workers.web.app import create_app

V1 = "/api/v1"


class Weather:
    """A server whose tool has no description until its maintainer gives it one."""

    description = ""

    def answer(self, _: Server) -> Observed:
        body = json.loads(LISTING)
        body["lists"]["tools"]["pages"][0]["tools"][0]["description"] = self.description
        return Observed(json.dumps(body).encode())


def test_a_repair_is_re_tested_over_http_and_shown_beside_what_was(tmp_path: Path) -> None:
    weather = Weather()
    world = World([ScriptedRegistry("first", [[ref(1)]])], looking=[ScriptedCollector(weather.answer)])
    changes: dict[str, object] = {"registries": ("first",), "clock": None, "retest_cooldown": timedelta(hours=1)}

    async def work(client: TestClient) -> None:
        async with context(tmp_path, world, **changes) as ctx:
            await embedded.run_embedded(ctx, RunOptions(registries=("first",)))
            server = (await asyncio.to_thread(ctx.store.list_active_servers))[0].id
            await asyncio.to_thread(_loses_a_point, client, server)
            weather.description = "Searches the catalogue of the library for a title and tells its shelf."
            where = await asyncio.to_thread(_asks, client, server)
            assert (await request_worker.process_requests(ctx)).retests == 1
            await asyncio.to_thread(_reads, client, server, where)
            await asyncio.to_thread(_has_to_wait, client, server)
            assert (await request_worker.process_requests(ctx)).retests == 0

    app = create_app(settings(tmp_path, **changes))
    with TestClient(app, follow_redirects=False) as client:
        asyncio.run(work(client))


def _loses_a_point(client: TestClient, server: str) -> None:
    page = client.get(f"/servers/{server}")
    assert page.status_code == 200
    assert "no description" in page.text


def _asks(client: TestClient, server: str) -> str:
    asked = client.post(f"{V1}/servers/{server}/retests")
    assert asked.status_code == 202
    again = client.post(f"/servers/{server}/retests", headers={"Sec-Fetch-Site": "same-origin"})
    assert again.status_code == 303
    page = client.get(again.headers["location"] + "?follow=true")
    assert 'http-equiv="refresh"' in page.text
    where = str(asked.headers["location"])
    assert client.get(where).json()["state"] == "waiting"
    return where


def _reads(client: TestClient, server: str, where: str) -> None:
    report = client.get(where).json()
    assert report["state"] == "done"
    gained = {one["rubric"]: one for one in report["comparisons"] if one["points"] and float(one["points"]) > 0}
    assert "lint" in gained
    assert any("description" in line["why"] for line in gained["lint"]["gone"])
    page = client.get(f"/servers/{server}/retests?follow=true").text
    assert 'http-equiv="refresh"' not in page
    assert "Repaired" in page
    assert re.search(r"class=\"(num )?gained\">\+", page)


def _has_to_wait(client: TestClient, server: str) -> None:
    asked = client.post(f"{V1}/servers/{server}/retests").json()
    assert asked["ready_at"] > asked["asked_at"]
    assert "at the earliest" in client.get(f"/servers/{server}/retests").text
