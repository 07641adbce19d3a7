"""The methodology of a snapshot as one document: every rubric with its weights, criteria and bands, and every rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from evidence.canonical import canonical_json, sha256
from publish.disclosure import PRIVATE_KINDS, private_rule_ids
from scoring.engine import catalogue
from scoring.engine.rubric import Check, Component, Criterion, Dimension, Rubric
from scoring.engine.rule import Rule

_RUBRIC: Final = "rubric."
RULESET: Final = ("engine", "ruleset")
"""The pins of the rules and of the engine. Each rubric has its own pin."""


def is_current_code(pins: Mapping[str, str]) -> bool:
    """Whether a run with these pins used the engine and the rules of this code."""
    here = catalogue.pinned_versions()
    return all(pins.get(name) == here[name] for name in RULESET)


def describe_methodology(pins: Mapping[str, str]) -> dict[str, Any]:
    """The methodology of a run with these pins; rubrics that this code does not have are only named."""
    known = {rubric.name: rubric for rubric in catalogue.list_rubrics()}
    pinned = sorted(name.removeprefix(_RUBRIC) for name in pins if name.startswith(_RUBRIC))
    ours = is_current_code(pins)
    return {
        "engine": pins.get("engine", "unknown"),
        "ruleset": pins.get("ruleset", "unknown"),
        "rubrics": [
            _rubric(known[name]) if ours and name in known else {"name": name, "known": False} for name in pinned
        ],
        "rules": [_rule(rule) for rule in catalogue.list_rules()] if ours else [],
        "not_public": {"rules": sorted(private_rule_ids()), "kinds": sorted(PRIVATE_KINDS)},
    }


def methodology_version(document: Mapping[str, Any]) -> str:
    """The version of a methodology: sixteen hexadecimal digits of the SHA-256 of its canonical form."""
    return sha256(canonical_json(document))[:16]


def _rubric(rubric: Rubric) -> dict[str, Any]:
    return {
        "name": rubric.name,
        "known": True,
        "id": rubric.id,
        "version": rubric.version,
        "source_version": rubric.source_version,
        "title": rubric.title,
        "summary": rubric.summary,
        "source": rubric.source,
        "default": rubric.default,
        "dated": rubric.dated,
        "bands": [{"from": str(bound), "grade": grade} for bound, grade in rubric.bands],
        "dimensions": [_dimension(part) for part in rubric.dimensions],
        "criteria": [_criterion(part) for part in rubric.criteria],
        "settled": list(rubric.settled),
    }


def _dimension(part: Dimension) -> dict[str, Any]:
    components = [_component(component) for component in part.components]
    return {"name": part.name, "title": part.title, "weight": str(part.weight), "components": components}


def _component(part: Component) -> dict[str, Any]:
    checks = [_check(check) for check in part.checks]
    return {"name": part.name, "title": part.title, "weight": str(part.weight), "checks": checks}


def _check(check: Check) -> dict[str, Any]:
    return {
        "weight": str(check.weight),
        "beside": check.supplementary,
        "criteria": [_criterion(part) for part in check.criteria],
        "otherwise": _check(check.otherwise) if check.otherwise else None,
    }


def _criterion(part: Criterion) -> dict[str, Any]:
    return {
        "cites": part.cites,
        "rule": part.rule,
        "severity": part.severity.value,
        "points": str(part.points),
        "params": dict(part.params),
        "pages": part.pages.value,
    }


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "version": rule.version,
        "title": rule.title,
        "rationale": rule.rationale,
        "family": rule.family,
        "reads": rule.reads,
        "severity": rule.severity.value,
        "level": rule.level.value if rule.level else None,
        "spec": rule.spec,
        "since": rule.since,
    }
