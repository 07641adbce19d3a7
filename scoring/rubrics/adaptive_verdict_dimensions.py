"""The six dimensions of `adaptive@2`: weights of components are points of 100, and gates weigh nothing.

The weights of the dimensions are those of the publication. Components that hardly any server fails weigh at most 5
points; poisoning and secrets are gates (`adaptive_gates`), since finding nothing is no merit.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from msgspec.structs import replace

from scoring.engine.rubric import Component, Dimension
from scoring.rubrics.adaptive_dimensions import (
    COMPATIBILITY,
    DOCUMENTATION,
    ERROR_HANDLING,
    MAINTENANCE,
    RELIABILITY,
    SECURITY,
    SETUP,
    STABILITY,
    alternative,
    build_check,
    build_component,
    source_alternative,
)
from scoring.rubrics.protocol_checks import build_protocol_checks

GATE_WEIGHT: Final = 0

UNDESCRIBED: Final = "tool-description-missing"
UNTYPED: Final = "param-type-missing"
"""Fail every check of a text, or of a limit, that cannot be judged without them: deleting must not pass it."""


def _published(dimension: Dimension, name: str, weight: int, *, pooled: bool = False, half: int = 0) -> Component:
    """A component with the checks of `adaptive@1`."""
    (found,) = (component for component in dimension.components if component.name == name)
    return replace(found, weight=Decimal(weight), pooled=pooled, half=half)


def _with_reported(component: Component, *rules: str) -> Component:
    """The component with rules that are reported and move no score."""
    reported = (build_check(rule, weight=0, supplementary=True) for rule in rules)
    return replace(component, checks=(*component.checks, *reported))


DIMENSIONS: Final = (
    replace(
        RELIABILITY,
        components=(
            replace(_published(RELIABILITY, "conformance", 10, pooled=True), checks=tuple(build_protocol_checks())),
            replace(
                build_component(
                    ERROR_HANDLING,
                    "Error handling",
                    build_check("trial-call-failed", "trial-result-breaks-schema", weight=2),
                    build_check("trial-output-breaks-schema", weight=2),
                    build_check("trial-invalid-type-accepted"),
                    build_check("trial-missing-required-accepted"),
                    replace(build_check("trial-error-unexplained"), rejudges=True),
                    build_check("trial-error-shows-internals", weight=0, supplementary=True),
                    build_check("error-shows-internals", weight=0, supplementary=True),
                    weight=5,
                ),
                half=2,
            ),
            _published(RELIABILITY, STABILITY, 5, half=3),
            _with_reported(_published(RELIABILITY, "schema_validity", 5), "param-default-invalid"),
        ),
    ),
    replace(
        SECURITY,
        components=(
            _published(SECURITY, "poisoning", GATE_WEIGHT),
            _published(SECURITY, "secrets", GATE_WEIGHT),
            _with_reported(
                _published(SECURITY, "dependencies", 6),
                "workflow-runs-untrusted-code",
                "workflow-action-unpinned",
                "workflow-token-rights-broad",
                "default-branch-unprotected",
                "package-provenance-invalid",
                "package-imitates-known-name",
                "publisher-imitates-known-account",
            ),
            _published(SECURITY, "authentication", 5),
            build_component(
                "bounded_inputs",
                "Bounded inputs",
                build_check("param-string-unbounded", UNTYPED, weight=2),
                build_check("param-array-unbounded", "param-number-unbounded", UNTYPED),
                build_check("param-path-unchecked", "param-address-unchecked", UNTYPED),
                build_check("param-choice-open", "param-object-open", UNTYPED),
                weight=7,
            ),
            build_component(
                "declared_effects",
                "Declared effects",
                build_check("tool-hint-missing"),
                build_check("tool-runs-code"),
                build_check("tool-destruction-unannotated", "tool-destructive-hint-missing"),
                build_check("tool-hints-contradictory", weight=0, supplementary=True),
                weight=7,
            ),
        ),
    ),
    replace(
        SETUP,
        components=(
            build_component(
                "readme",
                "README",
                alternative(build_check("readme-missing", "readme-short"), build_check("project-readme-missing")),
                build_check("readme-without-example"),
                build_check("readme-without-tools"),
                weight=8,
            ),
            _published(SETUP, "guides", 2),
            _published(SETUP, "configuration", 2),
            _published(SETUP, "transport_dx", 3),
        ),
    ),
    replace(
        DOCUMENTATION,
        components=(
            build_component(
                "descriptions",
                "Descriptions",
                source_alternative(
                    "tool-description-missing", "tool-description-short", "tool-description-repeats-name", weight=3
                ),
                build_check("tool-description-long", UNDESCRIBED),
                build_check("prompt-description-missing"),
                build_check("resource-name-missing", "resource-description-missing"),
                weight=4,
            ),
            build_component(
                "guidance",
                "When and how to use a tool",
                build_check("tool-description-without-when", UNDESCRIBED),
                build_check("tool-description-without-example", UNDESCRIBED),
                weight=5,
            ),
            build_component(
                "schemas",
                "Documented schemas",
                source_alternative("param-description-missing", weight=3),
                build_check("prompt-argument-description-missing"),
                weight=6,
            ),
        ),
    ),
    replace(
        COMPATIBILITY,
        components=(
            _published(COMPATIBILITY, "transport_support", 2),
            _published(COMPATIBILITY, "schema_completeness", 2),
            _published(COMPATIBILITY, "integration_depth", 6),
        ),
    ),
    replace(
        MAINTENANCE,
        components=(
            _published(MAINTENANCE, "activity", 3),
            _published(MAINTENANCE, "releases", 2),
            _published(MAINTENANCE, "responsiveness", 2, half=3),
            _published(MAINTENANCE, "community", 3),
        ),
    ),
)
