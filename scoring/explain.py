"""Explains scorecards, rules, published ids and rubrics as plain values that any front end can lay out."""

from __future__ import annotations

import importlib
import inspect
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from msgspec import Struct

from scoring import rule_examples
from scoring.engine import catalogue
from scoring.engine.rubric import Check, Criterion, Dimension, Rubric
from scoring.engine.rule import ParamValue, Rule
from scoring.remedy import FixGain, FixLocation, FixPlan, Remedy
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import DimensionScore, Line, Scorecard
from scoring.results.verdict import CAP, NOT_ENOUGH_EVIDENCE, Verdict, read_verdict
from scoring.rule_snippets import make_snippet
from scoring.subjects import describe_subject

_CHECK: Final = re.compile(r"\bcheck ([A-Z]+-\d+) of\b")
_NO_SCORE: Final = "There is no score, so the gain of a fix cannot be computed."
_COMPUTED: Final = "computed by the methodology"


class Explanation(Struct, frozen=True):
    """A title, a summary and sections of lines."""

    title: str
    summary: str
    sections: tuple[Section, ...] = ()

    def __str__(self) -> str:
        blocks = [self.title, self.summary, *(str(section) for section in self.sections)]
        return "\n\n".join(block for block in blocks if block)


class Section(Struct, frozen=True):
    """A heading and its lines."""

    heading: str
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join([self.heading, *(f"  {line}" for line in self.lines)])


def explain_scorecard(card: Scorecard) -> Explanation:
    """The receipt of one server: caps, score, lines, and what could not be measured."""
    verdict = read_verdict(card)
    sections = [
        Section("Caps", tuple(_cap_lines(card))),
        Section("Dimensions", tuple(_dimension_line(part) for part in card.dimensions)),
        *(_component_section(part) for part in card.dimensions),
        Section("Points", tuple(_point_line(line) for line in card.lines)),
        Section("Caveats", card.caveats),
        Section("Evidence", tuple(f"{kind}: sha256 {digest}" for kind, digest in sorted(card.evidence.items()))),
    ]
    kept = tuple(section for section in sections if section.lines)
    return Explanation(f"{card.rubric}@{card.version}: {_headline(card, verdict)}", _coverage(card), kept)


def explain_rule(rule_id: str) -> Explanation:
    """One rule: rationale, remedy, evidence, and the criteria that cite it; LookupError for an unknown id."""
    found = catalogue.get_rule(rule_id)
    facts = [
        f"judges: each {describe_subject(found)}",
        f"reads: {found.reads}",
        f"severity: {found.severity.value}",
        f"version: {found.version}, since {found.since}",
        *(f"parameter {name}: {_format_parameter(value)}" for name, value in found.params.items()),
        *([f"requirement: {found.level.value}"] if found.level else []),
        *([f"specification: {found.spec}"] if found.spec else []),
    ]
    cited = tuple(f"{rubric.name}: {_citation(criterion)}" for rubric, criterion in list_citations(found))
    sections = [
        Section("How to fix it", (found.remedy,)),
        *_snippet_sections(found),
        Section("Facts", tuple(facts)),
        Section("Good", rule_examples.list_good_examples(found)),
        Section("Bad", rule_examples.list_bad_examples(found)),
        Section("Cited by", cited),
    ]
    return Explanation(f"{found.id}: {found.title}", found.rationale, tuple(part for part in sections if part.lines))


def list_published_ids() -> frozenset[str]:
    """Every published id that a receipt can cite: criteria, dimensions and their components."""
    cited = {criterion.cites for rubric in catalogue.list_rubrics() for criterion in rubric.criteria}
    elsewhere = {name.upper() for rule in catalogue.list_rules() for name in _known_as(rule)}
    return frozenset(cited.union(elsewhere, (name for rubric in catalogue.list_rubrics() for name in _parts(rubric))))


def explain_citation(cites: str) -> list[Explanation]:
    """What a published id such as `SEC-004` or `setup.readme` stands for, in whatever rubric; upper or lower case.

    One explanation for each rule that it cites, for each rule that says it is the check of that id elsewhere, and for
    each rubric that has a dimension or component of that name.

    LookupError when no rubric has such an id.
    """
    cited: dict[str, list[str]] = {}
    for rubric in catalogue.list_rubrics():
        for criterion in rubric.criteria:
            if criterion.cites.casefold() == cites.casefold():
                cited.setdefault(criterion.rule, []).append(f"{rubric.name}: {_citation(criterion)}")
    for rule in catalogue.list_rules():
        if cites.casefold() in _known_as(rule):
            prices = [f"{rubric.name}: {_citation(criterion)}" for rubric, criterion in list_citations(rule)]
            cited.setdefault(rule.id, prices)
    explained = [_cited(cites, rule, prices) for rule, prices in cited.items()]
    explained += [
        parts[cites.casefold()] for rubric in catalogue.list_rubrics() if cites.casefold() in (parts := _parts(rubric))
    ]
    if not explained:
        raise LookupError(f"no rubric cites {cites!r}; `hallmark explain RUBRIC` lists the ids of a rubric")
    return explained


