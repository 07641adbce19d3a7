"""Who gets in: the class of a server from what its door answers, and the metadata of one that is locked."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from evidence.kinds.access import AccessClass
from evidence.model import Absent, Observed, Reason, Target, TargetType
from tests.crawler.collectors.protocol.access.access_session import Looked, look, probe_access
from tests.servers.hostile import OPENING, Behaviour, Call, Mcp, serving
from tests.servers.locked import OIDC, PRM, RFC8414, Locked, good_pages

ADVERTISED = f'Bearer resource_metadata="{{origin}}{PRM}/mcp", scope="notes:read"'
WAF = b"<!DOCTYPE html><html><head><title>Just a moment...</title></head></html>"


def always(status: int, body: bytes = b"", *headers: tuple[str, str], kind: str = "application/json") -> Behaviour:
    async def behave(call: Call) -> None:
        await call.reply(status, body, *headers, kind=kind)

    return behave


def says(code: int, message: str, status: int = 200) -> Behaviour:
    async def behave(call: Call) -> None:
        await call.error(code, message, status)

    return behave


def listing_says(behaviour: Behaviour) -> Mcp:
    return Mcp(overrides={"tools/list": behaviour})


async def modern_but_locked(call: Call) -> None:
    """A modern server that anybody may discover and only some may list."""
    if call.method == "server/discover":
        await call.result({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
    else:
        await call.reply(401, b"", ("WWW-Authenticate", "Bearer"))


@pytest.mark.parametrize(
    ("behaviour", "expected", "status"),
    [
        pytest.param(Mcp(), AccessClass.OPEN, None, id="open"),
        pytest.param(Locked(), AccessClass.GATED_AT_CONNECT, 401, id="401"),
        pytest.param(Locked(challenge=None), AccessClass.GATED_AT_CONNECT, 401, id="401-bare"),
        pytest.param(Locked("Basic realm=a"), AccessClass.GATED_AT_CONNECT, 401, id="basic"),
        pytest.param(Locked(status=403), AccessClass.GATED_AT_CONNECT, 403, id="403-with-challenge"),
        pytest.param(Locked(at="tools/list"), AccessClass.GATED_AT_LIST, 401, id="list"),
        pytest.param(modern_but_locked, AccessClass.GATED_AT_LIST, 401, id="modern-list"),
        pytest.param(
            listing_says(says(-32001, "Unauthorized: missing access token")),
            AccessClass.GATED_AT_LIST,
            200,
            id="list-200",
        ),
        pytest.param(always(400, b"Bearer token required"), AccessClass.GATED_AT_CONNECT, 400, id="400-with-words"),
        pytest.param(says(-32600, "Authentication required"), AccessClass.GATED_AT_CONNECT, 200, id="200-with-error"),
        pytest.param(always(402, b"{}"), AccessClass.PAYMENT, 402, id="402"),
        pytest.param(listing_says(always(402)), AccessClass.PAYMENT, 402, id="list-402"),
        pytest.param(always(403, b"no"), AccessClass.FORBIDDEN, 403, id="403"),
        pytest.param(always(403, WAF, kind="text/html"), AccessClass.BLOCKED_BY_WAF, 403, id="waf"),
        pytest.param(always(403, b"", ("cf-mitigated", "challenge")), AccessClass.BLOCKED_BY_WAF, 403, id="waf-header"),
        pytest.param(always(421, b"Invalid Host header"), AccessClass.NOT_MCP, 421, id="421"),
        pytest.param(always(404), AccessClass.NOT_MCP, 404, id="404"),
        pytest.param(always(200, b"<html>", kind="text/html"), AccessClass.NOT_MCP, 200, id="page"),
        pytest.param(listing_says(says(-32601, "no such method")), AccessClass.OPEN, None, id="list-error"),
        pytest.param(listing_says(always(503)), AccessClass.OPEN, None, id="list-503"),
    ],
)
def test_the_door_decides_the_class(behaviour: Behaviour, expected: AccessClass, status: int | None) -> None:
    access = probe_access(behaviour).access
    assert access.access_class is expected
    assert (access.gate.status if access.gate else None) == status


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        (always(503), Reason.UNREACHABLE),
        (always(500), Reason.UNREACHABLE),
        (always(429), Reason.RATE_LIMITED),
        (always(408), Reason.TIMEOUT),
    ],
    ids=["503", "500", "429", "408"],
)
def test_a_passing_state_says_nothing_about_access(behaviour: Behaviour, reason: Reason) -> None:
    content = probe_access(behaviour).content
    assert isinstance(content, Absent)
    assert content.reason is reason


def test_a_host_that_answers_nothing_has_no_access_record() -> None:
    looked = asyncio.run(look(Target(type=TargetType.STREAMABLE_HTTP, identifier="http://127.0.0.1:1/mcp")))
    assert isinstance(looked.content, Absent)
    assert looked.content.reason is Reason.UNREACHABLE


def test_a_locked_sse_server_is_gated() -> None:
    async def behave(call: Call) -> None:
        await call.reply(401, b"", ("WWW-Authenticate", 'Bearer scope="a"'))

    access = probe_access(behave, TargetType.SSE).access
    assert access.access_class is AccessClass.GATED_AT_CONNECT
    assert (access.gate and access.gate.step, access.bogus and access.bogus.status) == ("sse-open", 401)


def test_an_sse_server_that_locks_only_its_endpoint_is_gated() -> None:
    async def behave(call: Call) -> None:
        if call.verb == "GET" and call.path == "/mcp":
            await call.send(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nevent: endpoint\ndata: /post\n\n"
            )
            await asyncio.sleep(30)
        elif call.verb == "GET":
            await call.reply(404)
        else:
            await call.reply(401, b"", ("WWW-Authenticate", "Bearer"))

    access = probe_access(behave, TargetType.SSE).access
    assert access.access_class is AccessClass.GATED_AT_CONNECT
    assert [(one["step"], one["outcome"]) for one in access.body["answers"]] == [
        ("sse-open", "open"),
        ("initialize", "oauth_required"),
    ]
    assert (access.bogus and access.bogus.step) == "initialize"


def test_a_locked_server_without_a_flaw_passes_every_must() -> None:
    server = Locked(ADVERTISED, pages=good_pages())
    looked = probe_access(server)

    assert looked.verdicts == {
        "AUTH-00": "fail",  # for information: it is locked
        **{f"AUTH-{number:02}": "pass" for number in (1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 14)},
        "AUTH-10": "fail",  # a SHOULD: no client ID metadata documents
        "AUTH-11": "not_applicable",
        "AUTH-12": "not_applicable",
    }
    assert looked.access.resource_metadata[0].by == "header"


def test_nothing_is_posted_but_to_the_server_itself_and_nothing_is_registered() -> None:
    server = Locked(ADVERTISED, pages=good_pages())
    probe_access(server)

    assert {verb for verb, path, _ in server.asked if path != "/mcp"} == {"GET"}
    assert not [path for _, path, _ in server.asked if path in {"/register", "/authorize", "/token"}]
    assert [credential for verb, _, credential in server.asked if verb == "GET" and credential] == []
    verb, path, credential = server.asked[-1]
    assert (verb, path) == ("POST", "/mcp")
    assert credential.startswith("Bearer ")


def test_an_open_server_is_asked_for_resource_metadata_only() -> None:
    server = Locked(at="nothing")
    looked = probe_access(server)
    assert [path for verb, path, _ in server.asked if verb == "GET"] == [f"{PRM}/mcp", PRM]
    assert looked.failed() == set()
    assert looked.verdicts["AUTH-13"] == looked.verdicts["AUTH-02"] == "not_applicable"


# What was seen in the field (guide: failures of real servers).


def failing(looked: Looked) -> set[str]:
    """The MUST checks that fail."""
    return looked.failed() - {"AUTH-00", "AUTH-09", "AUTH-10", "AUTH-11", "AUTH-12"}


@pytest.mark.parametrize("challenge", [None, "Bearer", 'Bearer realm="notes", error="invalid_token"'])
def test_a_token_without_any_sign_of_oauth_fails_nothing_and_is_not_called_oauth(challenge: str | None) -> None:
    looked = probe_access(Locked(challenge=challenge, opens_for_any=True))
    assert failing(looked) == set()
    assert (looked.verdicts["AUTH-02"], looked.verdicts["AUTH-13"]) == ("warn", "warn")
    assert [attempt.by for attempt in looked.access.resource_metadata] == ["path", "root"]


def test_a_header_that_points_nowhere_and_an_issuer_of_another_name() -> None:
    pages = good_pages()
    pages[RFC8414]["issuer"] = "https://other.example"
    looked = probe_access(Locked('Bearer resource_metadata="{origin}/gone"', pages={**pages, "/gone": always(404)}))
    assert [(one.by, one.status) for one in looked.access.resource_metadata] == [("header", 404), ("path", 200)]
    assert looked.verdicts["AUTH-02"] == "warn"
    assert failing(looked) == {"AUTH-06"}


def test_metadata_at_the_root_only_is_found() -> None:
    pages = good_pages()
    pages[PRM] = pages.pop(f"{PRM}/mcp")
    looked = probe_access(Locked(pages=pages))
    assert [one.by for one in looked.access.resource_metadata] == ["path", "root"]
    assert failing(looked) == set()


def test_a_header_that_names_the_server_itself_falls_back_to_the_well_known_address() -> None:
    looked = probe_access(Locked('Bearer resource_metadata="{origin}/mcp"', pages=good_pages()))
    assert [(one.by, one.status) for one in looked.access.resource_metadata] == [("header", 405), ("path", 200)]
    assert failing(looked) == set()


@pytest.mark.parametrize(
    ("resource", "verdict"),
    [
        ("{origin}/mcp", "pass"),
        ("{origin}/mcp/", "warn"),
        ("{origin}", "warn"),
        ("{origin}/", "warn"),
        ("{origin}/sse", "fail"),
        ("https://other.example/mcp", "fail"),
    ],
)
def test_the_resource_must_be_the_server(resource: str, verdict: str) -> None:
    pages = good_pages()
    pages[f"{PRM}/mcp"]["resource"] = resource
    assert probe_access(Locked(ADVERTISED, pages=pages)).verdicts["AUTH-04"] == verdict


def test_the_layout_of_2025_03_26_is_recorded() -> None:
    looked = probe_access(Locked(pages={RFC8414: good_pages()[RFC8414]}))
    [issuer] = looked.access.authorization_servers
    assert (issuer.layout, issuer.found is not None) == ("legacy", True)
    assert looked.verdicts["AUTH-02"] == "warn"
    assert failing(looked) == set()


def test_metadata_without_pkce_and_over_plain_http_fails() -> None:
    pages = good_pages()
    del pages[RFC8414]["code_challenge_methods_supported"]
    pages[RFC8414]["token_endpoint"] = "http://login.example/token"
    assert failing(probe_access(Locked(ADVERTISED, pages=pages))) == {"AUTH-07", "AUTH-08"}


@pytest.mark.parametrize(
    ("issuer", "asked"),
    [
        ("{origin}/tenant", [f"{RFC8414}/tenant", f"{OIDC}/tenant", f"/tenant{OIDC}"]),
        ("{origin}/tenant/", [f"{RFC8414}/tenant", f"{OIDC}/tenant", f"/tenant{OIDC}"]),
        ("{origin}", [RFC8414, OIDC]),
        ("{origin}/", [RFC8414, OIDC]),
    ],
)
def test_metadata_of_an_issuer_is_looked_for_in_the_order_of_the_specification(issuer: str, asked: list[str]) -> None:
    pages: dict[str, Any] = {f"{PRM}/mcp": {"resource": "{origin}/mcp", "authorization_servers": [issuer]}}
    server = Locked(ADVERTISED, pages=pages)
    looked = probe_access(server)
    assert [path for verb, path, _ in server.asked if verb == "GET"][1:] == asked
    assert looked.verdicts["AUTH-05"] == "fail"


def test_the_first_document_ends_the_search() -> None:
    pages = {f"{PRM}/mcp": {"resource": "{origin}/mcp", "authorization_servers": ["{origin}/t"]}}
    server = Locked(ADVERTISED, pages=pages | {f"{OIDC}/t": {**good_pages()[RFC8414], "issuer": "{origin}/t"}})
    [issuer] = probe_access(server).access.authorization_servers
    assert [(one.by, one.status) for one in issuer.attempts] == [("rfc8414", 404), ("openid", 200)]


def test_a_server_that_any_token_opens_fails() -> None:
    looked = probe_access(Locked(ADVERTISED, pages=good_pages(), opens_for_any=True))
    assert failing(looked) == {"AUTH-13"}


def test_an_invalid_token_at_a_locked_list_is_tried_in_a_session_of_its_own() -> None:
    looked = probe_access(Locked(ADVERTISED, pages=good_pages(), at="tools/list"))
    assert (looked.access.bogus and looked.access.bogus.step, looked.verdicts["AUTH-13"]) == ("list-tools", "pass")


@pytest.mark.parametrize(
    "header", ["Bearer " + 'x="' * 5000, "\xff\xfe=", '"' * 3000, "=" * 3000, "Bearer scope=" + "a" * 9000]
)
def test_a_hostile_challenge_is_survived(header: str) -> None:
    looked = probe_access(Locked(header))
    assert looked.access.access_class is AccessClass.GATED_AT_CONNECT
    assert len(json.dumps(looked.access.body)) < 20_000


def test_the_body_is_the_same_every_night() -> None:
    nonces = iter(range(1000, 9999))

    async def behave(call: Call) -> None:
        number = next(nonces)
        challenge = f'Digest realm="a", nonce="n{number}", opaque="o{number}", Bearer error="invalid_token"'
        await call.reply(
            401, f'{{"request": {number}}}'.encode(), ("WWW-Authenticate", challenge), ("Date", str(number))
        )

    async def twice() -> list[Looked]:
        async with serving(behave) as url:
            target = Target(type=TargetType.STREAMABLE_HTTP, identifier=url)
            return [await look(target), await look(target)]

    first, second = asyncio.run(twice())
    assert isinstance(first.content, Observed)
    assert first.content == second.content


def test_tokens_in_a_challenge_are_masked_and_words_are_kept() -> None:
    header = 'Bearer realm="notes", error_description="token sk-abc123def456ghi789 is unknown", trace-id="a1"'
    parameters = probe_access(Locked(header)).access.challenges[0].parameters
    assert parameters["realm"] == "notes"
    assert "sk-abc123" not in parameters["error_description"]
    assert parameters["trace-id"] == "[removed]"


def test_the_registered_address_is_kept_without_its_values() -> None:
    looked = probe_access(Mcp(opening=OPENING), query="?api_key=sesame&lang=en")
    assert looked.access.registered.partition("?")[2] == "api_key=[removed]&lang=[removed]"
    assert looked.failed() == {"AUTH-14"}


def test_values_in_queries_are_masked_in_documents_too() -> None:
    """The document of an issuer is read at the address that the server gave, and the issuer matches as before."""
    issuer = "{origin}/tenant?token=s3cr3tv4lue-0123456789abcdef"
    documented = {**good_pages()[RFC8414], "issuer": issuer, "jwks_uri": "https://u:hidden@a.example/?k=hidden"}
    pages = {
        f"{PRM}/mcp": {"resource": "{origin}/mcp", "authorization_servers": [issuer]},
        f"{RFC8414}/tenant": json.dumps(documented).replace("https://u", "https:\\/\\/u"),
    }
    looked = probe_access(Locked(ADVERTISED, pages=pages))

    assert isinstance(looked.content, Observed)
    assert looked.access.authorization_servers[0].found
    assert b"s3cr3t" not in looked.content.body
    assert b"hidden" not in looked.content.body
    assert looked.content.body.count(b"?token=[removed]") == 3
    assert b'"code_challenge_methods_supported": ["S256"]' in looked.content.body  # other bytes stay as they are
    assert looked.verdicts["AUTH-06"] == "pass"
