"""Rules about conversations: nothing that a server sends breaks them, and nothing unclear is held against it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidence.kinds.exchanges import LEGACY, MODERN, REVISIONS, Exchanges
from evidence.kinds.listing import Listing
from scoring.engine.assess import ask_rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange, stdio_exchange
from scoring.protocol import conformance
from scoring.protocol.conformance import ConformanceCheck
from scoring.results.outcome import Finding, Inapplicable, Level, Undecided
from scoring.scopes.conversation import Conversation
from tests.sampling import examples, some

CHECKS = [check for check in conformance.list_checks() if check.rule.scope is Conversation]
MUSTS = [check for check in CHECKS if check.requirement.level is Level.MUST]

LISTS = ["list-tools", "list-resources", "list-resourceTemplates", "list-prompts"]
BOTH = [
    *("unknown-method", "call-nonexistent", "read-nonexistent", "prompt-nonexistent", "malformed", "cursor-invented"),
    "cursor-invented-prompts",
    *("list-tools-undeclared", "list-resources-undeclared", "list-prompts-undeclared", "redirected"),
]
MODERN_STEPS = [
    *("discover", "discover-origin", "discover-host", "discover-version-unknown", "discover-version-mismatch"),
    *("discover-method-mismatch", "discover-method-missing", "discover-version-missing", "discover-session-faked"),
    *("discover-meta-missing", "discover-capabilities-missing", "discover-client-missing"),
    *("discover-headers-uppercase", "call-name-mismatch", "call-name-encoded", "removed-ping", "removed-logging"),
    *("removed-subscribe", "get", "delete", "list-tools-again", "list-tools-elsewhere", "listen", *LISTS, *BOTH),
]
LEGACY_STEPS = [
    *("initialize", "initialized", "ping", "stream", "version-unknown", "version-missing", "batch"),
    *("session-missing", "session-random", "end", "after-end", "sse-open", *LISTS, *BOTH),
    *("initialize-2024-11-05", "initialize-2025-03-26", "initialize-2025-06-18", "initialize-unknown"),
    "initialize-origin",
    "initialize-host",
    *("post-host", "post-origin-own", "post-origin"),
]
STDIO_STEPS = ["initialize", "initialized", "ping", "discover", "close", *LISTS, *BOTH]
EVERYWHERE = [
    (MODERN, "streamable-http", "E"),
    (MODERN, "stdio", "E"),
    (LEGACY, "sse", "A"),
    *((LEGACY, transport, revision) for transport in ("streamable-http", "stdio") for revision in "BD"),
]
VERBS = {"stream": "GET", "sse-open": "GET", "get": "GET", "end": "DELETE", "delete": "DELETE"}

META = {"io.modelcontextprotocol/serverInfo": {"name": "notes", "version": "1"}}
CAPABILITIES = {
    "tools": {"listChanged": True},
    "resources": {},
    "prompts": {},
    "extensions": {"io.modelcontextprotocol/ui": {}},
}
INITIALIZED = {
    "protocolVersion": "2025-11-25",
    "capabilities": CAPABILITIES,
    "serverInfo": {"name": "notes", "version": "1"},
}
DISCOVERED = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": CAPABILITIES,
    "ttlMs": 0,
    "cacheScope": "public",
    "_meta": META,
}
LISTED = {
    **DISCOVERED,
    "tools": [{"name": "search", "inputSchema": {"type": "object", "properties": {"q": {"x-mcp-header": "Q"}}}}],
    "resources": [{"name": "notes", "uri": "notes://all"}],
    "resourceTemplates": [{"name": "note", "uriTemplate": "notes://{id}"}],
    "prompts": [{"name": "sum", "arguments": [{"name": "a"}]}],
    "nextCursor": "next",
}
STREAMED = {"content-type": "text/event-stream", "x-endpoint": "same-origin"}
SESSION = {"length": 36, "visible": True, "same_as": None}

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=12),
    st.sampled_from(["", "\ud800", "\u202e", "2.0", "2026-07-28", "1900-01-01", "complete", "http://[", "a/b:c", "{"]),
    st.sampled_from([-32602, -32601, -32022, -32020, -32002, -32000, 200, 202, 307, 400, 404, 429, 10**300]),
)
MEMBERS = """
    jsonrpc id method params result error code message data supported requested requiredCapabilities resultType
    protocolVersion supportedVersions capabilities serverInfo name version extensions ttlMs cacheScope _meta tools
    resources resourceTemplates prompts nextCursor contents content isError uri uriTemplate arguments inputSchema
    outputSchema annotations properties type $ref $schema x-mcp-header completions listChanged
    io.modelcontextprotocol/serverInfo io.modelcontextprotocol/subscriptionId length visible same_as identifier
    location content-type mcp-session-id x-endpoint x-accel-buffering text event listed too_large
