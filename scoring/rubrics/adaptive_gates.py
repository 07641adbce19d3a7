"""Gates of `adaptive@2`: certain harm, and evidence of harm that could not be searched for, cap the grade.

Where a gate could not be examined although there is something to examine, the cap is as low as for harm: otherwise
hiding the evidence would lift the cap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from functools import cache
from itertools import chain
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from evidence.authority import Authority
from evidence.kinds import access, exchanges, listing, source
from evidence.kinds.access import AccessClass
from evidence.model import Absent, Observed, Reason, TargetType
from scoring.analysis.poisoning_findings import list_messages
from scoring.engine.assessment import Assessment
from scoring.engine.rubric import Cap, CapTerms, Criterion
from scoring.engine.rule import discover_rules
from scoring.engine.walk import Pages
from scoring.results.outcome import Finding, Measured, NotMeasured
from scoring.results.scorecard import Line
from scoring.results.verdict import CAP
from scoring.scopes.base import Toolset

_WITHOUT_PACKAGE: Final = frozenset({TargetType.STREAMABLE_HTTP, TargetType.SSE, TargetType.COMMAND})
_OURS: Final = frozenset({Reason.NOT_COLLECTED, Reason.COLLECTOR_ERROR, Reason.COLLECTOR_OFFLINE})
"""Reasons for which nothing was asked: the listing and the exchanges are the records of one probe."""

_HIDING: Final = frozenset({Reason.TIMEOUT, Reason.UNREACHABLE, Reason.TOO_LARGE, Reason.NOT_MCP})
"""Reasons of the server's side, which never explain a missing record of falls beside a listing."""

_POISONING: Final = (
    "text-injects-instructions",
    "text-commands-other-tools",
    "text-exfiltrates",
    "text-hides-characters",
    "text-reveals-secret",
)


HARM: Final = Decimal(3)
"""Points of poisoning, of a credential, of a fall, and of code and lists that were not searched for them.

All the same, and once however many there are: a value must not tell which gate an undisclosed finding shut.
"""

WITHHELD: Final = ("documentation", "compatibility")
"""Dimensions that count nothing under those caps: what a server says of itself, where poison adds to descriptions,
titles and output schemas. Otherwise twice the poison would cost less.
"""


class Gate(Struct, frozen=True, kw_only=True):
    """One reason to cap a grade. `find` gives the finding or the reason in words, or nothing."""

    terms: CapTerms
    find: Callable[[Assessment], Finding | str | None]


def list_caps(assessment: Assessment, ceilings: Mapping[str, Decimal]) -> Iterator[Cap]:
    """The cap of each gate that is shut, the lowest first.

    `ceilings` maps a grade to the highest value that still has it.
    """
    shut = ((gate.terms, found) for gate in GATES if (found := gate.find(assessment)) is not None)
    for terms, found in sorted(shut, key=lambda pair: ceilings[pair[0].grade]):
        finding, reason = (None, found) if isinstance(found, str) else (found, f"{found.rule}: {found.message}")
        before, after = _frame(terms)
        line = Line(
            cites=terms.cites,
            points=Decimal(0),
            why=f"{before}{reason}{after}",
            rule=finding.rule if finding else None,
            at=finding.at if finding else "",
            severity="error",
            evidence=finding.evidence if finding else "",
        )
        yield build_cap(terms, line, ceilings)


def read_capped_finding(cap: Line) -> Line:
    """The line of the finding that a cap quotes, with its message alone; the same line for a cap of another form."""
    for terms in CAPS:
        before, after = _frame(terms)
        before = f"{before}{cap.rule}: "
        if terms.cites == cap.cites and cap.why.startswith(before) and cap.why.endswith(after):
            return replace(cap, why=cap.why[len(before) : -len(after)])
    return cap


def _frame(terms: CapTerms) -> tuple[str, str]:
    """The words of a cap before and after its reason."""
    return f"capped at {terms.grade} by ", f"; lifted by {terms.lifted_by}"


def build_cap(terms: CapTerms, line: Line, ceilings: Mapping[str, Decimal]) -> Cap:
    return Cap(ceiling=ceilings[terms.grade], line=line, cost=terms.cost, withholds=terms.withholds)


