"""The site as a process: its backend, its log, its metrics, its bound on queries."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from sqlalchemy.engine import make_url
from starlette.testclient import TestClient

from evidence.model import Server, Target, TargetType
from evidence.store import OptOut, OptOutScope, Store, open_store
from publish.api import app
from publish.web.backend import RequesterRole
from tests.servers.daemon import free_port
from tests.stepping_clock import SteppingClock
from workers.settings.environment import InvalidSetting, Settings, read_settings
from workers.settings.secret import Secret
from workers.web.app import SiteServices, bound_store_url, create_app

START = datetime(2026, 3, 1, tzinfo=UTC)
TARGET = Target(type=TargetType.STREAMABLE_HTTP, identifier="https://mcp.example.com/mcp")
SERVER = Server(ref=TARGET.identifier, name="example", targets=(TARGET,))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    made = read_settings(home=tmp_path, web_rate=0)
    store = open_store(made.store_url)
    store.migrate()
    store.close()
    return made


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    opened = open_store(settings.store_url)
    yield opened
    opened.close()


def test_the_app_serves_what_the_settings_name(settings: Settings) -> None:
    with TestClient(create_app(settings)) as client:
        assert client.get("/readyz").text == "ok\n"
        assert "Nothing is published yet" in client.get("/").text


def test_the_document_by_which_the_api_knows_parameters_is_made_before_the_first_visitor_comes(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, completed = list[Any](), app.complete_document
    monkeypatch.setattr(app, "complete_document", lambda document: made.append(document) or completed(document))
    with TestClient(create_app(settings)) as client:
        assert len(made) == 1
        assert client.get("/api/v1/servers?limit=1").status_code == 200
    assert len(made) == 1


def test_an_opt_out_counts_after_a_second_also_without_a_revision(settings: Settings, store: Store) -> None:
    clock = SteppingClock(START)
    backend = SiteServices(settings, store, clock)
    assert backend.opted_out(SERVER) is None
    store.opt_outs.add_opt_out(OptOut(scope=OptOutScope.DOMAIN, value="example.com", at=START, who="owner", note=""))
    clock.step(timedelta(seconds=1))
    assert backend.opted_out(SERVER) is not None


def test_a_page_is_never_rendered_from_an_older_list_of_opt_outs_than_its_revision(
    settings: Settings, store: Store
) -> None:
    backend = SiteServices(settings, store, SteppingClock(START))
    assert backend.opted_out(SERVER) is None
    store.opt_outs.add_opt_out(OptOut(scope=OptOutScope.DOMAIN, value="example.com", at=START, who="owner", note=""))
    backend.mark(store.listing.read_revision())  # with each revision, and no time has passed
    assert backend.opted_out(SERVER) is not None


def test_a_client_is_a_digest_that_identifies_no_person(settings: Settings, store: Store, tmp_path: Path) -> None:
    backend = SiteServices(settings, store, SteppingClock(START))
    asker = backend.client("192.0.2.7", RequesterRole.OWNER)
    assert "192.0.2.7" not in asker.client
    assert asker.client.startswith("owner:")
    assert asker == backend.client("192.0.2.7", RequesterRole.OWNER)
    (tmp_path / "other").mkdir()
    elsewhere = SiteServices(read_settings(home=tmp_path / "other"), store, SteppingClock(START))
    assert elsewhere.client("192.0.2.7", RequesterRole.OWNER) != asker


def test_the_log_says_which_kind_of_page_and_nothing_of_who_asked_for_what(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    logged = replace(settings, log_format="json")
    with TestClient(create_app(logged), client=("192.0.2.7", 1), follow_redirects=False) as client:
        client.get("/servers?q=private-interest")
        client.get("/servers/srv_00000000000000000000")
        client.get("/static/000000000000/style.css")
        client.head("/robots.txt")
        client.get("/robots.txt")
        client.get("/api/v1/runs")
        client.get("/api/v1/openapi.json")
    printed = capsys.readouterr().err
    events = [json.loads(line) for line in printed.splitlines() if '"request_answered"' in line]
    assert [(event["method"], event["route"], event["status"]) for event in events] == [
        ("GET", "/servers", 200),
        ("GET", "/servers/{server}", 404),
        ("GET", "/static/{version}/{name}", 404),
        ("HEAD", "/robots.txt", 200),
        ("GET", "/robots.txt", 200),
        ("GET", "/api/v1/runs", 200),
        ("GET", "/api/v1/openapi.json", 200),
    ]
    assert "private-interest" not in printed
    assert "192.0.2.7" not in printed


def test_metrics_have_a_listener_of_their_own(settings: Settings) -> None:
    port = free_port()
    with TestClient(create_app(replace(settings, web_metrics=f"127.0.0.1:{port}"))) as client:
        client.get("/about")
        assert client.get("/metrics").status_code == 404
        shown = urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60).read().decode()
    assert 'hallmark_web_requests_total{method="GET",route="/about",status="200"} 1.0' in shown
    assert 'hallmark_web_seconds_bucket{le="0.1",route="/about"}' in shown


def test_a_query_on_postgresql_is_bounded_and_the_address_keeps_its_password() -> None:
    settings = read_settings(database_url=Secret("postgresql+psycopg://u:pass%40word@db/hallmark"))
    url = make_url(bound_store_url(settings))
    assert url.query["options"] == "-c statement_timeout=5000"
    assert url.password == "pass@word"
    assert bound_store_url(read_settings(home=Path("/x"))) == "sqlite:////x/hallmark.db"


def test_a_site_without_an_origin_is_refused() -> None:
    with pytest.raises(InvalidSetting, match=r"an address like https.* found 'hallmark\.example'"):
        read_settings(web_url="hallmark.example")
    assert read_settings(web_url="https://h.example/").web_url == "https://h.example"


def test_proxies_are_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALLMARK_WEB_PROXIES", "10.0.0.0/8, 2001:db8::/32")
    assert [str(network) for network in read_settings().web_proxies] == ["10.0.0.0/8", "2001:db8::/32"]


def test_the_command_explains_itself() -> None:
    from workers.cli.results.web import web

    help_text = CliRunner().invoke(web, ["--help"], env={"COLUMNS": "120"}).output
    for said in ("hallmark run", "HALLMARK_WEB_URL", "HALLMARK_WEB_PROXIES", "--port", "127.0.0.1"):
        assert said in help_text
