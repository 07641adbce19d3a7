"""Decides what may be published: the only gate between the evidence store and everything public."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import Final, TypeAlias

import orjson
from msgspec import Struct, field
from msgspec.structs import replace

from evidence.canonical import Json, canonical_json
from evidence.kinds import listing
from evidence.kinds.listing import CONTAINING, Listing
from evidence.kinds.traits import kinds_where, traits
from evidence.model import Absent, Dossier, Record
from publish.private_answers import remove_private_answers
from publish.remarks import REMARK, is_remark, name_suspect_place
from publish.views.server_summary import finding_lines, receipt_lines
from scoring import receipt
from scoring.engine import catalogue
from scoring.engine.rubric import Rubric
from scoring.engine.rule import discover_rules
from scoring.results import weighting
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import ComponentScore, DimensionScore, Line, Scorecard
from scoring.results.verdict import CAP

PRIVATE_KINDS: Final = kinds_where(lambda traits: traits.private)
"""Kinds with findings of Hallmark's own scans, data that only the operator's token may read, or third-party texts."""

PUBLIC_KINDS: Final = kinds_where(lambda traits: not traits.private)
"""The input of a score, so that it can be verified (docs/decisions/0030), and observations that anyone can repeat by
running the server in a sandbox (docs/decisions/0035)."""

UNSANDBOXED: Final = "none"

PRIVATE_FAMILIES: Final = frozenset({"safety", "secrets"})
"""Families of rules whose findings are reported to the vendor before they are published."""

PRIVATE_RULES: Final = frozenset({"bogus-token-mishandled"})
"""Rules of other families whose findings may be unknown vulnerabilities."""

WITHHELD: Final = "withheld"
"""Replaces the criterion and the rule of an undisclosed finding on a public receipt."""

NOT_DISCLOSED: Final = "withheld until it is disclosed to the vendor"
GATE_WITHHELD: Final = "a component without weight: what it found is published as a cap and its findings, or not yet"

WITHHELD_CAP: Final = f"{CAP}{WITHHELD}"
"""Replaces the published id of a cap that an undisclosed finding causes."""

UNDER_DISCLOSURE: Final = "capped: a security finding is under disclosure"

SET_ASIDE: Final = "reviewed and not published; it counts until the rule is corrected"
"""The reason of a dismissed finding. Dismissal does not change the score: the rule must be corrected."""

_TEXT_RULES: Final = "text-"
"""The ids of the rules that judge texts of a listing begin so."""

Spot: TypeAlias = tuple[str, str, str]
"""A line of a receipt with a rule: the rule, the place and the message."""

_EVIDENCE: Final = b'"evidence":'
_FOLDED: Final = re.compile(r"[0-9]+ more findings?")


class ReviewedFindings(Struct, frozen=True):
    """Review results for the findings of one server: disclosed ones and dismissed ones.

    All other findings stay private.
    """

    disclosed: frozenset[Spot] = frozenset()
    dismissed: frozenset[Spot] = frozenset()


NOT_REVIEWED: Final = ReviewedFindings()


class PublicRecords(Struct, frozen=True):
    """The records of one server that may be published."""

    records: Mapping[str, Record] = field(default_factory=dict)


class WithheldServer(Struct, frozen=True):
    """Nothing of this server may be published, not even its scores; `why` is for its operator."""

    why: str


def disclose_dossier(dossier: Dossier) -> PublicRecords | WithheldServer:
    """Decide what of a dossier may be published: kinds that are public, and only from contained servers.

    A kind without traits is not published.
    """
    if why := _why_withheld(dossier):
        return WithheldServer(why)
    if any(record.observation.get("credentials") for record in dossier.records.values()):
        return WithheldServer("it was entered with credentials of its operator, and shows others less")
    shown = {kind: record for kind, record in sorted(dossier.records.items()) if kind in PUBLIC_KINDS}
    return PublicRecords({kind: redact_record(record) for kind, record in shown.items()})


def redact_record(record: Record) -> Record:
    """A record of a public kind without its private observation members and private answers."""
    record = remove_private_answers(record)
    shown = traits()[record.kind].public_observation if record.kind in traits() else frozenset()
    if shown is None:
        return record
    return replace(record, observation={name: value for name, value in record.observation.items() if name in shown})


def _why_withheld(dossier: Dossier) -> str:
    if isinstance(dossier.read(listing.KIND), Absent):
        return ""
    seen = dossier.parsed(listing.KIND, Listing.parse)
    if seen is None:
        return "its listing cannot be read back, so nothing says whether it was sandboxed"
    sandbox = seen.sandbox
    if sandbox == UNSANDBOXED:
        return "it ran without a sandbox, at its user's own request"
    return "" if not sandbox or sandbox in CONTAINING else f"{sandbox} does not contain a server"


def redact_receipt(card: Scorecard, reviewed: ReviewedFindings = NOT_REVIEWED) -> Scorecard:
    """The public receipt: undisclosed findings are one neutral line in each place, and one for all caps by them.

    While a cap is hidden, so are the results of components without weight: their findings only cause caps. Points,
    other results and bounds stay, so the lines still add up to the same score. Rule, criterion, place, text and
    evidence of the replaced lines are removed, with caveats, facts and reasons that repeat them, and with the digests
    of evidence that is not public. The line of a disclosed finding is not changed.
    """
    public_digests = {kind: digest for kind, digest in card.evidence.items() if kind in PUBLIC_KINDS}
    if len(public_digests) < len(card.evidence):
        card = replace(card, evidence=public_digests)
    if not has_private_line(card):
        return card
    hidden = [line for line in receipt_lines(card) if _replacement_reason(card, line, reviewed)]
    words = frozenset(word for line in hidden for word in _words_of(line))
    caps_hidden = any(_is_cap(line) for line in hidden)
    caveats = tuple(dict.fromkeys(NOT_DISCLOSED if _contains_any(text, words) else text for text in card.caveats))
    return replace(
        card,
        score=_without_words(card.score, words),
        lines=_public_lines(card, card.lines, reviewed),
        dimensions=tuple(
            _hide_gates(public) if caps_hidden else public
            for public in (_public_dimension(card, part, words, reviewed) for part in card.dimensions)
        ),
        caveats=caveats,
        facts={name: fact for name, fact in card.facts.items() if not _contains_any(f"{name} {fact}", words)},
    )


def redact_receipt_body(
    body: bytes, reviewed: ReviewedFindings = NOT_REVIEWED, decoded: Scorecard | None = None
) -> bytes:
    """The public form of an encoded receipt, which is not decoded if it has no private line or was `decoded`."""
    if decoded is None and not may_name_private(body):
        return remove_private_digests(body)
    decoded = decoded or receipt.decode_stored_scorecard(body)
    return receipt.encode_scorecard(redact_receipt(decoded, reviewed))


def may_name_private(body: bytes) -> bool:
    """Whether an encoded receipt may have a private line, found without decoding it."""
    named, cited = _tokens()
    rules = ((line["rule"] or b"").decode() for line in cited.finditer(body))
    return bool(named.search(body)) or any(rule not in discover_rules() for rule in rules)


def has_private_line(card: Scorecard) -> bool:
    """Whether a receipt has a line that needs a review before publication."""
    public = _public_rule_ids()
    return any(_is_private(card, line) for line in receipt_lines(card) if line.rule not in public)


def find_suspect_places(card: Scorecard) -> Iterator[str]:
    """The paths of texts of the listing that have lines in a receipt with private lines.

    A private cap gives the empty path, whatever it is for: which text is left out must not tell which cap it is.
    """
    for line in receipt_lines(card):
        if _is_cap(line) and _is_private(card, line):
            yield ""
        elif (line.rule or "").startswith(_TEXT_RULES):
            yield name_suspect_place(line)


def find_private_lines(card: Scorecard) -> Iterator[Line]:
    """The lines of findings that need a review before publication (`finding_lines`)."""
    return (line for line in finding_lines(card) if _is_private(card, line))


@cache
def private_rule_ids() -> frozenset[str]:
    """Ids of the rules whose findings are withheld, by name, family or evidence kind."""
    return PRIVATE_RULES | {
        rule.id for rule in discover_rules().values() if rule.family in PRIVATE_FAMILIES or rule.reads in PRIVATE_KINDS
    }


@cache
def _public_rule_ids() -> frozenset[str]:
    return frozenset(discover_rules()) - private_rule_ids()


@cache
def _private_citations(rubric: str) -> frozenset[str]:
    """Published ids under which any version of a rubric charges for private rules."""
    return frozenset(
        cites
        for known in catalogue.list_rubrics()
        if known.id == rubric
        for cites in (*_criteria(known), *_parts(known), *_caps(known))
    )


def _criteria(rubric: Rubric) -> Iterator[str]:
    yield from (criterion.cites for criterion in rubric.criteria if criterion.rule in private_rule_ids())


def _parts(rubric: Rubric) -> Iterator[str]:
    """Components that private rules affect: folded lines cite the component and name no rule."""
    for dimension in rubric.dimensions:
        for component in dimension.components:
            if any(criterion.rule in private_rule_ids() for criterion in component.criteria):
                yield f"{dimension.name}.{component.name}"


def _caps(rubric: Rubric) -> Iterator[str]:
    """Published ids of caps that findings of private rules cause."""
    for cap in rubric.method.caps if rubric.method else ():
        if not private_rule_ids().isdisjoint(cap.rules):
            yield cap.cites


@cache
def _tokens() -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Patterns for encoded lines of private rules, and for lines that cite a private id, with their rule.

    The second finds no rule where a line has none, or not the members that are expected.
    """
    cited = frozenset[str]().union(*(_private_citations(rubric.id) for rubric in catalogue.list_rubrics()))
    rules, ids = ("|".join(map(re.escape, sorted(names))) for names in (private_rule_ids(), cited))
    rule = r'(?:,"evidence":"[^"\\]*","points":"[^"\\]*","rule":"(?P<rule>[a-z0-9-]+)")?'
    return re.compile(f'"rule":"(?:{rules})"'.encode()), re.compile(f'"cites":"(?:{ids})"{rule}'.encode())