def merge_caps(*several: Iterable[Cap]) -> tuple[Cap, ...]:
    """Each cap once, the lowest first; of equal ones that of the earlier sequence."""
    caps: dict[str, Cap] = {}
    for cap in chain.from_iterable(several):
        caps.setdefault(cap.line.cites, cap)
    return tuple(sorted(caps.values(), key=lambda cap: cap.ceiling))


@cache
def _criteria(*rules: str) -> tuple[Criterion, ...]:
    return tuple(Criterion(cites=rule, rule=rule, severity=discover_rules()[rule].severity) for rule in rules)


def _first_finding(assessment: Assessment, *rules: str) -> Finding | None:
    return next(_list_findings(assessment, *rules), None)


def _list_findings(assessment: Assessment, *rules: str) -> Iterator[Finding]:
    """The findings of the rules that count."""
    outcomes = (assessment.outcome(criterion.question) for criterion in _criteria(*rules))
    for outcome in outcomes:
        if isinstance(outcome, Measured):
            yield from (finding for finding in outcome.findings if not finding.tolerated)


def _poisoned(assessment: Assessment) -> Finding | None:
    """The first finding of a pattern that accused no honest text; the others are only shown."""
    found = _list_findings(assessment, *_POISONING)
    first = next(found, None)
    if first is None or isinstance(assessment.dossier.read(listing.KIND), Absent):
        return first
    certain = list_messages(assessment.dossier, certain=True)
    return next((finding for finding in chain((first,), found) if finding.message in certain), None)


def _unlisted(assessment: Assessment) -> str | None:
    return "tools that the server itself did not list" if assessment.tools_in_source else None


def _leaked(assessment: Assessment) -> Finding | None:
    return _first_finding(assessment, "source-holds-secret")


def _unsearched_code(assessment: Assessment) -> str | None:
    """Code that is declared and was not searched for credentials."""
    return (
        "code that could not be searched for credentials"
        if _not_searched(assessment) and _has_code(assessment)
        else None
    )


def _closed_code(assessment: Assessment) -> str | None:
    closed = _not_searched(assessment) and not _has_code(assessment)
    return "code that is not published" if closed else None


def _not_searched(assessment: Assessment) -> bool:
    (criterion,) = _criteria("source-holds-secret")
    outcome = assessment.outcome(criterion.question)
    return isinstance(outcome, NotMeasured) and outcome.reason != Reason.COLLECTOR_OFFLINE


def _has_code(assessment: Assessment) -> bool:
    """Whether the server names code of its own: a package, a repository, or source that was read."""
    server = assessment.dossier.server
    packaged = any(target.type not in _WITHOUT_PACKAGE for target in server.targets)
    return packaged or bool(server.repository) or isinstance(assessment.dossier.read(source.KIND), Observed)


def _critical(assessment: Assessment) -> Finding | None:
    return _first_finding(assessment, "dependency-critical")


def _exploited(assessment: Assessment) -> Finding | None:
    return _first_finding(assessment, "dependency-exploited")


def _unaudited(assessment: Assessment) -> str | None:
    (criterion,) = _criteria("dependency-critical")
    outcome = assessment.outcome(criterion.question)
    if isinstance(outcome, Measured):
        return None if outcome.checked else "dependencies that could not be compared with advisories"
    if outcome.reason == Reason.COLLECTOR_OFFLINE or not _has_code(assessment):
        return None
    return "dependencies that were not compared with advisories"


def _broken_install(assessment: Assessment) -> Finding | None:
    return _first_finding(assessment, "package-needs-old-dependencies")


def _archived(assessment: Assessment) -> Finding | None:
    return _first_finding(assessment, "repository-archived")


def _repository_unread(assessment: Assessment) -> str | None:
    (criterion,) = _criteria("repository-archived")
    outcome = assessment.outcome(criterion.question)
    unread = isinstance(outcome, NotMeasured) and outcome.reason != Reason.COLLECTOR_OFFLINE
    return "a repository that could not be read" if unread else None


