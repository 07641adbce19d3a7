"""Rule `package-runs-install-scripts`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.project import build_published_package
from scoring.results.outcome import Severity, Undecided
from scoring.scopes.project import Published
from scoring.text.evidence_path import clip_text


@rule(
    "package-runs-install-scripts",
    scope=Published,
    reads="package",
    severity=Severity.WARNING,
    title="Installing the package runs its code",
    remedy="Remove `preinstall`, `install`, `postinstall` and `binding.gyp` from an npm package, and do their "
    "work at the first start of the server. Publish a wheel of a Python package.",
    since="2026.3",
    version=1,
    fix=write_snippet(
        Language.JSON,
        "`package.json`",
        before="""
        {
          "name": "notes-mcp",
          "version": "1.0.0",
          "scripts": {"build": "tsc", "postinstall": "node download.js"}
        }
        """,
        after="""
        {
          "name": "notes-mcp",
          "version": "1.0.0",
          "scripts": {"build": "tsc"}
        }
        """,
    ),
    good=[build_published_package(), build_published_package(ecosystem="PyPI", install_scripts=[])],
    bad=[
        build_published_package(install_scripts=["postinstall"]),
        build_published_package(ecosystem="PyPI", install_scripts=["build"]),
    ],
    unjudged=[build_published_package(install_scripts=None)],
)
def package_runs_install_scripts(published: Published) -> Iterator[str]:
    """An installation script runs with the rights of the user before the package has been reviewed.

    Most malicious packages use one, and careful clients refuse it. Move the work into the first start of the server;
    for Python publish a wheel.
    """
    scripts = published.package.install_scripts
    if scripts is None:
        raise Undecided("the index does not list installation scripts")
    if scripts:
        yield f"the installation runs {clip_text(', '.join(scripts))}"