def _is_private(card: Scorecard, line: Line) -> bool:
    """Whether a line is private, by its rule; without a known rule, by its published id."""
    return line.rule in private_rule_ids() or (
        line.rule not in discover_rules() and line.cites in _private_citations(card.rubric)
    )


def _replacement_reason(card: Scorecard, line: Line, reviewed: ReviewedFindings) -> str:
    """The reason that replaces a line; empty if the line is public.

    A line without a rule that prices several findings is replaced like these findings. A line that folds findings, or
    whose rule no longer exists, stays private, since no review can cover it.
    """
    if not _is_private(card, line):
        return ""
    if _is_cap(line):
        return "" if _names_any(line, reviewed.disclosed) else _why_cap(line, reviewed)
    if line.rule in private_rule_ids():
        spot = line.rule, line.at, line.why
        hidden = REMARK if is_remark(line) else NOT_DISCLOSED
        return "" if spot in reviewed.disclosed else SET_ASIDE if spot in reviewed.dismissed else hidden
    about = [one for one in receipt_lines(card) if one.cites == line.cites and one.rule in private_rule_ids()]
    if line.rule or _FOLDED.fullmatch(line.why) or not about:
        return NOT_DISCLOSED
    reasons = {_replacement_reason(card, one, reviewed) for one in about}
    return next((why for why in (NOT_DISCLOSED, SET_ASIDE, REMARK) if why in reasons), "")