def explain_fix_plan(prospect: FixPlan) -> Explanation:
    """The fixes for one server: places and gains in points."""
    card = prospect.card
    everything = prospect.everything
    summary = "Nothing was found that costs points." if isinstance(card.score, Decimal) else _NO_SCORE
    if everything is not None:
        summary = f"Fixing everything would bring {_gain(everything)}. Gains are of one fix alone; they do not add up."
    sections = tuple(Section(_remedy_heading(remedy), tuple(_remedy_lines(remedy))) for remedy in prospect.remedies)
    return Explanation(f"What to change for {card.rubric}@{card.version}", summary, sections)


def explain_rubric(name: str) -> Explanation:
    """One methodology: formula, criteria or dimensions, grades and our decisions; LookupError for an unknown name."""
    rubric = catalogue.get_rubric(name)
    known = [f"{other.name} (source version {other.source_version})" for other in catalogue.list_rubrics()]
    sections = [
        Section("Formula", tuple(line for line in _formula(rubric).splitlines() if line)),
        Section("Weights", tuple(f"{part.title}: {part.weight}" for part in rubric.dimensions)),
        *(Section(_dimension_heading(part), tuple(_dimension_parts(part))) for part in rubric.dimensions),
        *([] if rubric.dimensions else [Section("Criteria", tuple(_citation(part) for part in rubric.criteria))]),
        Section("Grades", tuple(f"{name} from {bound}" for bound, name in rubric.bands)),
        Section("Settled by us, and deviations", rubric.settled),
        Section("Versions", tuple(name for name in known if name.startswith(f"{rubric.id}@"))),
        Section("Source", (f"{rubric.source} (version {rubric.source_version})",)),
    ]
    kept = tuple(section for section in sections if section.lines)
    return Explanation(f"{rubric.name}: {rubric.title}", rubric.summary, kept)


def describe_cap_cost(cites: str) -> str:
    """What the cap with this id takes besides limiting the grade, as a sentence; empty for nothing or no cap."""
    methods = (rubric.method for rubric in catalogue.list_rubrics())
    terms = next((cap for method in methods if method for cap in method.caps if cap.cites == cites), None)
    if terms is None or not (terms.cost or terms.withholds):
        return ""
    nothing = f"{' and '.join(terms.withholds)} count nothing" if terms.withholds else ""
    points = f"{terms.cost:f} points are taken, once for all caps" if terms.cost else ""
    return f"Under this cap {' and '.join(filter(None, (nothing, points)))}."


def list_citations(rule: Rule) -> Iterator[tuple[Rubric, Criterion]]:
    for rubric in catalogue.list_rubrics():
        for criterion in rubric.criteria:
            if criterion.rule == rule.id:
                yield rubric, criterion


def _known_as(rule: Rule) -> frozenset[str]:
    """The ids, in lower case, of the other publications' checks that a rule's rationale names."""
    return frozenset(found.casefold() for found in _CHECK.findall(rule.rationale))


def _cited(cites: str, rule: str, prices: list[str]) -> Explanation:
    explained = explain_rule(rule)
    kept = tuple(section for section in explained.sections if section.heading != "Cited by")
    return Explanation(
        f"{cites}, rule {explained.title}", explained.summary, (Section("Charged by", tuple(prices)), *kept)
    )


def _parts(rubric: Rubric) -> dict[str, Explanation]:
    """An explanation for each dimension and component of a rubric, by name in lower case."""
    found: dict[str, Explanation] = {}
    for dimension in rubric.dimensions:
        title = f"{dimension.name}, dimension of {rubric.name}: {dimension.title}"
        cited = Section("Components", tuple(_dimension_parts(dimension)))
        found[dimension.name.casefold()] = Explanation(title, f"Its base weight is {dimension.weight}.", (cited,))
        whole = sum((component.weight for component in dimension.components), Decimal(0))
        for component in dimension.components:
            name = f"{dimension.name}.{component.name}"
            weight = f"It is {component.weight / whole:.0%} of the dimension {dimension.name} when all is measured."
            cited = Section("Rules", tuple(_check(check) for check in component.checks) or (_COMPUTED,))
            title = f"{name}, component of {rubric.name}: {component.title}"
            found[name.casefold()] = Explanation(title, weight, (cited,))
    for cap in rubric.method.caps if rubric.method else ():
        rows = Section("Rules", cap.rules or ("evidence that could not be examined",))
        terms = (f"It caps the grade at {cap.grade}. It is lifted by {cap.lifted_by}.", describe_cap_cost(cap.cites))
        summary = " ".join(filter(None, terms))
        found[cap.cites.casefold()] = Explanation(f"{cap.cites}, cap of {rubric.name}", summary, (rows,))
    return found


