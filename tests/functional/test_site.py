"""The site as it runs: on a real PostgreSQL, which may be slow, and go away and come back."""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text
from starlette.testclient import TestClient

from evidence.store import StoreUnavailable, open_store
from evidence.store.database import Database
from tests.servers.postgres import PostgresServer, postgres_server
from workers.settings.environment import Settings, read_settings
from workers.settings.secret import Secret
from workers.web.app import bound_store_url, create_app


def settings(server: PostgresServer, folder: Path, patience: timedelta = timedelta(minutes=5)) -> Settings:
    return read_settings(
        home=folder,
        database_url=Secret(server.create_database()),
        web_rate=0,
        web_query_time=patience,
    )


def test_a_slow_query_is_given_up(postgres: PostgresServer, tmp_path: Path) -> None:
    database = Database(bound_store_url(settings(postgres, tmp_path, timedelta(milliseconds=200))))
    with database.reading() as connection:
        assert connection.scalar(text("SHOW statement_timeout")) == "200ms"
    with pytest.raises(StoreUnavailable), database.reading() as connection:
        connection.execute(text("SELECT pg_sleep(30)"))
    database.close()


def test_a_database_without_tables_is_not_ready_yet(postgres: PostgresServer, tmp_path: Path) -> None:
    mine = settings(postgres, tmp_path)
    with TestClient(create_app(mine)) as site:
        assert site.get("/readyz").status_code == 503
        assert site.get("/").status_code == 503
        store = open_store(mine.store_url)
        store.migrate()
        store.close()
        assert site.get("/readyz").status_code == 200
        assert "Nothing is published yet" in site.get("/").text


def test_a_database_that_stands_still_holds_no_visitor(tmp_path: Path) -> None:
    with postgres_server() as server:
        mine = settings(server, tmp_path, timedelta(milliseconds=300))
        store = open_store(mine.store_url)
        store.migrate()
        store.close()
        with TestClient(create_app(mine)) as site:
            assert site.get("/servers").status_code == 200
            with server.stalled():
                began = time.monotonic()
                away = site.get("/servers")
                assert site.get("/readyz").status_code == 503
                seconds = time.monotonic() - began
            assert (away.status_code, away.headers["retry-after"]) == (503, "5")
            assert seconds < 10
            assert site.get("/servers").status_code == 200


def test_known_pages_stay_current_while_the_database_is_away_and_others_answer_503(
    tmp_path: Path,
) -> None:
    with postgres_server() as server:
        mine = settings(server, tmp_path)
        store = open_store(mine.store_url)
        store.migrate()
        store.close()
        site = TestClient(create_app(mine))
        site.__enter__()
        tag = site.get("/").headers["etag"]
    assert site.get("/", headers={"if-none-match": tag}).status_code == 304
    assert site.get("/").status_code == 503
    away = site.get("/servers")
    assert (away.status_code, away.headers["retry-after"]) == (503, "5")
    assert site.get("/api/v1/servers").json()["status"] == 503
    assert site.get("/readyz").status_code == 503
    site.__exit__(None, None, None)
