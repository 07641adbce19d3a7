"""Rule `package-provenance-invalid`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from scoring.engine.rule import rule
from scoring.example_builders.project import build_published_package
from scoring.results.outcome import Inapplicable, Severity, Undecided
from scoring.scopes.project import Published

_ATTESTED: Final[dict[str, Any]] = {"attested": True, "repository": None, "predicates": []}


@rule(
    "package-provenance-invalid",
    scope=Published,
    reads="package",
    severity=Severity.ERROR,
    title="The provenance attestation contradicts the file of the package",
    remedy="Publish a new version from CI with an attestation, and tell the operator of the index that the "
    "file or its attestation was changed.",
    since="2026.1",
    version=1,
    good=[build_published_package(provenance={**_ATTESTED, "verification": "verified"})],
    bad=[build_published_package(provenance={**_ATTESTED, "verification": "failed"})],
    unjudged=[
        build_published_package(provenance=None),
        build_published_package(provenance={**_ATTESTED, "attested": False}),
        build_published_package(provenance={**_ATTESTED, "verification": None}),
    ],
)
def package_provenance_invalid(published: Published) -> Iterator[str]:
    """A statement about another file, or with another signature, shows that the index does not hold what was built.

    Verified with sigstore and the roots of trust that it ships. A newer log, an old form of attestation or a missing
    answer is no failure, and no credit. It moves no score.
    """
    provenance = published.package.provenance
    if provenance is None or not provenance.attested:
        raise Inapplicable("there is no attestation")
    if not provenance.verification:
        raise Undecided("the attestation was not verified")
    if provenance.verification != "verified":
        yield "the attestation is not about the file of the index, or its signature is wrong"
