"""What every answer has, and what the site refuses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from ipaddress import ip_network

import pytest
from fastapi import Depends, FastAPI
from starlette.testclient import TestClient

from evidence.model import Dossier
from evidence.store import Store, StoreUnavailable, open_store
from publish.web.backend import RequestLimits
from publish.web.client_address import client_address
from publish.web.rate_limits import TokenBuckets
from publish.web.same_origin import require_same_origin
from tests.publish.site.conftest import SiteOf
from tests.publish.site.plain_backend import PlainBackend

MakeStore = Callable[[Sequence[Dossier]], Store]


def taken() -> str:
    return "taken"


@pytest.fixture
def site(make_store: MakeStore, site_of: SiteOf) -> TestClient:
    return site_of(make_store([]))


@pytest.mark.parametrize("path", ["/", "/nowhere", "/healthz", "/favicon.ico"])
def test_every_answer_forbids_scripts_and_frames(site: TestClient, path: str) -> None:
    headers = site.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "unsafe-inline" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"


def test_a_failure_of_ours_has_the_headers_too_and_tells_nothing(make_store: MakeStore, site_of: SiteOf) -> None:
    site = site_of(make_store([]))
    app = site.app
    assert isinstance(app, FastAPI)

    def broken() -> None:
        raise RuntimeError("secret-of-the-house")

    app.add_api_route("/broken", broken)
    answer = site.get("/broken")
    assert answer.status_code == 500
    assert "secret-of-the-house" not in answer.text
    assert "Traceback" not in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_https_is_demanded_only_when_it_is_set(make_store: MakeStore, site_of: SiteOf) -> None:
    store = make_store([])
    assert "strict-transport-security" not in site_of(store).get("/healthz").headers
    strict = site_of(store, PlainBackend(limits=RequestLimits(rate=0, hsts=timedelta(days=365))))
    assert strict.get("/healthz").headers["strict-transport-security"] == "max-age=31536000"


def test_a_head_is_a_get_without_its_body(site: TestClient) -> None:
    got, head = site.get("/favicon.ico"), site.head("/favicon.ico")
    assert head.status_code == 200
    assert head.content == b""
    assert head.headers["content-length"] == got.headers["content-length"] != "0"
    assert head.headers["etag"] == got.headers["etag"]


@pytest.mark.parametrize(
    ("asked", "location"),
    [("/servers/", "/servers"), ("/servers/?q=a%20b", "/servers?q=a%20b"), ("//evil.example/", "/evil.example")],
)
def test_a_slash_at_the_end_leads_to_the_same_site(site: TestClient, asked: str, location: str) -> None:
    answer = site.get(f"http://testserver{asked}")
    assert answer.status_code == 308
    assert answer.headers["location"] == location


def test_no_link_is_made_from_what_a_request_says_its_host_is(site: TestClient) -> None:
    for path in ("/", "/robots.txt", "/nowhere", "/servers/"):
        answer = site.get(path, headers={"host": "evil.example", "x-forwarded-host": "evil.example"})
        assert "evil.example" not in answer.text
        assert "evil.example" not in answer.headers.get("location", "")


def test_other_methods_are_refused_by_name(site: TestClient) -> None:
    answer = site.delete("/")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET"


def test_long_addresses_and_bodies_are_refused(site: TestClient) -> None:
    assert site.get("/servers?q=" + "a" * 5_000).status_code == 414
    assert site.post("/", content=b"x" * 70_000).status_code == 413
    assert site.get("/%00").status_code == 400
    assert site.get("/servers?grade=%00").status_code == 400


def test_a_body_that_grows_too_long_is_refused_where_it_is_read(make_store: MakeStore, site_of: SiteOf) -> None:
    site = site_of(make_store([]))
    app = site.app
    assert isinstance(app, FastAPI)

    def read(body: dict[str, str]) -> dict[str, str]:
        return body

    app.add_api_route("/read", read, methods=["POST"])
    parts = (b'{"a": "' if number == 0 else b"x" * 10_000 for number in range(10))
    assert site.post("/read", content=parts).status_code == 413
    assert site.post("/read", json={"a": "b"}).json() == {"a": "b"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"origin": "http://testserver"}, 200),
        ({"origin": "https://hallmark.example"}, 200),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://["}, 403),
        ({"sec-fetch-site": "same-origin", "origin": "https://other-name.example"}, 200),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
    ],
)
def test_forms_are_taken_from_pages_of_the_site_only(site: TestClient, headers: dict[str, str], status: int) -> None:
    app = site.app
    assert isinstance(app, FastAPI)
    app.add_api_route("/form", taken, methods=["POST"], dependencies=[Depends(require_same_origin)])
    assert site.post("/form", headers=headers).status_code == status


def test_errors_are_pages_for_people(site: TestClient) -> None:
    answer = site.get("/nowhere")
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")
    assert "There is nothing here" in answer.text
    assert 'name="robots" content="noindex' in answer.text


@pytest.mark.parametrize("path", ["/api/v1/nowhere", "/api/v1/servers?q=" + "a" * 5_000, "/mcp?" + "a" * 5_000])
def test_errors_are_problem_documents_for_programs(site: TestClient, path: str) -> None:
    answer = site.get(path)
    assert answer.status_code in {404, 414}
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == answer.status_code
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_a_database_that_is_away_is_a_503_that_says_when_to_come_back(site_of: SiteOf, tmp_path: object) -> None:
    site = site_of(open_store(f"sqlite:///{tmp_path}/missing/none.db"))
    answer = site.get("/")
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "5"
    assert "Traceback" not in answer.text
    assert site.get("/readyz").status_code == 503
    assert site.get("/healthz").status_code == 200


def test_a_page_that_is_known_is_served_while_the_database_is_away(make_store: MakeStore, site_of: SiteOf) -> None:
    store, backend = make_store([]), PlainBackend()
    site = site_of(store, backend)
    assert site.get("/").status_code == 200

    def away() -> str:
        raise StoreUnavailable("it is away")

    store.changed_servers.read_revisions = away  # type: ignore[method-assign]
    store.listing.read_revision = away  # type: ignore[method-assign]
    backend.seconds += 60
    assert site.get("/").status_code == 200
    assert site.get("/readyz").status_code == 503


def test_a_client_that_asks_too_often_waits_and_others_do_not(make_store: MakeStore, site_of: SiteOf) -> None:
    backend = PlainBackend(limits=RequestLimits(rate=0.5, burst=2, proxies=(ip_network("127.0.0.1/32"),)))
    app = site_of(make_store([]), backend).app

    def ask(address: str) -> tuple[int, str]:
        client = TestClient(app, client=("127.0.0.1", 5), headers={"x-forwarded-for": address})
        answer = client.get("/robots.txt")
        return answer.status_code, answer.headers.get("retry-after", "")

    assert [ask("192.0.2.1") for _ in range(3)] == [(200, ""), (200, ""), (429, "2")]
    assert ask("192.0.2.2") == (200, "")
    backend.seconds += 2
    assert [ask("192.0.2.1") for _ in range(2)] == [(200, ""), (429, "2")]


def test_only_probes_themselves_are_free(make_store: MakeStore, site_of: SiteOf) -> None:
    site = site_of(make_store([]), PlainBackend(limits=RequestLimits(rate=1, burst=1)))
    assert [site.get("/healthz").status_code for _ in range(3)] == [200] * 3
    assert [site.get(f"/healthz{number}").status_code for number in range(3)] == [404, 429, 429]


def test_buckets_fill_no_further_than_their_brim() -> None:
    buckets = TokenBuckets(rate=1, burst=2)
    assert [buckets.take("a", 0.0) for _ in range(3)] == [0.0, 0.0, 1.0]
    assert [buckets.take("a", 1_000.0) for _ in range(3)] == [0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("198.51.100.7", "192.0.2.1", "198.51.100.7"),
        ("10.0.0.1", "192.0.2.1", "192.0.2.1"),
        ("10.0.0.1", "203.0.113.66, 192.0.2.1", "192.0.2.1"),
        ("10.0.0.1", "192.0.2.1, 10.0.0.9", "192.0.2.1"),
        ("10.0.0.1", "no address", "10.0.0.1"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("2001:db8:1:2:aaaa::1", "", "2001:db8:1:2::"),
        ("::ffff:192.0.2.9", "", "192.0.2.9"),
        ("testclient", "", "unknown"),
    ],
)
def test_only_what_trusted_proxies_append_says_whose_request_it_is(peer: str, forwarded: str, client: str) -> None:
    headers = [(b"x-forwarded-for", forwarded.encode())] if forwarded else []
    scope = {"type": "http", "client": (peer, 1), "headers": headers}
    assert client_address(scope, (ip_network("10.0.0.0/8"),)) == client
