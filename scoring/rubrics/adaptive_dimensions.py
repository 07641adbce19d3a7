"""The six dimensions of the adaptive score with their components, checks and weights."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Final

from scoring.engine.rubric import Check, Component, Criterion, Dimension
from scoring.engine.rule import ParamValue, discover_rules
from scoring.engine.walk import Pages
from scoring.rubrics.protocol_checks import build_access_checks, build_protocol_checks

STABILITY: Final = "stability"
ERROR_HANDLING: Final = "error_handling"


def _check(*rules: str, weight: int = 1, supplementary: bool = False, **params: ParamValue) -> Check:
    """Rules about one scope that are judged together; each rule gets the parameters that it declares."""
    known = discover_rules()
    criteria = (
        Criterion(
            cites=rule,
            rule=rule,
            severity=known[rule].severity,
            params={name: value for name, value in params.items() if name in known[rule].params},
        )
        for rule in rules
    )
    return Check(criteria=tuple(criteria), weight=Decimal(weight), supplementary=supplementary)


def _or_source(*rules: str, weight: int = 1, minimum: int = 20) -> Check:
    """A check that falls back to the source when the evidence that it reads is absent."""
    check = _check(*rules, weight=weight, minimum=minimum)
    return _or(check, Check(criteria=tuple(replace(part, pages=Pages.SOURCE) for part in check.criteria)))


def _or(check: Check, otherwise: Check) -> Check:
    return replace(check, otherwise=replace(otherwise, weight=check.weight))


def _component(name: str, title: str, *checks: Check, weight: int = 1) -> Component:
    return Component(name=name, title=title, checks=checks, weight=Decimal(weight))


RELIABILITY: Final = Dimension(
    name="reliability",
    title="Reliability",
    weight=Decimal(25),
    components=(
        _component("conformance", "Protocol conformance", *build_protocol_checks()),
        _component(STABILITY, "Connection stability", _check("connection-unstable")),
        _component(
            "schema_validity",
            "Schema validity",
            _check(
                "tool-schema-invalid",
                "tool-input-schema-missing",
                "tool-input-schema-not-object",
                "tool-required-undeclared",
            ),
        ),
        _component(
            ERROR_HANDLING,
            "Error handling",
            _check("trial-call-failed", weight=2),
            _check("trial-output-breaks-schema", weight=2),
            _check("trial-invalid-type-accepted"),
            _check("trial-missing-required-accepted"),
            _check("trial-error-unexplained"),
        ),
    ),
)

SECURITY: Final = Dimension(
    name="security",
    title="Security",
    weight=Decimal(25),
    components=(
        _component(
            "poisoning",
            "Poisoning detection",
            _check(
                "text-injects-instructions",
                "text-commands-other-tools",
                "text-exfiltrates",
                "text-hides-characters",
                "text-reveals-secret",
                weight=27,
            ),
            _check("text-carries-encoded-payload", "text-claims-preference"),
            _check("tool-documents-undeclared-parameter"),
            _check("tool-destruction-unannotated"),
            _check("definitions-changed-since-approval", weight=0, supplementary=True),
            _check("text-raises-suspicion", weight=0, supplementary=True),
            _check("error-instructs-model", weight=0, supplementary=True),
            _check("result-instructs-model", weight=0, supplementary=True),
            _check("resource-instructs-model", weight=0, supplementary=True),
            weight=4,
        ),
        _component(
            "dependencies",
            "Dependency audit",
            _check("dependency-vulnerable", weight=9),
            _check("lockfile-missing", supplementary=True),
            weight=2,
        ),
        _component("secrets", "Secret scanning", _check("source-holds-secret"), weight=2),
        _component(
            "authentication",
            "Authentication appropriateness",
            _check("remote-not-encrypted", "remote-secret-in-url", weight=4),
            _check("setting-secret-unmarked", weight=4),
            *build_access_checks(),
            weight=2,
        ),
    ),
)

SETUP: Final = Dimension(
    name="setup",
    title="Setup",
    weight=Decimal(15),
    components=(
        _component(
            "readme",
            "README",
            _or(_check("readme-missing", "readme-short", weight=3), _check("project-readme-missing")),
            _check("readme-without-example"),
        ),
        _component(
            "guides",
            "Setup guides",
            _check("readme-without-installation"),
            _check("readme-without-client-configuration"),
            _check("variable-unexplained"),
        ),
        _component("configuration", "Explained configuration", _check("setting-description-missing")),
        _component(
            "transport_dx",
            "Transport developer experience",
            _check("registration-not-installable"),
            _check("package-transport-undeclared", "package-version-floating"),
            _check("remote-variable-undeclared"),
            _check("package-not-published", "package-version-not-published", "package-version-yanked"),
            _check("package-deprecated", "package-version-outdated", "package-not-linked-back"),
            _check("package-runs-install-scripts"),
        ),
    ),
)

DOCUMENTATION: Final = Dimension(
    name="documentation",
    title="Documentation",
    weight=Decimal(15),
    components=(
        _component(
            "descriptions",
            "Descriptions",
            _or_source(
                "tool-description-missing", "tool-description-short", "tool-description-repeats-name", minimum=20
            ),
            _check("prompt-description-missing"),
            _check("resource-name-missing", "resource-description-missing"),
            _check("readme-without-tools"),
        ),
        _component(
            "schemas",
            "Documented schemas",
            _or_source("param-description-missing"),
            _check("prompt-argument-description-missing"),
            _or_source("param-type-missing"),
        ),
        _component(
            "metadata",
            "Categories and metadata",
            _check("registration-description-missing"),
            _check("registration-title-missing"),
            _check("registration-version-missing"),
            _check("registration-repository-missing", "registration-repository-not-found"),
            _check("registration-website-missing"),
        ),
    ),
)

COMPATIBILITY: Final = Dimension(
    name="compatibility",
    title="Compatibility",
    weight=Decimal(10),
    components=(
        _component(
            "transport_support",
            "Transport support",
            _check("registration-transport-unsupported"),
            _check("remote-transport-deprecated"),
            _check("server-protocol-version-old"),
            _check("server-modern-era-unanswered"),
        ),
        _component(
            "schema_completeness",
            "Schema completeness",
            _check(
                "tool-input-schema-missing",
                "tool-input-schema-not-object",
                "tool-properties-missing",
                "tool-schema-dialect-unknown",
            ),
            _check("param-type-missing", "param-items-missing"),
        ),
        _component(
            "integration_depth",
            "Tool integration depth",
            _check("tool-annotations-missing"),
            _check("tool-title-missing"),
            _check("tool-output-schema-missing"),
            _check("server-instructions-missing"),
            _check("server-offers-tools-only"),
        ),
    ),
)

MAINTENANCE: Final = Dimension(
    name="maintenance",
    title="Maintenance",
    weight=Decimal(10),
    components=(
        _component("activity", "Recent activity", _check("commits-ceased", "repository-archived")),
        _component(
            "releases",
            "Release cadence",
            _or(_check("release-long-ago", weight=3), _check("package-release-long-ago")),
            _check("package-without-provenance", supplementary=True),
        ),
        _component("responsiveness", "Issue responsiveness", _check("issues-unanswered"), _check("pulls-unanswered")),
        _component(
            "community",
            "Contributors and project files",
            _check("project-rests-on-one-person", weight=2),
            _or_source("project-licence-missing", weight=2),
            _or_source("project-security-policy-missing"),
            _or_source("project-contributing-missing"),
            _or_source("project-ci-missing"),
            _or_source("project-changelog-missing"),
            _check("repository-moved"),
        ),
    ),
)

DIMENSIONS: Final = (RELIABILITY, SECURITY, SETUP, DOCUMENTATION, COMPATIBILITY, MAINTENANCE)
