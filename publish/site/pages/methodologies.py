"""Methodologies with their versions, and the handbook of rules, written from their declarations."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from publish.text.markup import describe_family, parse_blocks, parse_inline
from publish.views.rubrics import (
    describe_changes,
    describe_cost,
    describe_formula,
    describe_parameters,
    describe_redistribution,
    format_value,
)
from publish.web.context import SiteContext
from scoring import rule_examples
from scoring.engine import catalogue
from scoring.engine.rubric import Rubric
from scoring.engine.rule import Rule
from scoring.explain import list_citations
from scoring.rule_snippets import make_snippet
from scoring.scopes.base import Scope
from scoring.subjects import describe_subject

_HERE: Final = "methods"


def routes(site: SiteContext) -> APIRouter:
    site.jinja.globals |= {
        "inline": parse_inline,
        "blocks": parse_blocks,
        "parameters": describe_parameters,
        "share_of": _share_of,
    }
    router = APIRouter()
    site.jinja.globals["describe_subject"] = describe_subject

    @router.get("/methods")
    def methods() -> Response:
        return site.page(
            "methods.html.j2", here=_HERE, rubrics=catalogue.list_rubrics(), rules=len(catalogue.list_rules())
        )

    @router.get("/methods/{name}")
    def method(name: str) -> Response:
        try:
            rubric = catalogue.get_rubric(name)
        except LookupError:
            raise HTTPException(404, "There is no such methodology, or not this version of it.") from None
        if name != rubric.name:
            return RedirectResponse(f"/methods/{rubric.name}", 307)
        return site.page("method.html.j2", here=_HERE, rubric=rubric, **_method(rubric))

    @router.get("/rules")
    def rules() -> Response:
        return site.page("rules.html.j2", here=_HERE, families=_families(), total=len(catalogue.list_rules()))

    @router.get("/rules/{name}")
    def rule(name: str) -> Response:
        found = _rules_of(name)
        if not found:
            raise HTTPException(404, "No rule has this id, and no methodology publishes one under it.")
        if [one.id for one in found] == [name]:
            return site.page("rule.html.j2", here=_HERE, rule=found[0], **_rule(found[0]))
        if len(found) == 1:
            return RedirectResponse(f"/rules/{found[0].id}", 307)
        return site.page("rules.html.j2", here=_HERE, families=[(name, "", found)], total=len(found))

    return router


def _method(rubric: Rubric) -> dict[str, Any]:
    versions = [known for known in catalogue.list_rubrics() if known.id == rubric.id]
    history = [
        (later, tuple(describe_changes(earlier, later)) if earlier else ())
        for earlier, later in zip([None, *versions], versions, strict=False)
    ]
    return {
        "versions": list(reversed(history)),
        "is_newest": rubric.version == versions[-1].version,
        "formula": parse_blocks("\n".join(describe_formula(rubric))),
        "redistribution": describe_redistribution(rubric),
        "describe_cost": describe_cost,
    }


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "rationale": parse_blocks(rule.rationale),
        "params": [(name, format_value(value)) for name, value in rule.params.items()],
        "snippet": make_snippet(rule),
        "good": _further_examples(rule, rule.good),
        "bad": _further_examples(rule, rule.bad),
        "cited": list(list_citations(rule)),
        "places": _places(rule),
    }


def _further_examples(rule: Rule, examples: Sequence[Scope]) -> list[str]:
    """The first examples except the one that the snippet shows."""
    shown = 1 if isinstance(rule.fix, tuple) else 0
    return [rule_examples.render_example(thing) for thing in examples[shown : shown + rule_examples.MAX_EXAMPLES]]


def _places(rule: Rule) -> dict[str, list[str]]:
    """The components that a rule affects, by rubric."""
    found: dict[str, list[str]] = {}
    for rubric in catalogue.list_rubrics():
        for dimension in rubric.dimensions:
            for component in dimension.components:
                if any(criterion.rule == rule.id for criterion in component.criteria):
                    found.setdefault(rubric.name, []).append(f"{dimension.title}: {component.title}")
    return found


def _rules_of(name: str) -> Sequence[Rule]:
    """The rule with this id, or the rules that rubrics publish under this id, ignoring case."""
    known = {rule.id: rule for rule in catalogue.list_rules()}
    if name in known:
        return [known[name]]
    cited = {
        criterion.rule
        for rubric in catalogue.list_rubrics()
        for criterion in rubric.criteria
        if criterion.cites.casefold() == name.casefold()
    }
    return [known[rule] for rule in sorted(cited)]


def _families() -> list[tuple[str, str, list[Rule]]]:
    found: dict[str, list[Rule]] = {}
    for rule in sorted(catalogue.list_rules(), key=lambda rule: (rule.family, rule.id)):
        found.setdefault(rule.family, []).append(rule)
    return [(family, describe_family(family), members) for family, members in found.items()]


def _share_of(weight: Decimal, weights: Sequence[Decimal]) -> Decimal:
    """A weight as a share of all."""
    return weight / sum(weights, Decimal(0))
