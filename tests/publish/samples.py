"""Made-up servers and receipts for tests of publishing: ordinary ones, absent ones, and hostile ones."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from evidence.kinds import listing, registration
from evidence.model import (
    Absent,
    Dossier,
    Observed,
    Reason,
    Record,
    Run,
    Server,
    ServerRef,
    Status,
    Target,
    TargetType,
    Trigger,
)
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import ComponentScore, DimensionScore, Line, Scorecard

AS_OF = datetime(2026, 3, 1, 3, 0, tzinfo=UTC)
RUN = Run(
    id="run_20260301T030000Z_0001",
    trigger=Trigger.LOCAL,
    as_of=AS_OF,
    pins={"code": "0.1.0", "dataset": "1", "rubric.lint": "1", "ruleset": "0123456789abcdef"},
)

SCRIPT = "<script>alert(1)</script>"
HOSTILE = f"{SCRIPT}\"'><img src=x onerror=alert(2)>\x1b[31mred\x07\u202egnitirw\u2066\u200bzero{{{{7*7}}}}{{% raw %}}"
REASONS = (Reason.OAUTH_REQUIRED, Reason.UNREACHABLE, Reason.START_FAILED, Reason.NOT_MCP, Reason.SANDBOX_RESTRICTED)
WORDS = ("search", "read", "list", "create", "update", "query", "fetch", "send", "convert", "render", "plan", "book")


def dossiers(count: int, seed: int = 1) -> list[Dossier]:
    """`count` dossiers, the same for the same seed: every sixth is absent, every ninth partial."""
    dice = random.Random(seed)
    return [_dossier(number, dice) for number in range(count)]


def hostile_dossier() -> Dossier:
    """A server whose every text is an attack."""
    target = Target(type=TargetType.STREAMABLE_HTTP, identifier="https://evil.example/mcp")
    server = Server(ref=f"https://evil.example/{HOSTILE}", name=HOSTILE, targets=(target,), seen_in=(HOSTILE,))
    tools = [
        {
            "name": HOSTILE,
            "title": HOSTILE,
            "description": HOSTILE + "\n" + "long " * 5000,
            "annotations": {HOSTILE: 1},
        },
        {
            "name": "../../etc/passwd",
            "inputSchema": {
                "properties": {HOSTILE: {"type": HOSTILE, "description": HOSTILE}},
                "required": [HOSTILE, 3],
            },
        },
        "not an object",
        None,
    ]
    opening = {
        "serverInfo": {"name": HOSTILE, "version": HOSTILE},
        "instructions": HOSTILE,
        "capabilities": {HOSTILE: {}},
    }
    body = _listing(server, opening, {"tools": [{"tools": tools}]}, ends={"prompts": ("error", {"message": HOSTILE})})
    return _with_records(server, Observed(body), {"headers": {HOSTILE: HOSTILE}, "exchanges": [{"status": HOSTILE}]})


def unsandboxed_dossier(runtime: str = "none") -> Dossier:
    """A command that its user ran without a sandbox, or in another one."""
    target = Target(type=TargetType.COMMAND, identifier="/home/someone", arguments=("secret-server",))
    server = Server(ref="command:secret-server", name="secret-server", targets=(target,))
    return _with_records(server, Observed(_listing(server, {}, {}, sandbox=runtime)), {})


def absent_dossier(reason: Reason, detail: str = "", ref: str = "") -> Dossier:
    """A server that could not be opened."""
    name = f"absent-{reason.value}"
    server = Server(ref=ref or f"npm:{name}", name=f"example/{name}", seen_in=("starter",))
    return _with_records(server, Absent(reason, detail), {})


def cards(dossier: Dossier) -> list[Scorecard]:
    """Hand-made receipts of two rubrics, so that goldens do not move with the rules."""
    content = dossier.read(listing.KIND)
    if isinstance(content, Absent):
        return [_adaptive(dossier, None, content.reason.value), _lint(dossier, None, content.reason.value)]
    tools = listing.Listing.parse(content.body).tools.items
    lines = []
    for tool in tools:
        if not tool.description:
            lines.append(_line("tool-no-description", -15, f"tools/{tool.name}", "no description", "error"))
        elif len(tool.description) < 30:
            lines.append(_line("tool-short-description", -5, f"tools/{tool.name}", "too short", "warning"))
        if not tool.get("inputSchema"):
            lines.append(_line("tool-no-schema", -15, f"tools/{tool.name}", f"no inputSchema on {tool.name}", "error"))
    return [_adaptive(dossier, lines), _lint(dossier, lines)]


def _lint(dossier: Dossier, lines: Sequence[Line] | None, reason: str = "") -> Scorecard:
    score = NotMeasured(reason, "no listing") if lines is None else Decimal(max(0, 100 + sum(x.points for x in lines)))
    grade = None if isinstance(score, NotMeasured) else "ABCDF"[min(4, int((100 - score) // 12))]
    coverage = Decimal(0) if lines is None else Decimal(1)
    return _card(dossier, "lint", score, grade, coverage, lines=tuple(lines or ()), caveats=_caveats(dossier))


def _adaptive(dossier: Dossier, lines: Sequence[Line] | None, reason: str = "") -> Scorecard:
    trust = Decimal("6.5")
    schema = (
        NotMeasured(reason, "no listing") if lines is None else Decimal(max(0, 10 + sum(x.points for x in lines) / 10))
    )
    weight = Decimal(1) if lines is None else Decimal("0.375")
    lost = tuple(_line("schema-quality", int(line.points / 10) or -1, line.at, line.why, "") for line in lines or ())
    parts = (
        DimensionScore(
            name="schema_quality",
            base_weight=Decimal("0.25"),
            effective_weight=1 - weight,
            result=schema,
            status="not_testable" if lines is None else "measured",
            components=()
            if lines is None
            else (
                ComponentScore(
                    name="descriptions",
                    base_weight=Decimal("0.5"),
                    effective_weight=Decimal(1),
                    result=schema,
                    checked=3,
                    lines=lost,
                ),
                ComponentScore(
                    name="trials",
                    base_weight=Decimal("0.5"),
                    effective_weight=Decimal(0),
                    result=NotMeasured("not_collected", "no trials record in this run"),
                ),
            ),
        ),
        DimensionScore(
            name="trust",
            base_weight=Decimal("0.15"),
            effective_weight=weight,
            result=trust,
            status="partial",
            lines=(_line("repository-linked", 0, "", "the entry names a repository", ""),),
        ),
        DimensionScore(
            name="reliability",
            base_weight=Decimal("0.60"),
            effective_weight=Decimal(0),
            result=NotMeasured("not_collected", "no trials record in this run"),
            status="not_testable",
        ),
    )
    score = trust * 10 if isinstance(schema, NotMeasured) else ((1 - weight) * schema + weight * trust) * 10
    coverage = Decimal("0.15") if lines is None else Decimal("0.40")
    facts = {"evidence": "thin" if lines is None else "sufficient"}
    whole, floor = score.quantize(Decimal(1)), (score * coverage).quantize(Decimal(1))
    return _card(dossier, "adaptive", whole, None, coverage, dimensions=parts, facts=facts, floor=floor)


def _card(
    dossier: Dossier, rubric: str, score: Decimal | NotMeasured, grade: str | None, coverage: Decimal, **more: Any
) -> Scorecard:
    return Scorecard(
        server=dossier.server.id,
        rubric=rubric,
        version=1,
        source_version="2.1" if rubric == "adaptive" else "2026-03",
        score=score,
        grade=grade,
        as_of=dossier.as_of,
        coverage=coverage,
        versions={"rubric": f"{rubric}@1", "ruleset": "0123456789abcdef"},
        evidence={kind: record.digest for kind, record in dossier.records.items()},
        **more,
    )


def _line(cites: str, points: int, at: str, why: str, severity: str) -> Line:
    return Line(cites=cites, points=Decimal(points), why=why, rule=f"{cites}-rule", at=at, severity=severity)


def _caveats(dossier: Dossier) -> tuple[str, ...]:
    content = dossier.read(listing.KIND)
    partial = isinstance(content, Observed) and b'"end":"error"' in content.body
    return ("a declared list answered an error and counts as empty",) if partial else ()


def _dossier(number: int, dice: random.Random) -> Dossier:
    name = f"{dice.choice(WORDS)}-{dice.choice(WORDS)}-{number}"
    ref = dice.choice((f"npm:@example/{name}", f"pypi:{name}", f"https://{name}.example/mcp"))
    server = Server(ref=ref, name=f"com.example/{name}", seen_in=("starter",), repository=f"https://git.example/{name}")
    if number % 6 == 5:
        reason = REASONS[(number // 6) % len(REASONS)]
        return _with_records(server, Absent(reason, f"example detail of {reason.value}"), {"duration_ms": 12})
    tools = [_tool(dice) for _ in range(dice.randint(1, 7))]
    opening = {
        "protocolVersion": "2025-06-18",
        "serverInfo": {"name": name, "version": f"1.{number}.0"},
        "capabilities": {"tools": {}},
        "instructions": "Ask for one page at a time." if number % 4 == 0 else "",
    }
    ends = {"prompts": ("error", {"code": -32601, "message": "Method not found"})} if number % 9 == 4 else {}
    body = _listing(server, opening, {"tools": [{"tools": tools}]}, ends=ends)
    observation = {
        "durations_ms": {"opening": dice.randint(20, 900)},
        "exchanges": [{"method": "tools/list", "status": 200}],
    }
    return _with_records(server, Observed(body), observation)


def _tool(dice: random.Random) -> dict[str, Any]:
    verb, noun = dice.choice(WORDS), dice.choice(("file", "page", "issue", "order", "image", "table"))
    tool: dict[str, Any] = {"name": f"{verb}_{noun}"}
    if dice.random() > 0.15:
        tool["description"] = dice.choice(
            (
                f"{verb.title()} {noun}.",
                f"{verb.title()}s one {noun} by its id. Use it when the id is known; see also list.",
            )
        )
    if dice.random() > 0.1:
        tool["inputSchema"] = {
            "type": "object",
            "properties": {"id": {"type": "string", "description": f"Id of the {noun}"}, "limit": {"type": "integer"}},
            "required": ["id"],
        }
    if dice.random() > 0.6:
        tool["annotations"] = {"readOnlyHint": verb in {"search", "read", "list"}}
    return tool


def _listing(
    server: Server,
    opening: dict[str, Any],
    pages: dict[str, list[Any]],
    *,
    ends: dict[str, tuple[str, Any]] | None = None,
    sandbox: str = "",
) -> bytes:
    ends = ends or {}
    lists = {}
    for name in listing.LISTS:
        end, error = ends.get(name, ("complete" if name in pages else "not_asked", None))
        lists[name] = {"declared": end != "not_asked", "end": end, "error": error, "pages": pages.get(name, [])}
    body = {
        "target": {"type": "streamable-http", "identifier": server.ref, "version": None},
        "transport": "streamable-http",
        "era": "legacy",
        "protocolVersion": opening.get("protocolVersion"),
        "sandbox": sandbox,
        "opening": opening,
        "lists": lists,
    }
    return json.dumps(body, separators=(",", ":")).encode()


def _with_records(server: Server, content: Observed | Absent, observation: dict[str, Any]) -> Dossier:
    entry = {
        "name": server.name,
        "description": f"About {server.name}",
        "version": "1.0.0",
        "websiteUrl": "javascript:0",
    }
    ref = ServerRef(
        registry="starter",
        name=server.name,
        version="1.0.0",
        status=Status.ACTIVE,
        entry=json.dumps(entry).encode(),
        repository=server.repository,
    )
    records = {
        registration.KIND: _record(server, registration.KIND, "registry", registration.compose_registration([ref]), {}),
        listing.KIND: _record(server, listing.KIND, "protocol", content, observation),
    }
    return Dossier(server=server, as_of=AS_OF, records=records)


def _record(
    server: Server, kind: str, collector: str, content: Observed | Absent, observation: dict[str, Any]
) -> Record:
    return Record(
        server=server.id,
        kind=kind,
        schema=1,
        collector=collector,
        collector_version=1,
        observed_at=AS_OF,
        content=content,
        observation=observation,
    )