"""
KEYS = st.one_of(st.text(max_size=6), st.sampled_from(MEMBERS.split()))
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=8
)


def mostly(*values: Any) -> st.SearchStrategy[Any]:
    return st.one_of(st.sampled_from(values), st.sampled_from(values), JSON)


CONNECTION = st.fixed_dictionaries(
    {
        "transport": mostly("streamable-http", "stdio", "sse"),
        "era": mostly(LEGACY, MODERN),
        "opened": mostly(True, True, False),
        "offered": mostly(*REVISIONS.values(), "1900-01-01", None),
        "negotiated": mostly(*REVISIONS.values(), None),
        "session": mostly(None, SESSION),
    }
)
RECEIVED = st.one_of(
    JSON,
    st.fixed_dictionaries({"text": mostly("{", '"jsonrpc": 0}', "")}),
    st.fixed_dictionaries(
        {"message": st.one_of(JSON, st.fixed_dictionaries({"jsonrpc": mostly("2.0"), "id": JSON, "result": JSON}))},
        optional={"event": JSON, "id": JSON, "listed": JSON, "same_as": JSON, "too_large": JSON},
    ),
    st.fixed_dictionaries({"message": st.fixed_dictionaries({"id": JSON, "error": JSON})}),
    st.fixed_dictionaries({"message": st.fixed_dictionaries({"id": JSON, "method": JSON, "params": JSON})}),
)
HEADERS = st.dictionaries(KEYS, mostly("application/json", "text/event-stream", "no", "same-origin"), max_size=3)
EXCHANGE = st.fixed_dictionaries(
    {
        "step": mostly(*MODERN_STEPS, *LEGACY_STEPS, "close"),
        "page": mostly(0, 1),
        "connection": st.integers(0, 2) | JSON,
        "verb": mostly("POST", "POST", "GET", "DELETE", ""),
        "sent": st.one_of(JSON, st.fixed_dictionaries({"headers": HEADERS, "message": JSON, "text": JSON})),
        "status": mostly(200, 200, 202, 307, 400, 404, 405, None),
        "headers": st.one_of(HEADERS, JSON),
        "form": mostly("json", "stream", "lines", "other", "none"),
        "utf8": mostly(True, False),
        "batch": mostly(False, True),
        "ended": mostly(None, True, False),
        "received": st.one_of(st.lists(RECEIVED, max_size=3), JSON),
        "failure": mostly(None, None, None, {"reason": "timeout", "detail": ""}),
    }
)
BODY = st.fixed_dictionaries(
    {
        "target": st.fixed_dictionaries({"type": mostly("streamable-http"), "identifier": mostly("https://a.test/")}),
        "depth": mostly("core", "full"),
        "connections": st.lists(CONNECTION, min_size=1, max_size=3),
        "exchanges": st.lists(EXCHANGE, max_size=5),
    }
)


def body_of(*exchanges: dict[str, Any]) -> dict[str, Any]:
    """A body of exchanges made by `said`, each on a connection of its own unless it says the same of it."""
    connections: list[Any] = []
    rows: list[Any] = []
    for exchange in exchanges:
        connections += [exchange["connection"]] if exchange["connection"] not in connections else []
        rows.append({**exchange, "connection": connections.index(exchange["connection"])})
    target = {"type": "streamable-http", "identifier": "https://notes.example/mcp"}
    return {"target": target, "depth": "full", "connections": connections, "exchanges": rows}


def everything(place: tuple[str, str, str]) -> Iterator[dict[str, Any]]:
    """Every step of a place, answered once with a result and once with an error."""
    era, transport, _ = place
    if era == LEGACY:
        yield said(
            MODERN, "stdio" if transport == "stdio" else "streamable-http", "E", "discover", opened=False, status=404
        )
    steps = STDIO_STEPS if transport == "stdio" else MODERN_STEPS if era == MODERN else LEGACY_STEPS
    for step in steps:
        form = "lines" if transport == "stdio" else "stream"
        sent = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": {}}}
        opening = DISCOVERED if step == "discover" else {**INITIALIZED, "protocolVersion": REVISIONS[place[2]]}
        result = LISTED if step.startswith("list-") else opening
        session = None if transport == "stdio" else SESSION
        yield said(*place, step, result=result, form=form, sent=sent, session=session, ended=True, headers=STREAMED)
        if step.startswith("list-"):
            yield said(*place, step, result={**result, "nextCursor": "2"}, sent=sent, session=session, page=1)
        error = {"code": -32022, "message": "no", "data": {"supported": ["2026-07-28"], "requested": "1900-01-01"}}
        yield said(*place, step, error=error, status=400, sent=sent)


def places_in(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of everything in a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in inner:
        yield (*path, name)
        yield from places_in(member, (*path, name))


def put(value: Any, path: tuple[Any, ...], member: Any) -> Any:
    """A copy of the value with another member at the path; as it was where an earlier change took the path away."""
    if not path:
        return member
    name, *rest = path
    if isinstance(value, dict) and name in value:
        return {**value, name: put(value[name], tuple(rest), member)}
    if isinstance(value, list) and isinstance(name, int) and name < len(value):
        return [*value[:name], put(value[name], tuple(rest), member), *value[name + 1 :]]
    return value


def heard(check: ConformanceCheck, conversation: Conversation) -> tuple[Finding, ...] | None:
    """What a check says of a conversation, None when it does not judge it."""
    try:
        return ask_rule(check.rule, conversation, "digest", **dict(check.requirement.params))
    except (Inapplicable, Undecided):
        return None


def collect_findings(checks: Iterable[ConformanceCheck], conversation: Conversation) -> dict[str, Any]:
    answers = {check.requirement.id: heard(check, conversation) for check in checks}
    return {
        name: None if found is None else sorted((one.at, one.message, one.tolerated) for one in found)
        for name, found in answers.items()
    }


def test_every_step_is_judged_by_what_is_fed_to_the_rules() -> None:
    bodies = [body_of(*openings(*place), *everything(place)) for place in EVERYWHERE]
    talks = [Conversation(at="exchanges", recorded=Exchanges.parse(json.dumps(body).encode())) for body in bodies]
    own = [check for check in CHECKS if check.rule.family in {"transport", "session", "stdio", "lifecycle"}]
    unjudged = [one for one in own if all(heard(one, conversation) is None for conversation in talks)]
    assert [one.requirement.id for one in unjudged] == []


def judge_all(body: Any, listing: Any = None) -> None:
    known = Listing(listing) if isinstance(listing, dict) else None
    conversation = Conversation(
        at="exchanges", recorded=Exchanges.parse(json.dumps(body).encode(), known), listing=known
    )
    for check in CHECKS:
        for finding in heard(check, conversation) or ():
            assert finding.message.isprintable()
            assert len(finding.message) < 400


@settings(derandomize=True, max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(BODY, st.none() | JSON)
def test_no_body_breaks_a_rule(body: Any, listing: Any) -> None:
    judge_all(body, listing)


@pytest.mark.parametrize("place", some(EVERYWHERE, 2), ids="-".join)
def test_no_member_of_any_step_breaks_a_rule(place: tuple[str, str, str]) -> None:
    body = body_of(*openings(*place), *everything(place))
    paths = list(places_in(body))

    @settings(derandomize=True, max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(st.tuples(st.sampled_from(paths), JSON), min_size=1, max_size=40))
    def ask_everything(changes: Any) -> None:
        changed = body
        for path, member in changes:
            changed = put(changed, path, member)
        judge_all(changed)

    ask_everything()


def openings(era: str, transport: str, revision: str) -> list[dict[str, Any]]:
    """How a server that keeps every rule opens."""
    if era == MODERN:
        made = modern_exchange if transport == "streamable-http" else stdio_exchange
        return [made("discover", result=DISCOVERED, **({} if made is modern_exchange else {"revision": "E"}))]
    answer = {**INITIALIZED, "protocolVersion": REVISIONS[revision]}
    if transport == "stdio":
        return [stdio_exchange("initialize", revision=revision, result=answer)]
    rest = {"transport": transport, "revision": revision}
    accepted = legacy_exchange("initialized", status=202, form="none", **rest)
    return [legacy_exchange("initialize", result=answer, **rest), accepted]


def said(era: str, transport: str, revision: str, step: str, **members: Any) -> dict[str, Any]:
    members.setdefault("verb", VERBS.get(step, "POST"))
    if transport == "stdio":
        return stdio_exchange(
            step, revision="E" if era == MODERN else revision, **{**members, "verb": "", "status": None}
        )
    if era == MODERN:
        return modern_exchange(step, **members)
    return legacy_exchange(step, transport=transport, revision=revision, **members)


PLACES = st.one_of(
    st.tuples(st.just(MODERN), st.just("streamable-http"), st.just("E"), st.sampled_from(MODERN_STEPS)),
    st.tuples(
        st.just(LEGACY),
        st.sampled_from(["streamable-http", "sse"]),
        st.sampled_from("ABCD"),
        st.sampled_from(LEGACY_STEPS),
    ),
    st.tuples(st.just(LEGACY), st.just("stdio"), st.sampled_from("ABCD"), st.sampled_from(STDIO_STEPS)),
    st.tuples(st.just(MODERN), st.just("stdio"), st.just("E"), st.sampled_from(STDIO_STEPS)),
)
UNCLEAR = st.sampled_from(
    [
        {"failure": ("timeout", "no answer within 30 s")},
        {"failure": ("too_large", "more than 4194304 bytes")},
        {"failure": ("not_collected", "the budget was spent")},
        {"status": 408},
        {"status": 429},
        {"status": 500},
        {"status": 503},
        {"received": [{"message": {"jsonrpc": "2.0", "id": 1}, "too_large": 70_000}]},
    ]
)
ANSWERED = st.one_of(
    st.fixed_dictionaries({"result": JSON}),
    st.fixed_dictionaries({"error": st.one_of(JSON, st.fixed_dictionaries({"code": JSON, "message": JSON}))}),
    st.fixed_dictionaries({"received": st.lists(RECEIVED, max_size=3)}),
    st.just({}),
)
LOOKS = st.fixed_dictionaries(
    {
        "headers": st.sampled_from([{}, {"content-type": "text/html"}, {"content-type": "application/json"}]),
        "form": st.sampled_from(["json", "stream", "lines", "other", "none"]),
        "utf8": st.booleans(),
        "batch": st.booleans(),
        "ended": st.sampled_from([None, True, False]),
        "session": st.sampled_from([None, SESSION]),
        "sent": st.sampled_from([None, {"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"id": "hallmark-id"}]),
        "status": st.sampled_from([200, 202, 400, 404]),
    }
)


def objects(received: Any) -> list[dict[str, Any]]:
    """The messages that are objects."""
    messages = (one.get("message") for one in received if isinstance(one, dict))
    return [message for message in messages if isinstance(message, dict)]


@settings(derandomize=True, max_examples=examples(250), deadline=None, suppress_health_check=list(HealthCheck))
@given(PLACES, LOOKS, ANSWERED, UNCLEAR)
def test_nothing_unclear_fails_a_must_check(place: Any, looks: Any, answered: Any, unclear: Any) -> None:
    era, transport, revision, _ = place
    if transport == "stdio" and "status" in unclear:
        return  # no status there, so a clear answer
    before = openings(era, transport, revision)
    exchange = said(*place, **{**looks, **answered, **unclear})
    if any({"id", "method"} <= message.keys() for message in objects(exchange.get("received", ()))):
        return  # what the server asked before it fell silent is clear
    if transport == "stdio" and not looks["session"]:
        exchange["connection"] = before[0]["connection"]
    failed = collect_findings(MUSTS, build_conversation(*before))
    for name, found in collect_findings(MUSTS, build_conversation(*before, exchange)).items():
        new = [finding for finding in found or () if finding not in (failed[name] or ())]
        assert all(tolerated for _, _, tolerated in new), (name, new)


@settings(derandomize=True, max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_the_order_of_other_questions_does_not_matter(data: st.DataObject) -> None:
    era = data.draw(st.sampled_from([MODERN, LEGACY]))
    steps = [
        step for step in (MODERN_STEPS if era == MODERN else LEGACY_STEPS) if step not in {"discover", "redirected"}
    ]
    chosen = data.draw(st.lists(st.sampled_from(steps), unique=True, min_size=2, max_size=6))
    place = (era, "streamable-http", "E" if era == MODERN else data.draw(st.sampled_from("ABCD")))
    looks = {name: value for name, value in data.draw(LOOKS).items() if name != "session"}
    said_then = [said(*place, step, **{**looks, **data.draw(ANSWERED)}) for step in chosen if step != "initialize"]
    shuffled = data.draw(st.permutations(said_then))
    before = openings(*place)
    assert collect_findings(CHECKS, build_conversation(*before, *said_then)) == collect_findings(
        CHECKS, build_conversation(*before, *shuffled)
    )


BEYOND = {"DEP-01"}
"""The check that says what revision E says of servers that have not moved to it."""


@settings(derandomize=True, max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from("ABCD"), st.sampled_from(["streamable-http", "sse", "stdio"]), st.data())
def test_a_legacy_server_is_not_judged_by_the_newest_revision(revision: str, transport: str, data: Any) -> None:
    steps = STDIO_STEPS if transport == "stdio" else LEGACY_STEPS
    chosen = data.draw(st.lists(st.sampled_from([step for step in steps if step != "discover"]), max_size=4))
    conversation = build_conversation(
        said(MODERN, "stdio" if transport == "stdio" else "streamable-http", "E", "discover", opened=False, status=404),
        *openings(LEGACY, transport, revision),
        *(said(LEGACY, transport, revision, step, **data.draw(ANSWERED)) for step in chosen),
    )
    newest = [check for check in CHECKS if check.requirement.revisions == "E"]
    judged = {check.requirement.id for check in newest if heard(check, conversation) is not None}
    assert judged <= BEYOND


@settings(derandomize=True, max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(["streamable-http", "stdio"]), st.data())
def test_a_modern_server_is_not_judged_by_older_revisions(transport: str, data: Any) -> None:
    steps = STDIO_STEPS if transport == "stdio" else MODERN_STEPS
    chosen = data.draw(st.lists(st.sampled_from([step for step in steps if step != "initialize"]), max_size=4))
    conversation = build_conversation(
        *openings(MODERN, transport, "E"),
        said(LEGACY, transport, "", "initialize", opened=False, status=400, error={"code": -32601}),
        *(said(MODERN, transport, "E", step, **data.draw(ANSWERED)) for step in chosen),
    )
    older = [check for check in CHECKS if "E" not in check.requirement.revisions]
    assert [check.requirement.id for check in older if heard(check, conversation) is not None] == []


def test_a_refused_post_is_no_part_of_a_server_of_http_sse() -> None:
    refused = legacy_exchange("initialize", status=405, form="other", opened=False)
    opened = openings(LEGACY, "sse", "A")
    alone, both = build_conversation(*opened), build_conversation(refused, *opened)
    assert [one.connection.transport for one in both.exchanges] == ["sse", "sse"]
    assert collect_findings(MUSTS, both) == collect_findings(MUSTS, alone)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_says_nothing_about_the_question(status: int) -> None:
    conversation = build_conversation(
        *openings(MODERN, "streamable-http", "E"), modern_exchange("discover-meta-missing", status=status)
    )
    with pytest.raises(Undecided):
        conversation.conclusive("discover-meta-missing")


@pytest.mark.parametrize("era", [MODERN, LEGACY])
def test_a_server_that_keeps_every_rule_fails_none(era: str) -> None:
    found = collect_findings(
        CHECKS, build_conversation(*openings(era, "streamable-http", "E" if era == MODERN else "D"))
    )
    assert not any(found.values())


@pytest.mark.parametrize(
    ("location", "complaint"),
    [
        ("/mcp/", ""),
        ("other?x=1", ""),
        ("https://notes.example:443/mcp/", ""),
        ("https://NOTES.example/mcp/", ""),
        ("http://notes.example/mcp", "from https to http"),
        ("https://notes.example:8443/mcp", "to another origin"),
        ("//other.example/mcp", "to another origin"),
        ("https://notes.example@other.example/mcp", "to another origin"),
        ("ftp://notes.example/mcp", "to an invalid URL"),
    ],
)
def test_a_redirect_is_seen_from_the_address_that_was_probed(location: str, complaint: str) -> None:
    body = body_of(
        modern_exchange("redirected", status=308, headers={"location": location}),
        modern_exchange("discover", result={}),
    )
    conversation = Conversation(at="exchanges", recorded=Exchanges.parse(json.dumps(body).encode()))
    found = collect_findings([check for check in CHECKS if check.requirement.id == "HTTP-12"], conversation)["HTTP-12"]
    assert [message for _, message, _ in found] == [f"HTTP 308 {complaint}"] * bool(complaint)
