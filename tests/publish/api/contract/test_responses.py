"""Every answer is what the OpenAPI document says, exact, and the same that the dataset says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import jsonschema_rs
import pytest
from msgspec.structs import asdict

from evidence.kinds import access, listing
from evidence.model import Absent, Reason
from publish.api.guide import make_openapi_document
from publish.api.openapi_document import make_example
from publish.api.operations import evidence
from publish.text.numbers import MINUS, format_number, format_percent, json_number
from publish.views.public_servers import read_public_servers
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.rule_snippets import make_snippet
from tests.dossiers import captures
from tests.publish import samples
from tests.publish.api import api_stores
from tests.publish.api.conftest import Api, MakeApi

VALUES = {
    "rubric": "lint",
    "version": "1",
    "run": api_stores.RUN.id,
    "rule": "tool-description-missing",
    "kind": "listing",
}


def schema_of(path: str) -> dict[str, Any]:
    content = make_openapi_document()["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]
    return {**content["schema"], "components": make_openapi_document()["components"]}


def filled(path: str, server: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda name: {**VALUES, "server": server}[name[1]], path)


def readable() -> list[str]:
    """Paths of all operations that read, and that need nothing but ids of published things."""
    return [
        path for path, methods in make_openapi_document()["paths"].items() if "get" in methods and not _of_people(path)
    ]


def _of_people(path: str) -> bool:
    """Operations about requests of people, which this store has none of."""
    return bool(re.search(r"\{(retest|dispute|claim|webhook)\}", path)) or "webhooks" in path or "audit" in path


@pytest.mark.parametrize("path", readable())
def test_every_answer_is_as_documented(api: Api, path: str) -> None:
    check = jsonschema_rs.validator_for(schema_of(path), validate_formats=True)
    for dossier in api.servers:
        answer = api.get(filled(path, dossier.server.id))
        assert [error.message for error in check.iter_errors(answer)] == []


def test_a_document_that_does_not_fit_is_noticed(api: Api) -> None:
    """The test above can fail."""
    check = jsonschema_rs.validator_for(schema_of("/servers/{server}"))
    answer = api.get(api.first)
    assert check.is_valid(answer)
    assert not check.is_valid({**answer, "more": 1})
    assert not check.is_valid({**answer, "as_of": None})
    assert not check.is_valid({name: value for name, value in answer.items() if name != "tools"})
    assert not check.is_valid({**answer, "scores": [{**answer["scores"][0], "score": "0"}]})


@pytest.mark.parametrize("path", list(make_openapi_document()["paths"]))
def test_every_answer_has_an_example_that_fits(path: str) -> None:
    for operation in make_openapi_document()["paths"][path].values():
        for status, answer in operation["responses"].items():
            content = answer.get("content", {}).get("application/json")
            if status.startswith("2") and content and content["schema"]:
                schema = {**content["schema"], "components": make_openapi_document()["components"]}
                jsonschema_rs.validator_for(schema, validate_formats=True).validate(content["example"])


def test_an_example_of_a_schema_that_names_itself_ends() -> None:
    schemas = {"Tree": {"type": "object", "properties": {"inner": {"$ref": "#/components/schemas/Tree"}}}}
    assert "inner" in make_example(schemas["Tree"], schemas)


def test_every_operation_is_documented() -> None:
    operations = [one for methods in make_openapi_document()["paths"].values() for one in methods.values()]
    assert all(one["summary"] and one["description"] and one["tags"] for one in operations)
    ids = [one["operationId"] for one in operations]
    assert len(set(ids)) == len(ids)
    assert all(parameter.get("description") for one in operations for parameter in one.get("parameters", []))
    assert all("422" in one["responses"] and "503" in one["responses"] for one in operations)


def test_what_was_not_measured_is_never_a_number(api: Api) -> None:
    server = api.get(api.absent)
    assert server["state"] == "not_testable"
    assert server["tools"] == {"not_measured": "oauth_required"}
    lint = next(score for score in server["scores"] if score["rubric"] == "lint")
    assert lint["score"]["not_measured"] == "oauth_required"
    card = api.get(f"{api.absent}/scorecards/lint@1")
    assert card["score"] == {"not_measured": "oauth_required", "detail": "no listing"}
    points = api.get(f"{api.absent}/history?rubric=lint")["points"]
    assert {point["score"]["not_measured"] for point in points} == {"no_score"}


def test_a_server_is_found_by_its_reference(api: Api) -> None:
    server = api.get(api.first)
    found = api.get("/servers", params={"ref": server["ref"]})
    assert found["servers"] == [{name: value for name, value in server.items() if name != "tool_names"}]
    assert (found["total"], found["next_cursor"]) == (1, None)
    assert api.get("/servers", params={"ref": "npm:nothing-has-this"})["servers"] == []


def test_a_server_has_its_purpose_and_the_names_of_its_tools(make_api: MakeApi) -> None:
    api = make_api([captures()["excel-mcp-server"], samples.absent_dossier(Reason.OAUTH_REQUIRED, "answered 401")])
    server = api.get(f"/servers/{api.servers[0].server.id}")
    assert server["purpose"].startswith("Create, read and edit Excel workbooks")
    assert len(server["tool_names"]) == server["tools"] > 10
    assert "create_pivot_table" in server["tool_names"]
    absent = api.get(f"/servers/{api.servers[1].server.id}")
    assert absent["tool_names"] == {"not_measured": "oauth_required"}


def test_pages_of_other_origins_may_read_and_not_write(api: Api) -> None:
    origin = {"Origin": "https://other.example"}
    for answer in (api.client.get(f"/api/v1{path}", headers=origin) for path in (api.first, "/nothing")):
        assert answer.headers["access-control-allow-origin"] == "*"
        assert "ETag" in answer.headers["access-control-expose-headers"]
    for answer in (
        api.client.post(f"/api/v1{api.first}/retests", headers=origin),
        api.client.options(f"/api/v1{api.first}", headers=origin),
        api.client.get("/servers", headers=origin),
    ):
        assert "access-control-allow-origin" not in answer.headers


def test_receipts_are_those_of_the_dataset_and_exact(api: Api) -> None:
    for server in read_public_servers(api.store, api_stores.RUN.id):
        for card in server.cards:
            path = f"/servers/{server.dossier.server.id}/scorecards/{card.rubric}@{card.version}/receipt"
            assert api.client.get(f"/api/v1{path}").content == card.body


def test_numbers_of_a_scorecard_are_those_of_its_receipt_as_pages_show_them(api: Api) -> None:
    compared = 0
    for dossier in api.servers:
        for one in api.get(f"/servers/{dossier.server.id}/scorecards")["scorecards"]:
            path = f"/servers/{dossier.server.id}/scorecards/{one['rubric']}@{one['version']}"
            assert api.get(path) == one
            compared += _compare_numbers(one, api.get(f"{path}/receipt"))
    assert compared > 100


def _compare_numbers(rounded: Any, exact: Any, name: str = "") -> int:
    """Compare all members of two JSON values; the number of those that are a number in the first only."""
    if isinstance(rounded, dict):
        assert rounded.keys() == exact.keys()
        return sum(_compare_numbers(rounded[one], exact[one], one) for one in rounded)
    if isinstance(rounded, list):
        return sum(_compare_numbers(one, other) for one, other in zip(rounded, exact, strict=True))
    if type(rounded) is type(exact):
        assert rounded == exact
        return 0
    share = name in {"coverage", "effective_weight"}
    shown = format_percent(Decimal(exact)) if share else format_number(Decimal(exact)).replace(MINUS, "-")
    assert (format_percent(rounded) if share else str(rounded)) == shown
    return 1


def test_no_published_score_moves_when_it_is_rounded() -> None:
    """Grades follow from the score that is shown, so rounding for the API cannot reach a band."""
    scores = []
    for dossier in captures().values():
        assessment = assess_dossier(dossier)
        cards = [rubric.score(assessment) for rubric in catalogue.list_rubrics()]
        bounds = [bound for card in cards for bound in (card.score, card.floor, card.ceiling)]
        scores += [bound for bound in bounds if isinstance(bound, Decimal)]
    assert len(scores) > 100
    assert [one for one in scores if json_number(one) != one] == []


def test_receipts_can_be_chosen(api: Api) -> None:
    names = [one["rubric"] for one in api.get(f"{api.first}/scorecards")["scorecards"]]
    assert names == ["adaptive", "lint"]
    assert [one["rubric"] for one in api.get(f"{api.first}/scorecards?rubric=lint&version=1")["scorecards"]] == ["lint"]
    assert api.get(f"{api.first}/scorecards?version=9")["scorecards"] == []
    earlier = api.get(f"{api.first}/scorecards?run={api_stores.EARLIER.id}")
    assert earlier["as_of"] == "2026-02-28T03:00:00+00:00"


@pytest.mark.parametrize("facet", ["category", "transport", "access", "read_only", "advisories"])
def test_servers_state_their_facets_and_are_found_by_them(api: Api, facet: str) -> None:
    every = {one["id"]: one["facets"] for one in api.get("/servers?limit=200")["servers"]}
    values = {one: facets["categories"] if facet == "category" else [facets[facet]] for one, facets in every.items()}
    known = {value for found in values.values() for value in found if value}
    assert known or facet == "advisories", "the made-up servers have no records of advisories"
    for value in known | ({"yes"} if facet == "advisories" else set()):
        found = {item["id"] for item in api.get(f"/servers?{facet}={value}&limit=200")["servers"]}
        assert found == {one for one, having in values.items() if value in having}, value
    if facet == "access":
        assert known == {"open", "credentials"}


def test_the_last_discovered_servers_come_first(api: Api) -> None:
    there = [one["id"] for one in api.get("/servers?sort=added&limit=200")["servers"]]
    back = [one["id"] for one in api.get("/servers?sort=added&reverse=true&limit=200")["servers"]]
    assert len(set(there)) == len(api.servers)
    assert back == there[::-1]


def test_evidence_is_shown_without_what_is_guessable(api: Api) -> None:
    records = api.get(f"{api.first}/evidence")["records"]
    assert listing.KIND in records
    body = api.get(f"{api.first}/evidence/listing")["body"]
    content = api.servers[0].read(listing.KIND)
    assert not isinstance(content, Absent)
    assert body == json.loads(content.body)
    gone = api.get(f"{api.absent}/evidence/listing")
    assert gone["record"]["absent"] == {"reason": "oauth_required", "detail": "answered 401"}
    assert "body" not in gone
    assert access.KIND not in records


def test_a_body_is_shown_up_to_a_size(make_api: MakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    api = make_api()
    content = api.servers[1].read(listing.KIND)
    assert not isinstance(content, Absent)
    path = f"/servers/{api.servers[1].server.id}/evidence/listing"
    monkeypatch.setattr(evidence, "LARGEST", len(content.body) - 1)
    assert "/datasets" in api.get(path)["not_shown"]
    monkeypatch.setattr(evidence, "LARGEST", len(content.body))
    assert "body" in api.get(f"{path}?run={api_stores.EARLIER.id}")


def test_history_and_diff_tell_of_both_nights(api: Api) -> None:
    points = api.get(f"{api.first}/history?rubric=adaptive")["points"]
    assert [point["run"] for point in points] == [api_stores.EARLIER.id, api_stores.RUN.id]
    body = api.get(f"{api.first}/diff")
    assert (body["before"], body["after"]) == (api_stores.EARLIER.id, api_stores.RUN.id)
    assert [one["points"] for one in body["comparisons"]] == [0, 0]
    turned = api.get(f"{api.first}/diff?from={api_stores.RUN.id}&to={api_stores.EARLIER.id}")
    assert (turned["before"], turned["after"]) == (api_stores.RUN.id, api_stores.EARLIER.id)


def pages(api: Api, query: str) -> Iterator[dict[str, Any]]:
    """All pages, found by their Link headers."""
    address: str | None = f"/servers?{query}"
    while address:
        answer = api.client.get(f"/api/v1{address}")
        assert answer.status_code == 200, answer.text
        yield answer.json()
        found = re.search(r'<https://hallmark\.example/api/v1([^>]*)>; rel="next"', answer.headers.get("link", ""))
        assert bool(found) == (answer.json()["next_cursor"] is not None)
        address = found[1] if found else None


@pytest.mark.parametrize("sort", ["rank", "name", "seen"])
def test_pages_have_every_server_once_in_one_order(api: Api, sort: str) -> None:
    whole = [one["id"] for one in api.get(f"/servers?sort={sort}")["servers"]]
    assert sorted(whole) == sorted(dossier.server.id for dossier in api.servers)
    parts = [one["id"] for page in pages(api, f"sort={sort}&limit=2") for one in page["servers"]]
    assert parts == whole


def test_the_page_before_is_found_again(api: Api) -> None:
    first, second, *_ = pages(api, "limit=3")
    back = api.get("/servers", params={"limit": 3, "cursor": second["previous_cursor"]})
    assert back["servers"] == first["servers"]


def test_filters_leave_out_the_others(api: Api) -> None:
    absent = {dossier.server.id for dossier in api.servers if isinstance(dossier.read(listing.KIND), Absent)}
    assert {one["id"] for one in api.get("/servers?state=not_testable")["servers"]} == absent
    assert [one["name"] for one in api.get("/servers?reason=oauth_required&q=absent")["servers"]]
    assert api.get("/servers?minimum=101")["servers"] == []
    assert api.get("/servers?registry=elsewhere")["total"] == 0


def test_before_anything_is_published_there_is_nothing_and_no_failure(make_api: MakeApi) -> None:
    empty = make_api([])
    assert empty.get("/servers") == {
        "run": None, "total": 0, "minimum_total": 0, "servers": [], "next_cursor": None, "previous_cursor": None,
    }  # fmt: skip
    assert empty.get("/runs") == {"runs": []}
    assert empty.get("/health")["status"] == "empty"


def test_words_of_strangers_arrive_as_they_are(api: Api) -> None:
    name = api.get(f"/servers/{api.servers[-1].server.id}")["name"]
    assert name == samples.HOSTILE
    answer = api.client.get(f"/api/v1/servers/{api.servers[-1].server.id}/evidence/listing")
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_rules_and_methodologies_are_those_of_the_catalogue(api: Api) -> None:
    rules = api.get("/rules")["rules"]
    for rule in rules:
        whole = api.get(f"/rules/{rule['id']}")
        assert {name: whole[name] for name in rule} == rule
        assert whole["rationale"]
        assert whole["bad"]
        snippet = make_snippet(catalogue.get_rule(rule["id"]))
        assert whole["snippet"] == (asdict(snippet) if snippet else None)
    for rubric in api.get("/rubrics")["rubrics"]:
        whole = api.get(f"/rubrics/{rubric['id']}@{rubric['version']}")
        assert whole["criteria"]
