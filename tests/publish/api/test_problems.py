"""Whatever is wrong with a request is answered by a problem document that helps; and it is never a 5xx."""

from __future__ import annotations

import gzip
import sqlite3
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from evidence import zstd
from evidence.model import Run, Trigger
from evidence.store import (
    OptOut,
    OptOutScope,
    Retest,
    RetestState,
    RunAction,
    RunEvent,
    RunState,
    StoreUnavailable,
)
from publish.api.guide import make_openapi_document
from publish.web.backend import RequestLimits
from publish.web.problems import PROBLEM_TYPES
from publish.web.request_checks import accepts_json_media
from tests.publish import samples
from tests.publish.api import api_stores
from tests.publish.api.conftest import Api, MakeApi
from tests.publish.site.plain_backend import PlainBackend
from tests.sampling import some

UNKNOWN_SERVER = "/servers/srv_00000000000000000000"
UNKNOWN_RUN = "20200101T000000Z-nightly"


def problem(api: Api, path: str, kind: str, method: str = "GET", **more: Any) -> dict[str, Any]:
    """The problem document of an answer, which is whole and of that type."""
    answer = api.client.request(method, f"/api/v1{path}", **more)
    found: dict[str, Any] = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.status_code == found["status"] == PROBLEM_TYPES[kind].status
    assert found["type"] == f"/api#{kind}"
    assert found["title"] == PROBLEM_TYPES[kind].title
    assert len(found["detail"]) > 10
    return found


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/nowhere", "unknown-path"),
        ("/servers/x/y/z", "unknown-path"),
        (UNKNOWN_SERVER, "unknown-server"),
        (f"{UNKNOWN_SERVER}/scorecards", "unknown-server"),
        (f"{UNKNOWN_SERVER}/scorecards/lint@1", "unknown-server"),
        (f"{UNKNOWN_SERVER}/evidence", "unknown-server"),
        (f"{UNKNOWN_SERVER}/evidence/listing", "unknown-server"),
        (f"{UNKNOWN_SERVER}/history", "unknown-server"),
        (f"{UNKNOWN_SERVER}/diff", "unknown-server"),
        (f"{UNKNOWN_SERVER}/badges", "unknown-server"),
        ("{first}/scorecards/lint@99", "unknown-scorecard"),
        ("{first}/scorecards/nothing@1", "unknown-scorecard"),
        ("{first}/evidence/nothing", "unknown-evidence"),
        ("{first}/evidence/secrets", "unknown-evidence"),
        (f"{{first}}/evidence?run={UNKNOWN_RUN}", "unknown-run"),
        (f"{{first}}/diff?from={UNKNOWN_RUN}", "unknown-run"),
        (f"{{first}}/diff?to={api_stores.EARLIER.id}", "unknown-run"),
        (f"/runs/{UNKNOWN_RUN}", "unknown-run"),
        ("/rules/no-such-rule", "unknown-rule"),
        ("/rubrics/nothing@1", "unknown-rubric"),
        ("/rubrics/adaptive@99", "unknown-rubric"),
        ("/servers?version=99", "unknown-rubric"),
    ],
)
def test_what_is_unknown_is_404_and_says_where_to_look(api: Api, path: str, kind: str) -> None:
    found = problem(api, path.format(first=api.first), kind)
    assert found["status"] == 404
    assert "/api/v1/" in found["detail"] or "run" in found["detail"]


@pytest.mark.parametrize(
    ("query", "where"),
    [
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("limit=many", "limit"),
        ("limit=5&limit=6", "limit"),
        ("minimum=-1", "minimum"),
        ("minimum=NaN", "minimum"),
        ("minimum=1e400", "minimum"),
        ("sort=size", "sort"),
        ("state=fine", "state"),
        ("reason=unknown", "reason"),
        ("rubric=nothing", "rubric"),
        ("version=0", "version"),
        ("q=%01", "q"),
        ("grade=%27%20OR%201=1", "grade"),
        ("registry=%01", "registry"),
        ("cursor=x", "cursor"),
        ("cursor=", "cursor"),
        ("ecosytem=npm", "ecosytem"),
        ("reverse=perhaps", "reverse"),
    ],
)
def test_a_parameter_that_is_wrong_is_named(api: Api, query: str, where: str) -> None:
    found = problem(api, f"/servers?{query}", "invalid-request")
    assert [one["where"] for one in found["errors"]] == [where]
    assert all(one["expected"] for one in found["errors"])


