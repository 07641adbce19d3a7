"""Views of access, tool calls, availability samples and the official client for a server's page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from evidence.canonical import Json, NotJson
from evidence.kinds import access, interop, samples, trials
from evidence.kinds.access import Access, MetadataAttempt
from evidence.kinds.interop import Interop
from evidence.kinds.samples import Percentiles, Samples
from evidence.kinds.trials import SkipReason, Structured, TrialCall, TrialOutcome, Trials
from evidence.model import Absent, Dossier, Reason

MAX_CALLS = 100
MAX_SKIPPED = 200
MAX_FACTS = 40
TEXT_LIMIT = 300

_POLICIES: Final = {
    "off": "No tool is called.",
    "annotated": "Only tools that declare readOnlyHint are called.",
    "read": "Only tools that seem to be read-only are called.",
    "sandboxed_all": "Every tool is called, in a sandbox without network.",
}
_KINDS: Final = {"call": "fitting arguments", "invalid_type": "wrong type", "missing_required": "argument left out"}
_WHY_NOT: Final = {
    SkipReason.NOT_READ.value: "it is not classified as read-only",
    SkipReason.NOT_ANNOTATED.value: "it seems to be read-only, but does not declare readOnlyHint",
    SkipReason.NO_ARGUMENTS.value: "no harmless arguments fit its input schema",
    SkipReason.BOUND.value: "enough other tools were called, or the time limit was reached",
    SkipReason.STOPPED.value: "the server asked for a pause, or stopped answering",
    SkipReason.OPTED_OUT.value: "its owner opted out",
    SkipReason.POLICY_OFF.value: "no tools are called in this run",
}
_STRUCTURED: Final = {
    Structured.VALID: ("fits the output schema", "good"),
    Structured.INVALID: ("does not fit the output schema", "bad"),
    Structured.MISSING: ("declared but missing", "bad"),
    Structured.UNJUDGED: ("could not be judged", "open"),
}


class EvidenceSection(Struct, frozen=True):
    """A section about one kind of evidence: facts, or why there is none."""

    absent: Absent | None = None
    facts: tuple[tuple[str, str], ...] = ()


class MetadataView(Struct, frozen=True):
    """One request for a metadata document and its outcome."""

    of: str
    url: str
    outcome: str
    tone: str


class AccessView(Struct, frozen=True):
    """Access without credentials. The answer to an invalid token is withheld for every server."""

    part: EvidenceSection
    metadata: tuple[MetadataView, ...] = ()


class Call(Struct, frozen=True):
    """One call of a tool. `index` is the tool's place in its list, `took` in milliseconds."""

    index: int
    tool: str
    kind: str
    arguments: str
    outcome: str
    tone: str
    took: str
    answer: str
    structured: str
    structured_tone: str


class Skipped(Struct, frozen=True):
    """One tool that was not called."""

    index: int
    tool: str
    authority: str
    reason: str
    why: str


class TrialsView(Struct, frozen=True):
    """Results of tool calls."""

    part: EvidenceSection
    policy: str = ""
    calls: tuple[Call, ...] = ()
    more_calls: int = 0
    skipped: tuple[Skipped, ...] = ()
    more_skipped: int = 0


def view_access(dossier: Dossier) -> AccessView | None:
    """Access without credentials; None if not collected, as over stdio, or if the page already names the reason."""
    body = _body(dossier, access.KIND)
    if not isinstance(body, bytes):
        return AccessView(EvidenceSection(body)) if body and body.reason is not Reason.TRANSPORT_UNSUPPORTED else None
    try:
        seen = Access.parse(body)
        return AccessView(EvidenceSection(facts=tuple(_access_facts(seen))[:MAX_FACTS]), tuple(_metadata(seen)))
    except (NotJson, ValueError):  # a class that this version does not know
        return None


def view_trials(dossier: Dossier) -> TrialsView | None:
    """The tool calls; None if none were collected, or if the page already names the reason."""
    body = _body(dossier, trials.KIND)
    if not isinstance(body, bytes):
        return TrialsView(EvidenceSection(body)) if body else None
    try:
        seen = Trials.parse(body)
    except NotJson:
        return None
    took = _latencies(dossier.records[trials.KIND].observation, seen.trials)
    calls = tuple(_call(trial, took[position]) for position, trial in enumerate(seen.trials[:MAX_CALLS]))
    skipped = tuple(
        Skipped(one.index, one.tool, one.authority, explain_skip(one.reason, one.detail), one.why)
        for one in seen.skipped[:MAX_SKIPPED]
    )
    left = max(0, len(seen.skipped) - MAX_SKIPPED) + seen.unlisted
    policy = _POLICIES.get(seen.policy, seen.policy)
    return TrialsView(EvidenceSection(), policy, calls, max(0, len(seen.trials) - MAX_CALLS), skipped, left)


def view_samples(dossier: Dossier) -> EvidenceSection | None:
    """Availability samples; None if there are none."""
    body = _body(dossier, samples.KIND)
    if not isinstance(body, bytes):
        return EvidenceSection(body) if body else None
    try:
        seen = Samples.parse(body)
    except NotJson:
        return None
    known = samples.read_samples(dossier.records[samples.KIND].observation)
    failures = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in sorted(seen.failures.items()))
    days = f"{seen.days} day{'' if seen.days == 1 else 's'}"
    rows = [("Connected", f"{seen.successes} of {seen.samples} times, on {days} of the last {seen.window_days}")]
    if failures:
        rows.append(("Failures", failures))
    rows += _percentiles("First answer on a new connection", samples.compute_cold_latency(known))
    rows += _percentiles("Later answer on the same connection", samples.compute_warm_latency(known))
    return EvidenceSection(facts=tuple(rows))


