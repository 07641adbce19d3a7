"""Describes rubrics in words: versions, formula, weights, grades, deviations and history."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator, Sequence
from decimal import Decimal

from publish.text.numbers import format_number
from scoring.engine.rubric import CapTerms, Check, Component, Criterion, Rubric, VerdictMethod
from scoring.engine.walk import Pages


def render_rubric_page(members: Sequence[Rubric]) -> Iterator[str]:
    """The page of all versions of one methodology, the newest first."""
    newest = members[-1]
    yield from (f"# {newest.title} (`{newest.id}`)", "", "## Versions", "")
    yield from ("| version | publication | what changed |", "|---|---|---|")
    for earlier, rubric in zip([None, *members], members, strict=False):
        default = ", the default" if rubric.default else ""
        changed = "; ".join(describe_changes(earlier, rubric)) if earlier else "first version"
        yield f"| [`{rubric.name}`](#{_anchor(rubric)}){default} | {rubric.source_version} | {changed} |"
    for rubric in reversed(members):
        yield from _version(rubric)


def describe_changes(earlier: Rubric, later: Rubric) -> Iterator[str]:
    """The differences between two versions of a rubric in words; never empty."""
    old, new = _charges(earlier), _charges(later)
    yield from _describe_citations("added", [cites for cites in new if cites not in old])
    yield from _describe_citations("removed", [cites for cites in old if cites not in new])
    yield from _describe_citations("changed", [cites for cites in new if cites in old and new[cites] != old[cites]])
    if earlier.bands != later.bands:
        yield "other grades"
    if _weights(earlier) != _weights(later):
        yield "other weights"
    yield "see its deviations below"


def describe_formula(rubric: Rubric) -> Iterator[str]:
    """The docstring of the rubric's module; for weighted rubrics also the formula of the score."""
    module = importlib.import_module(rubric.judge.__module__)
    yield inspect.cleandoc(module.__doc__ or rubric.summary)
    if not rubric.dimensions:
        return
    terms = " + ".join(f"{format_number(part.weight)} x {part.name}" for part in rubric.dimensions)
    total = sum((part.weight for part in rubric.dimensions), Decimal(0))
    yield from ("", "With everything measured, and each dimension on 0 to 10:", "")
    yield from (f"    score = 10 x ({terms}) / {format_number(total)}", "")
    yield describe_redistribution(rubric)


def describe_redistribution(rubric: Rubric) -> str:
    """The effect of what was not measured on the weights of a rubric with dimensions."""
    if rubric.method:
        return "What does not apply is left out of both sums. What applies counts 0 until it is measured."
    return (
        "What was not measured is left out of both sums, so its weight goes to the other parts in proportion to their"
        " weights."
    )


def rule_link(criterion: Criterion) -> str:
    """A link from a rubric's page to the rule that a criterion cites."""
    return f"[`{criterion.rule}`](../rules/{criterion.declared.family}.md#{criterion.rule})"


def describe_parameters(criterion: Criterion) -> str:
    """The parameters of a criterion in one table cell, and whether it reads the source."""
    parameters = [f"`{name}` = {format_value(value)}" for name, value in criterion.params.items()]
    return ", ".join([*parameters, "tools of the source"] if criterion.pages is Pages.SOURCE else parameters)


def format_value(value: object) -> str:
    """A parameter's value as code; for long lists their length."""
    if isinstance(value, tuple):
        return ", ".join(f"`{item}`" for item in value) if len(value) <= _LONG else f"{len(value)} words"
    return f"`{str(value).lower()}`" if isinstance(value, bool) else f"`{value}`"


_LONG = 12


def _version(rubric: Rubric) -> Iterator[str]:
    yield from ("", f"## {rubric.name}", "", rubric.summary, "")
    yield f"Published at {rubric.source}, version {rubric.source_version}."
    yield from ("", "### Formula", "", *describe_formula(rubric))
    yield from _dimensions(rubric) if rubric.dimensions else _criteria(rubric)
    if rubric.bands:
        yield from ("", "### Grades", "", "| grade | from |", "|---|---|")
        yield from (f"| {name} | {format_number(bound)} |" for bound, name in rubric.bands)
    if rubric.method:
        yield from _scale_and_caps(rubric, rubric.method)
    yield from ("", "### What the text leaves open and we settled, and where we deviate", "")
    yield from (f"- {sentence}" for sentence in rubric.settled)