@pytest.mark.parametrize("path", ["/runs?x=1", "/rules?limit=5", "/health?verbose=1", "{first}?run=x"])
def test_a_parameter_that_there_is_not_is_refused(api: Api, path: str) -> None:
    assert problem(api, path.format(first=api.first), "invalid-request")["errors"]


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("limt=5", "Unknown parameter `limt`; did you mean `limit`?"),
        ("minimun=5&curser=x", "`minimun`; did you mean `minimum`? Unknown parameter `curser`; did you mean `cursor`?"),
        ("zzzz=1", "Unknown parameter `zzzz`. Expected one of access, advisories, badge, "),
        ("limit=1&limit=2", "Repeated parameter `limit`."),
        ("%1B%E2%80%AElimt=1", "Unknown parameter `??limt`; did you mean `limit`?"),
    ],
)
def test_an_unknown_parameter_is_named_with_the_nearest_and_all_known_ones(api: Api, query: str, says: str) -> None:
    detail = problem(api, f"/servers?{query}", "invalid-request")["detail"]
    assert says in detail
    assert all(f" {name}," in detail for name in ("badge", "cursor", "limit", "minimum", "q", "sort"))


def test_many_unknown_parameters_make_a_short_detail(api: Api) -> None:
    found = problem(api, "/rules?" + "&".join(f"x{number}=1" for number in range(200)), "invalid-request")
    assert len(found["errors"]) == 200
    assert len(found["detail"]) < 200
    assert found["detail"].endswith("Expected no parameter.")


def test_an_id_of_another_form_is_explained(api: Api) -> None:
    [wrong] = problem(api, "/servers/%3Cscript%3E%1B%E2%80%AE", "invalid-request")["errors"]
    assert wrong["where"] == "server"
    assert wrong["found"] == "<script>??"
    assert problem(api, f"/servers/{'x' * 3000}", "invalid-request")["errors"][0]["found"] == "x" * 100


@pytest.mark.parametrize("method", ["DELETE", "PUT", "PATCH", "POST"])
def test_other_methods_are_refused_with_those_that_there_are(api: Api, method: str) -> None:
    found = problem(api, "/servers", "method-not-allowed", method)
    assert method in found["detail"]
    assert api.client.request(method, "/api/v1/servers").headers["allow"] == "GET"


def test_a_client_that_takes_no_json_gets_a_problem(api: Api) -> None:
    assert "JSON" in problem(api, "/servers", "not-acceptable", headers={"accept": "text/csv"})["detail"]
    api.get("/servers", headers={"accept": "text/html,*/*;q=0.8"})


@pytest.mark.parametrize(
    ("accept", "taken"),
    [
        ("", True),
        ("*/*", True),
        ("application/json", True),
        ("application/*;q=0.1", True),
        ("text/html, APPLICATION/JSON ; q=0.5", True),
        ("text/html", False),
        ("application/json;q=0", False),
        ("application/json; q=0.0, text/html", False),
        ("application/xml", False),
    ],
)
def test_accept_is_read_as_it_is_meant(accept: str, taken: bool) -> None:
    assert accepts_json_media(accept) is taken


def test_nul_is_refused_before_anybody_reads_it(api: Api) -> None:
    problem(api, "/servers?q=%00", "bad-request")


def test_what_is_too_long_is_refused(api: Api) -> None:
    problem(api, f"/servers?q={'x' * 5000}", "address-too-long")
    problem(api, f"{api.first}/disputes", "content-too-large", "POST", content=b"x" * 100_000)


def test_who_asks_too_often_waits(make_api: MakeApi) -> None:
    api = make_api([], PlainBackend(limits=RequestLimits(rate=1.0, burst=3)))
    statuses = [api.client.get("/api/v1/health").status_code for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429]
    problem(api, "/health", "too-many-requests")
    assert int(api.client.get("/api/v1/health").headers["retry-after"]) >= 1