def _is_cap(line: Line) -> bool:
    return line.cites.startswith(CAP)


def _names_any(cap: Line, spots: Collection[Spot]) -> bool:
    """Whether a cap is by one of these findings: its text quotes the message."""
    return any((rule, at) == (cap.rule, cap.at) and message in cap.why for rule, at, message in spots if message)


def _why_cap(cap: Line, reviewed: ReviewedFindings) -> str:
    return SET_ASIDE if _names_any(cap, reviewed.dismissed) else UNDER_DISCLOSURE


def _public_lines(card: Scorecard, lines: Sequence[Line], reviewed: ReviewedFindings) -> tuple[Line, ...]:
    """The lines with at most two replacements, one for undisclosed and one for dismissed findings; caps alike.

    Remarks join undisclosed findings. A replacement has the rule `withheld` if a replaced line had a rule.
    """
    shown: list[Line] = []
    hidden: dict[tuple[str, bool], tuple[int, list[Line]]] = {}
    reasons = [_replacement_reason(card, line, reviewed) for line in lines]
    for line, reason in zip(lines, reasons, strict=True):
        why = NOT_DISCLOSED if reason == REMARK and NOT_DISCLOSED in reasons else reason
        if not why:
            shown.append(_public_line(line))
        elif (why, _is_cap(line)) in hidden:
            hidden[why, _is_cap(line)][1].append(line)
        else:
            hidden[why, _is_cap(line)] = (len(shown), [line])
            shown.append(line)
    for (why, _), (place, replaced) in hidden.items():
        shown[place] = _neutral(replaced, why)
    return tuple(shown)


