"""A bounded view of the protocol checks for pages. Templates escape the texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from evidence.model import Absent, Dossier, Reason
from publish.disclosure import NOT_DISCLOSED, private_rule_ids
from publish.views.evidence.check_verdicts import CheckSection, CheckVerdicts, judge_checks
from scoring.engine.assess import assess_dossier
from scoring.protocol.conformance import CheckResult, Verdict
from scoring.results.outcome import Level
from scoring.rubrics.sdk_tier import SDK_TIER_1
from scoring.scopes.conversation import NOT_ASKED

MAX_FAULTS = 200

VERDICT_WORDS: Final = {
    Verdict.PASS: "pass",
    Verdict.FAIL: "fail",
    Verdict.WARN: "warn",
    Verdict.NOT_APPLICABLE: "does not apply",
    Verdict.INCONCLUSIVE: "inconclusive",
}


class VerdictCount(Struct, frozen=True):
    """How many checks ended with one verdict. `tone` names the colour."""

    number: int
    word: str
    tone: str


class CheckView(Struct, frozen=True):
    """One check and its verdict; `why` is set if the check is inconclusive or withheld."""

    id: str
    level: str
    title: str
    word: str
    tone: str
    why: str
    spec: str


class Deviation(Struct, frozen=True):
    """One deviation: where, what, and the page of the specification that asks for it, if any."""

    id: str
    level: str
    tone: str
    at: str
    message: str
    spec: str

    @property
    def exchange(self) -> str:
        """The path of the exchange that it lies in."""
        return "/".join(self.at.split("/")[:3])


class SectionView(Struct, frozen=True):
    """One part of the table of checks."""

    title: str
    counts: tuple[VerdictCount, ...]
    checks: tuple[CheckView, ...]


class Conformance(Struct, frozen=True):
    """All verdicts about one server. `absent` says why there is none; then nothing else is there.

    Where nothing was exchanged, only the sections are there in which some check could be made all the same.
    """

    absent: Absent | None
    facts: tuple[tuple[str, str], ...] = ()
    counts: tuple[VerdictCount, ...] = ()
    faults: tuple[Deviation, ...] = ()
    more_faults: int = 0
    sections: tuple[SectionView, ...] = ()


def view_conformance(dossier: Dossier) -> Conformance | None:
    """The verdicts about the public part of a dossier, under the rules of today; None without any question.

    The verdict of a check whose findings are withheld is shown of no server, so that none stands out.
    """
    found = judge_checks(assess_dossier(dossier, [SDK_TIER_1]))
    sections = tuple(section for section in found.sections if section.results)
    if found.absent is not None:
        if found.absent.reason is Reason.NOT_COLLECTED:
            return None
        sections = tuple(section for section in sections if section.with_verdict(*_MADE))  # such as those of a lock
        if not sections:
            return Conformance(found.absent)
    faults = [fault for result in _shown(found.results) for fault in _faults(result)]
    return Conformance(
        absent=None,
        facts=tuple(_facts(found)),
        counts=_counts(result for section in sections for result in section.results),
        faults=tuple(faults[:MAX_FAULTS]),
        more_faults=max(0, len(faults) - MAX_FAULTS),
        sections=tuple(_section(section) for section in sections),
    )


def _facts(found: CheckVerdicts) -> Iterator[tuple[str, str]]:
    if found.absent is not None:
        yield "Exchanges", f"none: {found.absent.detail or found.absent.reason.value.replace('_', ' ')}"
        return
    depth = {"full": "full: all requests", "core": "core: the opening and the lists"}.get(found.depth, found.depth)
    yield "Depth of the probe", depth
    yield "Protocol eras that worked", " and ".join(found.eras) or "none"
    yield "Exchanges", str(found.requests)


def _section(section: CheckSection) -> SectionView:
    return SectionView(section.title, _counts(section.results), tuple(_check(result) for result in section.results))


def _counts(results: Iterable[CheckResult]) -> tuple[VerdictCount, ...]:
    found: dict[Verdict, int] = dict.fromkeys(Verdict, 0)
    for result in _shown(results):
        found[result.verdict] += 1
    return tuple(
        VerdictCount(number, VERDICT_WORDS[verdict], _TONES[verdict]) for verdict, number in found.items() if number
    )


def _shown(results: Iterable[CheckResult]) -> Iterator[CheckResult]:
    return (result for result in results if not _is_private(result))


def _is_private(result: CheckResult) -> bool:
    return result.check.rule.id in private_rule_ids()


def _check(result: CheckResult) -> CheckView:
    requirement = result.check.requirement
    private = _is_private(result)
    why = "only a full probe tests this" if result.why == NOT_ASKED else result.why.replace("_", " ")
    return CheckView(
        id=requirement.id,
        level=requirement.level.value,
        title=result.check.rule.title,
        word="not shown" if private else VERDICT_WORDS[result.verdict],
        tone="none" if private else _TONES[result.verdict],
        why=NOT_DISCLOSED if private else why if result.verdict is Verdict.INCONCLUSIVE else "",
        spec=requirement.link,
    )


def _faults(result: CheckResult) -> Iterator[Deviation]:
    requirement = result.check.requirement
    for finding in result.findings:
        tolerated = finding.tolerated and requirement.level is Level.MUST
        failed = result.verdict is Verdict.FAIL and not finding.tolerated
        yield Deviation(
            id=requirement.id,
            level="tolerated" if tolerated else requirement.level.value,
            tone=_TONES[Verdict.FAIL if failed else Verdict.WARN],
            at=finding.at,
            message=finding.message,
            spec=requirement.link,
        )


_TONES: Final[Mapping[Verdict, str]] = {
    Verdict.PASS: "good",
    Verdict.FAIL: "bad",
    Verdict.WARN: "warned",
    Verdict.NOT_APPLICABLE: "none",
    Verdict.INCONCLUSIVE: "open",
}
_MADE: Final = (Verdict.PASS, Verdict.FAIL, Verdict.WARN)