def _scale_and_caps(rubric: Rubric, method: VerdictMethod) -> Iterator[str]:
    yield from ("", "### Scale", "", "| guaranteed points | value before caps |", "|---|---|")
    yield from (f"| {format_number(raw)} | {format_number(value)} |" for raw, value in method.scale)
    yield from ("", "Between two rows the value lies on a straight line.", "", "### Caps", "")
    yield from ("| cap | highest grade | caused by | lifted by | points |", "|---|---|---|---|---|")
    yield from (_cap_row(rubric, cap) for cap in method.caps)


def _cap_row(rubric: Rubric, cap: CapTerms) -> str:
    rules = [rule_link(one) for one in rubric.criteria if one.cites in cap.rules]
    caused = ", ".join(dict.fromkeys(rules)) or "evidence that could not be examined, or what it shows"
    cost = describe_cost(cap)
    return f"| `{cap.cites}` | {cap.grade} | {caused} | {cap.lifted_by} | {cost} |"


def describe_cost(cap: CapTerms) -> str:
    """What a cap takes from the points, besides limiting the grade."""
    cost = f"-{format_number(cap.cost)}" if cap.cost else ""
    withheld = f"{' and '.join(cap.withholds)} count 0" if cap.withholds else ""
    return ", ".join(filter(None, (withheld, cost))) or "none"


def _criteria(rubric: Rubric) -> Iterator[str]:
    yield from ("", "### Criteria", "", "| published id | points | rule | parameters |", "|---|---|---|---|")
    for criterion in rubric.criteria:
        points = f"-{criterion.points}" if criterion.points else "none"
        price = f"{points} ({criterion.severity.value})"
        yield f"| {criterion.cites} | {price} | {rule_link(criterion)} | {describe_parameters(criterion)} |"


def _dimensions(rubric: Rubric) -> Iterator[str]:
    yield from ("", "### Dimensions and components", "")
    yield from ("| dimension | weight | component | share | checks |", "|---|---|---|---|---|")
    total = sum((dimension.weight for dimension in rubric.dimensions), Decimal(0))
    for dimension in rubric.dimensions:
        whole = sum((component.weight for component in dimension.components), Decimal(0))
        for component in dimension.components:
            weight, share = f"{dimension.weight / total:.0%}", f"{component.weight / whole:.0%}"
            yield f"| {dimension.title} | {weight} | {component.title} | {share} | {_checks(component)} |"


def _checks(component: Component) -> str:
    uneven = len({check.weight for check in component.checks}) > 1
    checks = (_describe_check(check) + (f" ×{check.weight}" if uneven else "") for check in component.checks)
    return "; ".join(checks) or "computed"


def _describe_check(check: Check) -> str:
    """The rules of a check, and its fallback if they have nothing to check."""
    words = " + ".join(_named(part) for part in check.criteria) + (" (beside others)" if check.supplementary else "")
    if check.otherwise is None:
        return words
    same = [part.rule for part in check.criteria] == [part.rule for part in check.otherwise.criteria]
    return f"{words} (or {'the same in the source' if same else _describe_check(check.otherwise)})"


def _named(criterion: Criterion) -> str:
    """A link to the rule with the published id as its text."""
    return (
        rule_link(criterion)
        if criterion.cites == criterion.rule
        else rule_link(criterion).replace(criterion.rule, criterion.cites, 1)
    )


def _charges(rubric: Rubric) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for part in rubric.criteria:
        price = f"{part.rule} {part.severity} {part.points} {sorted(part.params.items())} {part.pages}"
        found.setdefault(part.cites, []).append(price)
    return found


def _weights(rubric: Rubric) -> list[tuple[str, Decimal]]:
    return [(part.name, part.weight) for part in rubric.dimensions]


def _describe_citations(what: str, cites: Sequence[str]) -> Iterator[str]:
    if cites:
        shown = ", ".join(cites[:_LONG])
        yield f"{what}: {shown}" + (f" and {len(cites) - _LONG} more" if len(cites) > _LONG else "")


def _anchor(rubric: Rubric) -> str:
    """The anchor that code hosts generate for a heading: they drop the @."""
    return rubric.name.replace("@", "")