def _fell_over(assessment: Assessment) -> Finding | str | None:
    """A fall, or a server that lists its tools of which a failure of its own hides whether it fell."""
    (criterion,) = _criteria("server-fell-over")
    outcome = assessment.outcome(criterion.question)
    unknown = isinstance(outcome, NotMeasured) and outcome.reason in _HIDING and _is_listed(assessment)
    return "an unknown fall" if unknown else _first_finding(assessment, "server-fell-over")


def _unrecorded(assessment: Assessment) -> str | None:
    """Answers of a server that lists its tools which could not be recorded."""
    content = assessment.dossier.read(exchanges.KIND)
    if not _is_listed(assessment) or isinstance(content, Observed) or content.reason in _OURS:
        return None
    return "answers that could not be recorded"


def _is_listed(assessment: Assessment) -> bool:
    return isinstance(assessment.dossier.read(listing.KIND), Observed)


def _destructive_to_strangers(assessment: Assessment) -> str | None:
    """Tools that destroy or administer on a remote that requires no credentials."""
    content = assessment.dossier.read(access.KIND)
    if isinstance(content, Absent) or isinstance(assessment.dossier.read(listing.KIND), Absent):
        return None
    if access.Access.parse(content.body).access_class is not AccessClass.OPEN:
        return None
    (toolset,) = assessment.walks[Pages.ALL].list_things(Toolset)
    assert isinstance(toolset, Toolset)
    risky = [tool.name for tool, authority in toolset.judged if authority in {Authority.DESTRUCTIVE, Authority.ADMIN}]
    tools = "tool that destroys or administers" if len(risky) == 1 else "tools that destroy or administer"
    return f"{len(risky)} {tools}, open without credentials" if risky else None


def _gate(
    name: str,
    grade: str,
    find: Callable[[Assessment], Finding | str | None],
    *rules: str,
    lifted_by: str,
    harm: bool = False,
) -> Gate:
    terms = CapTerms(cites=f"{CAP}{name}", grade=grade, lifted_by=lifted_by, rules=rules)
    if harm:
        terms = replace(terms, cost=HARM, withholds=WITHHELD)
    return Gate(terms=terms, find=find)


GATES: Final = (
    _gate("poisoning", "D", _poisoned, *_POISONING, lifted_by="texts without instructions to the model", harm=True),
    _gate("unlisted", "D", _unlisted, lifted_by="a server that lists its tools", harm=True),
    _gate(
        "secrets",
        "D",
        _leaked,
        "source-holds-secret",
        lifted_by="revoking the credential and removing it from the code",
        harm=True,
    ),
    _gate("unsearched_code", "D", _unsearched_code, lifted_by="code that can be read", harm=True),
    _gate("closed_code", "C", _closed_code, lifted_by="published code"),
    _gate(
        "open_destruction",
        "D",
        _destructive_to_strangers,
        lifted_by="credentials for tools that destroy or administer",
    ),
    _gate(
        "fell_over",
        "D",
        _fell_over,
        "server-fell-over",
        lifted_by="a server that keeps serving new clients",
        harm=True,
    ),
    _gate(
        "broken_install",
        "D",
        _broken_install,
        "package-needs-old-dependencies",
        lifted_by="a package that starts with the dependencies of today",
    ),
    _gate("unrecorded", "D", _unrecorded, lifted_by="answers that can be recorded"),
    _gate("critical_advisory", "C", _critical, "dependency-critical", lifted_by="an upgrade of the dependency"),
    _gate("exploited_advisory", "C", _exploited, "dependency-exploited", lifted_by="an upgrade of the dependency"),
    _gate("unaudited", "C", _unaudited, lifted_by="a comparison of the dependencies with advisories"),
    _gate("archived", "B", _archived, "repository-archived", lifted_by="a repository that is maintained"),
    _gate("repository_unread", "B", _repository_unread, lifted_by="a public repository"),
)

CAPS: Final = tuple(gate.terms for gate in GATES)
CRITERIA: Final = _criteria(*(rule for cap in CAPS for rule in cap.rules))