def _neutral(lines: Sequence[Line], why: str) -> Line:
    points = sum((line.points for line in lines), Decimal(0))
    if _is_cap(lines[0]):
        return Line(cites=WITHHELD_CAP, points=points, why=why)
    return Line(cites=WITHHELD, points=points, why=why, rule=WITHHELD if any(line.rule for line in lines) else None)


def _public_line(line: Line) -> Line:
    """A disclosed line without the digest of private evidence."""
    declared = discover_rules().get(line.rule or "")
    return replace(line, evidence="") if declared and declared.reads in PRIVATE_KINDS else line


def _public_dimension(
    card: Scorecard, part: DimensionScore, words: frozenset[str], reviewed: ReviewedFindings
) -> DimensionScore:
    return replace(
        part,
        result=_without_words(part.result, words),
        lines=_public_lines(card, part.lines, reviewed),
        components=tuple(_public_component(card, component, words, reviewed) for component in part.components),
    )


def _public_component(
    card: Scorecard, part: ComponentScore, words: frozenset[str], reviewed: ReviewedFindings
) -> ComponentScore:
    return replace(part, result=_without_words(part.result, words), lines=_public_lines(card, part.lines, reviewed))


def _hide_gates(part: DimensionScore) -> DimensionScore:
    """The dimension without the results of components without weight: which of them has the finding stays private."""
    components = tuple(_hide_gate(one) if is_gate(one) else one for one in part.components)
    if components == part.components:
        return part
    applicable = [one for one in components if not weighting.is_inapplicable(one)]
    return replace(
        part,
        components=components,
        result=weighting.compute_dimension_result(components),
        status=weighting.derive_status(applicable),
    )


def is_gate(component: ComponentScore) -> bool:
    """Whether a component has no weight, so that its findings cost nothing but may cause a cap."""
    return not component.base_weight


def _hide_gate(component: ComponentScore) -> ComponentScore:
    return ComponentScore(
        name=component.name,
        base_weight=component.base_weight,
        effective_weight=Decimal(0),
        result=NotMeasured(WITHHELD, GATE_WITHHELD),
        lines=tuple(line for line in component.lines if line.cites != WITHHELD),
    )


def remove_private_digests(body: bytes) -> bytes:
    """The encoded receipt without digests of evidence that is not public. Within a text, quotes would be escaped."""
    start = body.find(_EVIDENCE + b"{") + len(_EVIDENCE)
    if start < len(_EVIDENCE):
        return body
    end = body.index(b"}", start) + 1
    digests: dict[str, Json] = orjson.loads(body[start:end])
    public_digests = {kind: digest for kind, digest in digests.items() if kind in PUBLIC_KINDS}
    return body if len(public_digests) == len(digests) else body[:start] + canonical_json(public_digests) + body[end:]


def _without_words(result: Decimal | NotMeasured, words: frozenset[str]) -> Decimal | NotMeasured:
    if isinstance(result, NotMeasured) and _contains_any(result.detail, words):
        return NotMeasured(result.reason, NOT_DISCLOSED)
    return result


def _words_of(line: Line) -> tuple[str, ...]:
    """Texts that identify a finding wherever it is repeated; a line without a rule has none."""
    return tuple(word for word in (line.rule, line.why) if word) if line.rule else ()


def _contains_any(text: str, words: frozenset[str]) -> bool:
    return any(word in text for word in words)