def view_interop(dossier: Dossier) -> EvidenceSection | None:
    """The result of the official client; None if it was not run."""
    body = _body(dossier, interop.KIND)
    if not isinstance(body, bytes):
        return EvidenceSection(body) if body else None
    try:
        seen = Interop.parse(body)
    except NotJson:
        return None
    listed = ", ".join(f"{count} {name}" for name, count in sorted(seen.listed.items()))
    rows = [
        ("Client", f"{seen.client} {seen.version}"),
        ("Connected", f"yes, with {seen.negotiated or 'no version named'}" if seen.connected else "no"),
        ("Listed", listed or "nothing"),
    ]
    if seen.error:
        refusal = f"{seen.error}{'' if seen.code is None else f' {seen.code}'}: {seen.message}"
        rows.append((f"Refused at {seen.asked}", refusal))
    return EvidenceSection(facts=tuple(rows))


def _body(dossier: Dossier, kind: str) -> bytes | Absent | None:
    """The body or the absence; None if the page already shows the same reason."""
    content = dossier.read(kind)
    if not isinstance(content, Absent):
        return content.body
    listed = dossier.read("listing")
    is_repeated = isinstance(listed, Absent) and listed.reason is content.reason
    return None if is_repeated or content.reason is Reason.NOT_COLLECTED else content


def _access_facts(seen: Access) -> Iterator[tuple[str, str]]:
    yield "Class", seen.access_class.value.replace("_", " ")
    if gate := seen.gate:
        status = f"HTTP {gate.status}" if gate.status is not None else ""
        because = gate.detail or gate.reason.replace("_", " ")
        response = because if because.startswith(status) else f"{status}: {because}"
        yield "Stopped at", f"{gate.step} ({gate.era}), {response}"
    for challenge in seen.challenges:
        given = ", ".join(f"{name}={value}" for name, value in challenge.parameters.items())
        yield "Challenge", f"{challenge.scheme} {given}".strip()
    for server in seen.authorization_servers:
        found = server.found
        yield "Authorization server", f"{server.issuer}, {f'metadata at {found.url}' if found else 'no metadata found'}"


def _metadata(seen: Access) -> Iterator[MetadataView]:
    yield from (_attempt("protected resource", attempt) for attempt in seen.resource_metadata)
    for server in seen.authorization_servers:
        yield from (_attempt("authorization server", attempt) for attempt in server.attempts)


def _attempt(of: str, attempt: MetadataAttempt) -> MetadataView:
    if attempt.document is not None:
        return MetadataView(of, attempt.url, "found", "good")
    outcome = attempt.problem or attempt.unclear or f"HTTP {attempt.status}"
    return MetadataView(of, attempt.url, outcome, "open" if attempt.unclear else "none")


def _call(trial: TrialCall, took: str) -> Call:
    structured, structured_tone = _STRUCTURED.get(trial.structured, ("", "")) if trial.structured else ("", "")
    arguments = json.dumps(trial.arguments, ensure_ascii=False) if trial.arguments else ""
    return Call(
        index=trial.index,
        tool=trial.tool,
        kind=_KINDS.get(trial.kind, trial.kind) + (f": {trial.parameter}" if trial.parameter else ""),
        arguments=_cut(arguments),
        outcome=trial.outcome.value.replace("_", " "),
        tone=_tone(trial),
        took=took,
        answer=_cut(_answer(trial)),
        structured=f"{structured}: {trial.complaint}" if structured and trial.complaint else structured,
        structured_tone=structured_tone,
    )


def _tone(trial: TrialCall) -> str:
    """A valid call should return a result, a deliberately invalid one an error."""
    if trial.outcome is TrialOutcome.MALFORMED:
        return "bad"
    if trial.unclear:
        return "open"
    is_result = trial.outcome is TrialOutcome.RESULT
    return "good" if is_result == (trial.kind == trials.TrialKind.CALL) else "warned"


def _answer(trial: TrialCall) -> str:
    if trial.outcome is TrialOutcome.FAILURE:
        return trial.unclear.replace("_", " ")
    parts = [f"code {trial.code}" if trial.code is not None else "", trial.text or ", ".join(trial.content)]
    if trial.outcome is TrialOutcome.RESULT and trial.empty:
        parts.append("empty")
    return ", ".join(part for part in parts if part)


def _latencies(observation: Mapping[str, Json], made: Sequence[TrialCall]) -> list[str]:
    """The duration of each call; empty where the observation has none."""
    rows = observation.get("calls")
    calls = rows if isinstance(rows, list) else []
    return [_milliseconds(calls[position]) if position < len(calls) else "" for position in range(len(made))]


def _milliseconds(row: Json) -> str:
    took = row.get("ms") if isinstance(row, Mapping) else None
    return f"{took:,.0f} ms" if isinstance(took, (int, float)) and not isinstance(took, bool) else ""


def explain_skip(reason: str, detail: str) -> str:
    """Why a tool was not called."""
    words = _WHY_NOT.get(reason, reason.replace("_", " "))
    return f"{words}: {detail}" if detail else words


def _percentiles(name: str, found: Percentiles | None) -> Iterator[tuple[str, str]]:
    if found:
        times = f"{found.samples} time{'' if found.samples == 1 else 's'}"
        yield name, f"median {found.p50:,.0f} ms, 95 % within {found.p95:,.0f} ms, measured {times}"


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_LIMIT else f"{text[: TEXT_LIMIT - 1]}…"
