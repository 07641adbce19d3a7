"""Observations besides the listing, on a terminal: access, tool calls, availability, behaviour and the project."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rich.console import RenderableType
from rich.text import Text

from evidence.canonical import Json
from evidence.kinds import access, interop, listing, samples, trials
from evidence.kinds.access import Access
from evidence.kinds.interop import Interop
from evidence.kinds.listing import Listing
from evidence.kinds.samples import Samples
from evidence.kinds.trials import TrialCall, TrialOutcome, Trials
from evidence.model import Absent, Dossier, Reason, Record
from publish.views.evidence.advisories import AdvisoryView, view_advisories
from publish.views.evidence.behaviour import view_behaviour
from publish.views.evidence.observations import EvidenceSection, explain_skip
from publish.views.evidence.project import view_dependencies, view_package, view_repository, view_source
from scoring.analysis.token_costs import CHARACTERS_PER_TOKEN, estimate_tokens
from workers.cli.display.console import clean_text, format_absence, join_text, make_fact_table, make_table, print_data

_STYLES: Final = {TrialOutcome.RESULT: "green", TrialOutcome.TOOL_ERROR: "", TrialOutcome.MALFORMED: "red"}
_SLOWEST: Final = 5
_MOST_COSTS: Final = 20


def show_observed(dossier: Dossier) -> None:
    """Print the observations. Kinds that were not collected, or are absent for the same reason as the listing, are not
    shown.
    """
    whole = dossier.read(listing.KIND)
    if (seen := dossier.parsed(listing.KIND, Listing.parse)) and seen.tools.items:
        _show_token_costs(seen)
    for kind, title, view in _VIEWS:
        record = dossier.records.get(kind)
        if record is None or _is_uncollected(record) or (isinstance(whole, Absent) and record.content == whole):
            continue
        print_data(Text(title, style="bold underline"))
        content = record.content
        if isinstance(content, Absent):
            print_data(format_absence(content))
        else:
            for part in view(content.body, record.observation):
                print_data(part)
        print_data("")
    if tried := view_behaviour(dossier):
        _show_part("Behaviour in the sandbox", tried)


def _show_token_costs(seen: Listing) -> None:
    """The tools by their estimated cost in the context of a model, the most expensive first."""
    costs = sorted(((estimate_tokens(tool.raw), tool.name) for tool in seen.tools.items), reverse=True)
    print_data(Text("Cost of the tool definitions", style="bold underline"))
    total = f"about {sum(cost for cost, _ in costs)} tokens, at {CHARACTERS_PER_TOKEN} characters a token"
    print_data(make_fact_table([("total", total)]))
    grid = make_table("Tool", ("Tokens", "right"))
    for cost, name in costs[:_MOST_COSTS]:
        grid.add_row(clean_text(name), str(cost))
    print_data(grid)
    if len(costs) > _MOST_COSTS:
        print_data(Text(f"{len(costs) - _MOST_COSTS} more tools cost less; --json has all of them."))
    print_data("")


def show_project(dossier: Dossier) -> None:
    """Print package, repository, source, dependencies and advisories."""
    for title, view in _PROJECT:
        if part := view(dossier):
            _show_part(title, part)
    if seen := view_advisories(dossier):
        _show_part("Advisories", seen.part)
        if rows := (*seen.found, *seen.own):
            print_data(_advisories(rows))
            print_data("")


def _show_part(title: str, part: EvidenceSection) -> None:
    print_data(Text(title, style="bold underline"))
    if part.absent:
        print_data(format_absence(part.absent))
    else:
        print_data(make_fact_table((name.lower(), value) for name, value in part.facts))
    print_data("")


def _advisories(rows: Sequence[AdvisoryView]) -> RenderableType:
    grid = make_table("Advisory", "Severity", "Package", "Version", "Relation", "Fixed in")
    for one in rows:
        style = {"bad": "red", "warned": "yellow"}.get(one.tone, "")
        cells = (one.package, one.version, one.relation, one.fixed or "none named")
        grid.add_row(clean_text(one.id, "bold"), clean_text(one.severity, style), *map(clean_text, cells))
    return grid


def _is_uncollected(record: Record) -> bool:
    return isinstance(record.content, Absent) and record.content.reason is Reason.NOT_COLLECTED


def _access(body: bytes, observation: Mapping[str, Json]) -> Iterator[RenderableType]:
    seen = Access.parse(body)
    rows = [("class", seen.access_class.value.replace("_", " "))]
    if seen.gate:
        rows.append(("stopped at", f"{seen.gate.step}: {seen.gate.detail or seen.gate.reason}"))
    rows += [("challenge", f"{one.scheme} {', '.join(one.parameters)}".strip()) for one in seen.challenges]
    if seen.resource_metadata:
        found = seen.resource
        rows.append(("resource metadata", found.url if found else "none found"))
    for server in seen.authorization_servers:
        rows.append(("authorization server", f"{server.issuer}: {server.found.url if server.found else 'no metadata'}"))
    yield make_fact_table(rows)


def _trials(body: bytes, observation: Mapping[str, Json]) -> Iterator[RenderableType]:
    seen = Trials.parse(body)
    calls = observation.get("calls")
    took = [_ms(call) for call in calls] if isinstance(calls, list) else []
    if seen.trials:
        grid = make_table("Tool", "Call", "Outcome", ("Time", "right"), "Answer")
        for position, trial in enumerate(seen.trials):
            grid.add_row(
                clean_text(trial.tool, "bold"),
                clean_text(trial.kind.replace("_", " ")),
                clean_text(trial.outcome.value.replace("_", " "), _STYLES.get(trial.outcome, "yellow")),
                took[position] if position < len(took) else "",
                clean_text(_answer(trial)),
            )
        yield grid
    for skip in seen.skipped:
        kind = ": ".join(part for part in (skip.authority, skip.why) if part)
        why = explain_skip(skip.reason, skip.detail)
        yield join_text(
            [("not called  ", "dim"), (skip.tool, "bold"), (f"  {why} ({kind or 'not classified'})", "dim")]
        )


def _answer(trial: TrialCall) -> str:
    if trial.outcome is TrialOutcome.FAILURE:
        return trial.unclear
    parts = [f"code {trial.code}" if trial.code is not None else "", trial.text or ", ".join(trial.content)]
    if trial.structured is not None and trial.structured.value not in {"not_declared", "valid"}:
        parts.append(f"structured output {trial.structured.value} {trial.complaint}".strip())
    return "  ".join(part for part in parts if part)


def _samples(body: bytes, observation: Mapping[str, Json]) -> Iterator[RenderableType]:
    seen = Samples.parse(body)
    known = samples.read_samples(observation)
    failures = [f"{count} {name.replace('_', ' ')}" for name, count in sorted(seen.failures.items())]
    rows = [
        ("connected", ", ".join([f"{seen.successes} of {seen.samples} times on {_many(seen.days, 'day')}", *failures])),
        *(
            (
                f"{name} answer",
                f"median {found.p50:,.0f} ms, 95 % within {found.p95:,.0f} ms, {_many(found.samples, 'sample')}",
            )
            for name, found in (
                ("first", samples.compute_cold_latency(known)),
                ("later", samples.compute_warm_latency(known)),
            )
            if found
        ),
    ]
    yield make_fact_table(rows)


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _interop(body: bytes, observation: Mapping[str, Json]) -> Iterator[RenderableType]:
    seen = Interop.parse(body)
    listed = ", ".join(f"{count} {name}" for name, count in seen.listed.items())
    rows = [
        ("client", f"{seen.client} {seen.version}"),
        ("connected", f"yes, {seen.negotiated}" if seen.connected else "no"),
        ("listed", listed or "nothing"),
    ]
    if seen.error:
        rows.append(("refused", f"{seen.asked}: {seen.error} {seen.message}"))
    yield make_fact_table(rows)


def _timings(body: bytes, observation: Mapping[str, Json]) -> Iterator[RenderableType]:
    rows = observation.get("exchanges")
    made = [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    grid = make_table("Slowest questions", ("Time", "right"), ("Bytes", "right"))
    for row in sorted(made, key=lambda row: -_number(row.get("ms")))[:_SLOWEST]:
        name = row.get("step") or row.get("method")
        grid.add_row(clean_text(str(name)), _ms(row), f"{_number(row.get('bytes')):,.0f}")
    if made:
        yield grid


def _ms(row: Json) -> str:
    return f"{_number(row.get('ms')):,.0f} ms" if isinstance(row, Mapping) else ""


def _number(value: Json) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else 0.0


_PROJECT: Final = (
    ("Package", view_package),
    ("Repository", view_repository),
    ("Source", view_source),
    ("Dependencies", view_dependencies),
)
_VIEWS: Final = (
    (access.KIND, "Access", _access),
    (trials.KIND, "Tool calls", _trials),
    (samples.KIND, "Connecting over 30 days", _samples),
    (interop.KIND, "Official client", _interop),
    (listing.KIND, "Timings", _timings),
)