def _formula(rubric: Rubric) -> str:
    """The docstring of the methodology's module."""
    return inspect.getdoc(importlib.import_module(rubric.judge.__module__)) or rubric.summary


def _remedy_heading(remedy: Remedy) -> str:
    count = len(remedy.spots)
    places = "one place" if count == 1 else f"all {count} places"
    return f"{_gain(remedy.gain)} for {places}: {remedy.title} [{remedy.rule}]"


def _remedy_lines(remedy: Remedy) -> Iterator[str]:
    yield remedy.how
    yield f"charged as {', '.join(remedy.cites)}"
    for spot in remedy.spots:
        yield f"{_alone(spot)} {spot.at or 'whole server'}: {'; '.join(spot.why)}"
    for section in _snippet_sections(catalogue.get_rule(remedy.rule)):
        yield from str(section).splitlines()


def _snippet_sections(rule: Rule) -> Iterator[Section]:
    """The text to edit before and after the fix."""
    snippet = make_snippet(rule)
    if snippet is None:
        return
    if snippet.before is not None:
        yield Section(f"Before: {snippet.where}", tuple(snippet.before.split("\n")))
    yield Section(f"After: {snippet.where}", tuple(snippet.after.split("\n")))


def _alone(spot: FixLocation) -> str:
    return "(+?)" if spot.alone is None else f"({_signed(spot.alone.points)})"


def _gain(gain: FixGain) -> str:
    grade = f", grade {gain.grade}" if gain.grade else ""
    return f"{_signed(gain.points)} points (to {gain.score}{grade})"


def _headline(card: Scorecard, verdict: Verdict) -> str:
    if isinstance(card.score, NotMeasured) and verdict.status == NOT_ENOUGH_EVIDENCE:
        return f"not enough evidence, {verdict.floor:f}-{verdict.ceiling:f} ({card.score.detail})"
    if isinstance(card.score, NotMeasured):
        return f"not measured ({_why(card.score)})"
    return f"{card.score} of 100" + (f", grade {card.grade}" if card.grade else "")


def _why(result: NotMeasured) -> str:
    return f"{result.reason}: {result.detail}" if result.detail else result.reason


def _coverage(card: Scorecard) -> str:
    source = f"Methodology version {card.source_version}, evidence as of {card.as_of:%Y-%m-%d}."
    return f"{card.coverage:.0%} of the base weight was measured. {source}"


def _cap_lines(card: Scorecard) -> Iterator[str]:
    for line in card.lines:
        if line.cites.startswith(CAP):
            yield line.why
            if cost := describe_cap_cost(line.cites):
                yield f"  {cost}"


def _dimension_line(part: DimensionScore) -> str:
    if isinstance(part.result, NotMeasured):
        return f"{part.name}: N/A ({_why(part.result)}), its {part.base_weight} % went to the others"
    weight = f"weight {part.effective_weight:.1%} ({part.base_weight} %)"
    return f"{part.name}: {part.result:.1f} of 10, {weight}, {part.status}"


def _component_section(part: DimensionScore) -> Section:
    lines: list[str] = []
    for component in part.components:
        if isinstance(component.result, NotMeasured):
            lines.append(f"{component.name}: N/A ({_why(component.result)})")
            continue
        lines.append(f"{component.name}: {component.result:.1f} of 10, {component.checked} checked")
        lines += [f"  {_point_line(line)}" for line in component.lines]
    return Section(part.name, tuple(lines))


def _point_line(line: Line) -> str:
    where = f" at {line.at}" if line.at else ""
    rule = f" [{line.rule}]" if line.rule else ""
    return f"{_signed(line.points)} {line.cites}{where}: {line.why}{rule}"


def _signed(points: Decimal) -> str:
    return f"{points:+.2f}" if points != points.to_integral_value() else f"{points:+.0f}"


def _format_parameter(value: ParamValue) -> str:
    """A parameter as JSON, a list of words with commas."""
    return ", ".join(value) if isinstance(value, tuple) else json.dumps(value, ensure_ascii=False)


def _citation(criterion: Criterion) -> str:
    params = ", ".join(f"{name}={_format_parameter(value)}" for name, value in criterion.params.items())
    price = f", {criterion.points} points a finding" if criterion.points else ""
    alias = "" if criterion.cites == criterion.rule else f" (rule {criterion.rule})"
    return f"{criterion.cites}{alias}{': ' + params if params else ''} [{criterion.severity.value}{price}]"


def _dimension_heading(part: Dimension) -> str:
    return f"{part.title}: {part.weight} %"


def _dimension_parts(part: Dimension) -> Iterator[str]:
    for component in part.components:
        checks = "; ".join(_check(check) for check in component.checks)
        yield f"{component.title}: {checks or _COMPUTED}"


def _check(check: Check) -> str:
    return " + ".join(criterion.rule for criterion in check.criteria)
