"""What may be shown now: the one gate between the evidence store and everything that is published."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache
from typing import Final

from evidence.canonical import NotJson
from evidence.kinds import access, exchanges, interop, listing, registration, samples, trials
from evidence.kinds.listing import Listing
from evidence.model import Absent, Dossier, Observed, Record
from publish.overview import all_lines
from scoring import catalogue, receipt
from scoring.outcome import NotMeasured
from scoring.rubric import Rubric
from scoring.rule import discover
from scoring.scorecard import ComponentScore, DimensionScore, Line, Scorecard

PUBLIC_KINDS: Final = frozenset(
    {registration.KIND, listing.KIND, exchanges.KIND, access.KIND, trials.KIND, samples.KIND, interop.KIND}
)
"""Everything that a score is made from, so that anybody can check it (docs/decisions/0121)."""

UNOBSERVED_KINDS: Final = frozenset({access.KIND})
"""Kinds whose observation is not shown: the status in it tells a server that any token opens."""

UNSANDBOXED: Final = "none"

PRIVATE_FAMILIES: Final = frozenset({"safety"})
"""Families of rules whose findings are our own scans': their vendor hears of them before anybody else."""

PRIVATE_RULES: Final = frozenset({"bogus-token-mishandled"})
"""Rules of other families whose findings may be holes that nobody knows of yet."""

WITHHELD: Final = "withheld"
"""What stands on a public receipt in place of the criterion, and of the rule, of what is not disclosed yet."""

NOT_DISCLOSED: Final = "withheld until it is disclosed to the vendor"


@dataclass(frozen=True, slots=True)
class Shown:
    """The records of one server that may be published."""

    records: Mapping[str, Record] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Withheld:
    """Nothing of this server may be published, not even its scores; `why` is for its owner."""

    why: str


def disclose(dossier: Dossier) -> Shown | Withheld:
    """Decide what of a dossier may be published: kinds that are public, and only from contained servers.

    A kind that is not named here is not shown, so a new kind stays private until someone decides otherwise.
    """
    if why := _why_withheld(dossier.read(listing.KIND)):
        return Withheld(why)
    if any(record.observation.get("credentials") for record in dossier.records.values()):
        return Withheld("it was entered with credentials of its operator, and shows others less")
    shown = {kind: record for kind, record in sorted(dossier.records.items()) if kind in PUBLIC_KINDS}
    return Shown({kind: _public_record(record) for kind, record in shown.items()})


def _public_record(record: Record) -> Record:
    return replace(record, observation={}) if record.kind in UNOBSERVED_KINDS else record


def _why_withheld(content: Observed | Absent) -> str:
    if isinstance(content, Absent):
        return ""
    try:
        sandbox = Listing.parse(content.body).sandbox
    except NotJson:
        return "its listing cannot be read back, so nothing says whether it was sandboxed"
    return "it ran without a sandbox, at its user's own request" if sandbox == UNSANDBOXED else ""


def public_form(card: Scorecard) -> Scorecard:
    """The receipt as everybody may read it: what is not disclosed yet is one neutral line in each place.

    Points, results and bounds stay, so the lines still add up to the same score. Rule, criterion, place, words and
    evidence of the replaced lines are gone, and so are caveats, facts and reasons that repeat them.
    """
    private = [line for line in all_lines(card) if _is_private(card, line)]
    if not private:
        return card
    words = frozenset(word for line in private for word in _words_of(line))
    caveats = tuple(dict.fromkeys(NOT_DISCLOSED if _tells(text, words) else text for text in card.caveats))
    return replace(
        card,
        score=_without_words(card.score, words),
        lines=_public_lines(card, card.lines),
        dimensions=tuple(_public_dimension(card, part, words) for part in card.dimensions),
        caveats=caveats,
        facts={name: fact for name, fact in card.facts.items() if not _tells(f"{name} {fact}", words)},
    )


def public_body(body: bytes) -> bytes:
    """The public form of an encoded receipt; one that names nothing private comes back as it is, without decoding."""
    if not any(token in body for token in _tokens()):
        return body
    return receipt.encode(public_form(receipt.decode(body)))


@cache
def private_rules() -> frozenset[str]:
    """Ids of the rules whose findings are withheld."""
    return PRIVATE_RULES | {rule.id for rule in discover().values() if rule.family in PRIVATE_FAMILIES}


@cache
def _private_citations(rubric: str) -> frozenset[str]:
    """Published ids under which any version of a rubric charges for private rules."""
    return frozenset(
        cites for known in catalogue.rubrics() if known.id == rubric for cites in (*_criteria(known), *_parts(known))
    )


def _criteria(rubric: Rubric) -> Iterator[str]:
    yield from (criterion.cites for criterion in rubric.criteria if criterion.rule in private_rules())


def _parts(rubric: Rubric) -> Iterator[str]:
    """Components that only private rules decide about; their lines cite the component."""
    for dimension in rubric.dimensions:
        for component in dimension.components:
            rules = {criterion.rule for check in component.checks for criterion in check.criteria}
            if rules and rules <= private_rules():
                yield f"{dimension.name}.{component.name}"


@cache
def _tokens() -> tuple[bytes, ...]:
    """What an encoded receipt holds, in quotes, if one of its lines is private."""
    cited = frozenset[str]().union(*(_private_citations(rubric.id) for rubric in catalogue.rubrics()))
    return tuple(f'"{name}"'.encode() for name in sorted(private_rules() | cited))


def _is_private(card: Scorecard, line: Line) -> bool:
    """By its rule; a line without one, or whose rule no longer exists, by what it cites."""
    return line.rule in private_rules() or (
        line.rule not in discover() and line.cites in _private_citations(card.rubric)
    )


def _public_lines(card: Scorecard, lines: Sequence[Line]) -> tuple[Line, ...]:
    """The lines with one for all that are private, where the first of them stood; its rule says that one was named."""
    private = [line for line in lines if _is_private(card, line)]
    if not private:
        return tuple(lines)
    neutral = Line(
        cites=WITHHELD,
        points=sum((line.points for line in private), Decimal(0)),
        why=NOT_DISCLOSED,
        rule=WITHHELD if any(line.rule for line in private) else None,
    )
    kept = (neutral if line is private[0] else line for line in lines if line is private[0] or line not in private)
    return tuple(kept)


def _public_dimension(card: Scorecard, part: DimensionScore, words: frozenset[str]) -> DimensionScore:
    return replace(
        part,
        result=_without_words(part.result, words),
        lines=_public_lines(card, part.lines),
        components=tuple(_public_component(card, component, words) for component in part.components),
    )


def _public_component(card: Scorecard, part: ComponentScore, words: frozenset[str]) -> ComponentScore:
    return replace(part, result=_without_words(part.result, words), lines=_public_lines(card, part.lines))


def _without_words(result: Decimal | NotMeasured, words: frozenset[str]) -> Decimal | NotMeasured:
    if isinstance(result, NotMeasured) and _tells(result.detail, words):
        return NotMeasured(result.reason, NOT_DISCLOSED)
    return result


def _words_of(line: Line) -> tuple[str, ...]:
    """What identifies a finding wherever it is repeated; a pot's own line has no finding, only its price."""
    return tuple(word for word in (line.rule, line.why) if word) if line.rule else ()


def _tells(text: str, words: frozenset[str]) -> bool:
    return any(word in text for word in words)
