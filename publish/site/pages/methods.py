"""Methodologies with their versions, and the handbook of rules, written from their declarations."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from publish.declared_text import about_family, blocks, inline
from publish.rubric_pages import changes, formula, parameters, value_text
from publish.site.site import Site
from scoring import catalogue, illustration
from scoring.explain import citations
from scoring.rubric import Rubric
from scoring.rule import Rule

_HERE: Final = "methods"


def routes(site: Site) -> APIRouter:
    """Four pages."""
    site.jinja.globals |= {"inline": inline, "blocks": blocks, "parameters": parameters, "share_of": _share_of}
    router = APIRouter()

    @router.get("/methods")
    def methods() -> Response:
        return site.page("methods.html.j2", here=_HERE, rubrics=catalogue.rubrics(), rules=len(catalogue.rules()))

    @router.get("/methods/{name}")
    def method(name: str) -> Response:
        try:
            rubric = catalogue.rubric(name)
        except LookupError:
            raise HTTPException(404, "There is no such methodology, or not this version of it.") from None
        if name != rubric.name:
            return RedirectResponse(f"/methods/{rubric.name}", 307)
        return site.page("method.html.j2", here=_HERE, rubric=rubric, **_method(rubric))

    @router.get("/rules")
    def rules() -> Response:
        return site.page("rules.html.j2", here=_HERE, families=_families(), total=len(catalogue.rules()))

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
    versions = [known for known in catalogue.rubrics() if known.id == rubric.id]
    history = [
        (later, tuple(changes(earlier, later)) if earlier else ())
        for earlier, later in zip([None, *versions], versions, strict=False)
    ]
    return {
        "versions": list(reversed(history)),
        "is_newest": rubric.version == versions[-1].version,
        "formula": blocks("\n".join(formula(rubric))),
    }


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "rationale": blocks(rule.rationale),
        "params": [(name, value_text(value)) for name, value in rule.params.items()],
        "good": [illustration.illustrate(thing) for thing in rule.good[: illustration.MAX_EXAMPLES]],
        "bad": [illustration.illustrate(thing) for thing in rule.bad[: illustration.MAX_EXAMPLES]],
        "cited": list(citations(rule)),
        "places": _places(rule),
    }


def _places(rule: Rule) -> dict[str, list[str]]:
    """By methodology the components that a rule decides about."""
    found: dict[str, list[str]] = {}
    for rubric in catalogue.rubrics():
        for dimension in rubric.dimensions:
            for component in dimension.components:
                if any(criterion.rule == rule.id for criterion in component.criteria):
                    found.setdefault(rubric.name, []).append(f"{dimension.title}: {component.title}")
    return found


def _rules_of(name: str) -> Sequence[Rule]:
    """The rule of an id; else those that methodologies publish under it, in upper or lower case."""
    known = {rule.id: rule for rule in catalogue.rules()}
    if name in known:
        return [known[name]]
    cited = {
        criterion.rule
        for rubric in catalogue.rubrics()
        for criterion in rubric.criteria
        if criterion.cites.casefold() == name.casefold()
    }
    return [known[rule] for rule in sorted(cited)]


def _families() -> list[tuple[str, str, list[Rule]]]:
    found: dict[str, list[Rule]] = {}
    for rule in sorted(catalogue.rules(), key=lambda rule: (rule.family, rule.id)):
        found.setdefault(rule.family, []).append(rule)
    return [(family, about_family(family), members) for family, members in found.items()]


def _share_of(weight: Decimal, weights: Sequence[Decimal]) -> Decimal:
    """A weight as a share of all."""
    return weight / sum(weights, Decimal(0))