def test_a_store_that_is_away_is_503_and_not_a_server_s_fault(
    make_api: MakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = make_api([])

    def away(*_: object) -> None:
        raise StoreUnavailable("connection to 10.0.0.5 refused")

    monkeypatch.setattr(api.store.listing, "find_newest_run", away)
    assert "10.0.0.5" not in str(problem(api, "/health", "unavailable"))
    assert api.client.get("/api/v1/health").headers["retry-after"] == "5"


def test_a_mistake_of_ours_tells_nothing(make_api: MakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    api = make_api([])

    def broken(*_: object) -> None:
        raise sqlite3.Error("secret-of-the-house")

    monkeypatch.setattr(api.store.listing, "find_newest_run", broken)
    assert "secret-of-the-house" not in str(problem(api, "/health", "internal-error"))


def test_every_type_of_problem_is_on_the_page(api: Api) -> None:
    page = api.client.get("/api").text
    assert all(f'<dt id="{kind}">' in page for kind in PROBLEM_TYPES)
    assert "<script" not in page
    operations = [one for methods in make_openapi_document()["paths"].values() for one in methods.values()]
    assert all(f'<h3 id="{one["operationId"]}">' in page for one in operations)


def test_answers_are_kept_compressed_and_asked_for_again_by_their_tag(api: Api) -> None:
    plain = api.client.get("/api/v1/rules", headers={"accept-encoding": "identity"})
    assert plain.headers["cache-control"].startswith("public")
    tag = plain.headers["etag"]
    again = api.client.get("/api/v1/rules", headers={"accept-encoding": "identity", "if-none-match": tag})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    for coding, decoded in (("gzip", gzip.decompress), ("zstd", zstd.decompress)):
        with api.client.stream("GET", "/api/v1/rules", headers={"accept-encoding": coding}) as answer:
            raw = b"".join(answer.iter_raw())
        assert answer.headers["content-encoding"] == coding
        assert decoded(raw) == plain.content
        assert "Accept-Encoding" in answer.headers["vary"]


def test_head_is_get_without_a_body(api: Api) -> None:
    head = api.client.head("/api/v1/servers")
    assert (head.status_code, head.content) == (200, b"")
    assert int(head.headers["content-length"]) > 100


def test_who_opted_out_is_unknown_at_once_on_every_path(make_api: MakeApi) -> None:
    api = make_api()
    gone = api.servers[0].server
    paths = [path for path in make_openapi_document()["paths"] if path.startswith("/servers/{server}")]
    values = {"{server}": gone.id, "{rubric}": "lint", "{version}": "1", "{kind}": "listing"}
    addresses = []
    for path in paths:
        address = path
        for name, value in values.items():
            address = address.replace(name, value)
        if "get" in make_openapi_document()["paths"][path] and "webhooks" not in path:
            addresses.append(address)
    assert len(addresses) > 8
    for address in addresses:
        assert api.client.get(f"/api/v1{address}").status_code == 200
    api.store.opt_outs.add_opt_out(
        OptOut(scope=OptOutScope.SERVER, value=gone.id, at=samples.AS_OF, who="ana", note="asked")
    )
    api.backend.hidden.add(gone.id)
    api.backend.seconds += 5
    for address in addresses:
        problem(api, address, "unknown-server")
    assert gone.id not in api.client.get("/api/v1/servers").text


@pytest.mark.parametrize("state", some([RunState.WITHHELD, RunState.PLANNED, RunState.PAUSED, RunState.CANCELLED], 1))
def test_a_run_that_is_not_published_is_unknown(make_api: MakeApi, state: RunState) -> None:
    api = make_api()
    run = Run(id="20260302T030000Z-nightly", trigger=Trigger.NIGHTLY, as_of=samples.AS_OF, pins=samples.RUN.pins)
    put(api, run)
    if state in {RunState.WITHHELD, RunState.PAUSED, RunState.CANCELLED}:
        act = {RunState.WITHHELD: RunAction.WITHHELD, RunState.PAUSED: RunAction.PAUSED}.get(state, RunAction.CANCELLED)
        api.store.apply_run_action(run.id, RunEvent(at=run.as_of, who="ana", what=act, note="x"))
    for path in (
        f"/runs/{run.id}",
        *(f"{api.first}/{noun}?run={run.id}" for noun in ("scorecards", "evidence")),
        f"{api.first}/scorecards/lint@1?run={run.id}",
        f"{api.first}/evidence/listing?run={run.id}",
        f"{api.first}/diff?to={run.id}",
        f"{api.first}/diff?from={run.id}",
    ):
        problem(api, path, "unknown-run")
    assert run.id not in api.client.get("/api/v1/runs").text
    assert run.id not in api.client.get(f"/api/v1{api.first}/history").text


def test_the_run_of_a_finished_re_test_is_shown_and_one_under_way_is_not(make_api: MakeApi) -> None:
    api = make_api()
    server = api.servers[0].server.id
    run = Run(id="20260302T090000Z-retest", trigger=Trigger.RETEST, as_of=samples.AS_OF, pins=samples.RUN.pins)
    api.store.retests.request_retest(Retest(id="r1", server=server, client="anyone:x", asked_at=samples.AS_OF))
    put(api, run)
    api.store.retests.admit_retest("r1", run.id, samples.AS_OF)
    problem(api, f"{api.first}/scorecards?run={run.id}", "unknown-run")
    api.store.set_run_state(run.id, RunState.DONE, samples.AS_OF)
    api.store.retests.finish_retest("r1", RetestState.DONE, samples.AS_OF)
    body = api.get(f"{api.first}/scorecards?run={run.id}")
    assert body["scorecards"]
    assert run.id not in api.client.get("/api/v1/runs").text
    problem(api, f"/servers/{api.servers[1].server.id}/scorecards?run={run.id}", "unknown-run")


def put(api: Api, run: Run) -> None:
    """A run that was scored for the first server, and not published."""
    dossier = replace(api.servers[0], as_of=run.as_of + timedelta(0))
    ids = [dossier.server.id]
    api.store.add_run(run)
    api.store.plan_run(run.id, ids, run.as_of)
    api.store.put_records(run.id, list(dossier.records.values()), done=ids, at=run.as_of)
    cards = [api_stores.stored(card) for card in samples.cards(dossier)]
    api.store.put_scorecards(run.id, cards, done=ids, at=run.as_of)
