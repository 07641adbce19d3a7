"""Rule `package-without-provenance`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.project import build_published_package
from scoring.results.outcome import Severity, Undecided
from scoring.scopes.project import Published


@rule(
    "package-without-provenance",
    scope=Published,
    reads="package",
    severity=Severity.SUGGESTION,
    title="The package has no valid provenance attestation",
    remedy="Publish the next version from CI with an attestation: use `npm publish --provenance` or trusted "
    "publishing for npm, and trusted publishing for PyPI. Register this version.",
    since="2026.3",
    version=2,
    fix=write_snippet(
        Language.YAML,
        "Jobs of a workflow in `.github/workflows`",
        before="""
        jobs:
          publish:
            runs-on: ubuntu-latest
            permissions: {contents: read}
            steps:
              - uses: actions/checkout@v4
              - uses: actions/setup-node@v4
              - run: npm ci
              - run: npm publish
        """,
        after="""
        jobs:
          publish:
            runs-on: ubuntu-latest
            permissions: {contents: read, id-token: write}
            steps:
              - uses: actions/checkout@v4
              - uses: actions/setup-node@v4
              - run: npm ci
              - run: npm publish --provenance
        """,
    ),
    good=[build_published_package()],
    bad=[
        build_published_package(provenance={"attested": False, "repository": None, "predicates": []}),
        build_published_package(
            provenance={"attested": True, "repository": None, "predicates": [], "verification": "failed"}
        ),
    ],
    unjudged=[build_published_package(provenance=None)],
)
def package_without_provenance(published: Published) -> Iterator[str]:
    """A provenance attestation ties a version to its commit and build.

    A stolen token cannot publish other code unnoticed then. Publish from the automation of the host: npm with
    `--provenance` or trusted publishing, PyPI with trusted publishing.
    """
    provenance = published.package.provenance
    if provenance is None:
        raise Undecided("the index does not say whether there is an attestation")
    if not provenance.attested:
        yield "no attestation is published with this version"
    elif provenance.verification == "failed":
        yield "the attestation of this version does not verify"
