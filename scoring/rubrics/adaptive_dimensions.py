"""The six dimensions of the adaptive score with their components, checks and weights."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from msgspec.structs import replace

from scoring.engine.rubric import Check, Component, Criterion, Dimension
from scoring.engine.rule import ParamValue, discover_rules
from scoring.engine.walk import Pages
from scoring.rubrics.protocol_checks import LATER, build_access_checks, build_protocol_checks

STABILITY: Final = "stability"
ERROR_HANDLING: Final = "error_handling"


def build_check(*rules: str, weight: int = 1, supplementary: bool = False, **params: ParamValue) -> Check:
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


def source_alternative(*rules: str, weight: int = 1, minimum: int = 20) -> Check:
    """A check that falls back to the source when the evidence that it reads is absent."""
    check = build_check(*rules, weight=weight, minimum=minimum)
    return alternative(check, Check(criteria=tuple(replace(part, pages=Pages.SOURCE) for part in check.criteria)))


def alternative(check: Check, otherwise: Check) -> Check:
    return replace(check, otherwise=replace(otherwise, weight=check.weight))


def build_component(name: str, title: str, *checks: Check, weight: int = 1) -> Component:
    return Component(name=name, title=title, checks=checks, weight=Decimal(weight))


RELIABILITY: Final = Dimension(
    name="reliability",
    title="Reliability",
    weight=Decimal(25),
    components=(
        build_component("conformance", "Protocol conformance", *build_protocol_checks(without=LATER)),
        build_component(STABILITY, "Connection stability", build_check("connection-unstable")),
        build_component(
            "schema_validity",
            "Schema validity",
            build_check(
                "tool-schema-invalid",
                "tool-input-schema-missing",
                "tool-input-schema-not-object",
                "tool-required-undeclared",
            ),
        ),
        build_component(
            ERROR_HANDLING,
            "Error handling",
            build_check("trial-call-failed", weight=2),
            build_check("trial-output-breaks-schema", weight=2),
            build_check("trial-invalid-type-accepted"),
            build_check("trial-missing-required-accepted"),
            build_check("trial-error-unexplained"),
        ),
    ),
)

SECURITY: Final = Dimension(
    name="security",
    title="Security",
    weight=Decimal(25),
    components=(
        build_component(
            "poisoning",
            "Poisoning detection",
            build_check(
                "text-injects-instructions",
                "text-commands-other-tools",
                "text-exfiltrates",
                "text-hides-characters",
                "text-reveals-secret",
                weight=27,
            ),
            build_check("text-carries-encoded-payload", "text-claims-preference"),
            build_check("tool-documents-undeclared-parameter"),
            build_check("tool-destruction-unannotated"),
            build_check("definitions-changed-since-approval", weight=0, supplementary=True),
            build_check("text-raises-suspicion", weight=0, supplementary=True),
            build_check("error-instructs-model", weight=0, supplementary=True),
            build_check("result-instructs-model", weight=0, supplementary=True),
            build_check("resource-instructs-model", weight=0, supplementary=True),
            weight=4,
        ),
        build_component(
            "dependencies",
            "Dependency audit",
            build_check("dependency-vulnerable", weight=9),
            build_check("lockfile-missing", supplementary=True),
            weight=2,
        ),
        build_component("secrets", "Secret scanning", build_check("source-holds-secret"), weight=2),
        build_component(
            "authentication",
            "Authentication appropriateness",
            build_check("remote-not-encrypted", "remote-secret-in-url", weight=4),
            build_check("setting-secret-unmarked", weight=4),
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
        build_component(
            "readme",
            "README",
            alternative(build_check("readme-missing", "readme-short", weight=3), build_check("project-readme-missing")),
            build_check("readme-without-example"),
        ),
        build_component(
            "guides",
            "Setup guides",
            build_check("readme-without-installation"),
            build_check("readme-without-client-configuration"),
            build_check("variable-unexplained"),
        ),
        build_component("configuration", "Explained configuration", build_check("setting-description-missing")),
        build_component(
            "transport_dx",
            "Transport developer experience",
            build_check("registration-not-installable"),
            build_check("package-transport-undeclared", "package-version-floating"),
            build_check("remote-variable-undeclared"),
            build_check("package-not-published", "package-version-not-published", "package-version-yanked"),
            build_check("package-deprecated", "package-version-outdated", "package-not-linked-back"),
            build_check("package-runs-install-scripts"),
        ),
    ),
)

DOCUMENTATION: Final = Dimension(
    name="documentation",
    title="Documentation",
    weight=Decimal(15),
    components=(
        build_component(
            "descriptions",
            "Descriptions",
            source_alternative(
                "tool-description-missing", "tool-description-short", "tool-description-repeats-name", minimum=20
            ),
            build_check("prompt-description-missing"),
            build_check("resource-name-missing", "resource-description-missing"),
            build_check("readme-without-tools"),
        ),
        build_component(
            "schemas",
            "Documented schemas",
            source_alternative("param-description-missing"),
            build_check("prompt-argument-description-missing"),
            source_alternative("param-type-missing"),
        ),
        build_component(
            "metadata",
            "Categories and metadata",
            build_check("registration-description-missing"),
            build_check("registration-title-missing"),
            build_check("registration-version-missing"),
            build_check("registration-repository-missing", "registration-repository-not-found"),
            build_check("registration-website-missing"),
        ),
    ),
)

COMPATIBILITY: Final = Dimension(
    name="compatibility",
    title="Compatibility",
    weight=Decimal(10),
    components=(
        build_component(
            "transport_support",
            "Transport support",
            build_check("registration-transport-unsupported"),
            build_check("remote-transport-deprecated"),
            build_check("server-protocol-version-old"),
            build_check("server-modern-era-unanswered"),
        ),
        build_component(
            "schema_completeness",
            "Schema completeness",
            build_check(
                "tool-input-schema-missing",
                "tool-input-schema-not-object",
                "tool-properties-missing",
                "tool-schema-dialect-unknown",
            ),
            build_check("param-type-missing", "param-items-missing"),
        ),
        build_component(
            "integration_depth",
            "Tool integration depth",
            build_check("tool-annotations-missing"),
            build_check("tool-title-missing"),
            build_check("tool-output-schema-missing"),
            build_check("server-instructions-missing"),
            build_check("server-offers-tools-only"),
        ),
    ),
)

MAINTENANCE: Final = Dimension(
    name="maintenance",
    title="Maintenance",
    weight=Decimal(10),
    components=(
        build_component("activity", "Recent activity", build_check("commits-ceased", "repository-archived")),
        build_component(
            "releases",
            "Release cadence",
            alternative(build_check("release-long-ago", weight=3), build_check("package-release-long-ago")),
            build_check("package-without-provenance", supplementary=True),
        ),
        build_component(
            "responsiveness", "Issue responsiveness", build_check("issues-unanswered"), build_check("pulls-unanswered")
        ),
        build_component(
            "community",
            "Contributors and project files",
            build_check("project-rests-on-one-person", weight=2),
            source_alternative("project-licence-missing", weight=2),
            source_alternative("project-security-policy-missing"),
            source_alternative("project-contributing-missing"),
            source_alternative("project-ci-missing"),
            source_alternative("project-changelog-missing"),
            build_check("repository-moved"),
        ),
    ),
)

DIMENSIONS: Final = (RELIABILITY, SECURITY, SETUP, DOCUMENTATION, COMPATIBILITY, MAINTENANCE)
