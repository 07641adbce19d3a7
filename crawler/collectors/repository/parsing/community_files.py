"""Facts from file names in a repository: README, changelog, continuous integration, community files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from evidence.compiled_on_use import compile_on_use

_README: Final = compile_on_use(r"readme(?:\.[a-z]{2})?(?:\.[a-z]+)?", re.IGNORECASE)
_CHANGELOG: Final = compile_on_use(
    r"(?:change[-_]?log|changes|history|news|release[-_]?notes|releases)(?:\.[a-z]+)?", re.IGNORECASE
)
_WORKFLOW: Final = compile_on_use(r"\.github/workflows/[^/]+\.ya?ml", re.IGNORECASE)
_OTHER_CI: Final = frozenset({
    ".appveyor.yml", ".buildkite/pipeline.yml", ".circleci", ".circleci/config.yml", ".cirrus.yml", ".drone.yml",
    ".gitlab-ci.yml", ".travis.yml", ".woodpecker.yml", ".woodpecker", "appveyor.yml", "azure-pipelines.yml",
    "bitbucket-pipelines.yml", "buildspec.yml", "cloudbuild.yaml", "jenkinsfile",
})  # fmt: skip
_PLACES: Final = r"(?:\.github/|docs/)?"
_SECURITY: Final = compile_on_use(_PLACES + r"security(?:\.[a-z]+)?", re.IGNORECASE)
_CONTRIBUTING: Final = compile_on_use(_PLACES + r"contributing(?:\.[a-z]+)?", re.IGNORECASE)
_CONDUCT: Final = compile_on_use(_PLACES + r"code[-_]of[-_]conduct(?:\.[a-z]+)?", re.IGNORECASE)
_ISSUES: Final = compile_on_use(_PLACES + r"issue_template(?:\.[a-z]+|/[^/]+\.(?:md|ya?ml))?", re.IGNORECASE)
_PULLS: Final = compile_on_use(_PLACES + r"pull_request_template(?:\.[a-z]+|/[^/]+\.md)?", re.IGNORECASE)


class RepositoryFiles:
    """Paths of a repository relative to its root; folders count by their own path, without a slash at the end.

    A README, a security policy, contributing guidelines and a code of conduct count where GitHub looks for them.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = [path for path in paths if len(path) < 300]

    @property
    def readme(self) -> bool:
        return any(_README.fullmatch(_below(path)) for path in self._paths)

    @property
    def changelog(self) -> bool:
        return self._any(_CHANGELOG)

    @property
    def ci(self) -> bool:
        """True when a service is configured that builds or tests it on a push."""
        return self._any(_WORKFLOW) or any(path.lower() in _OTHER_CI for path in self._paths)

    @property
    def security(self) -> bool:
        return self._any(_SECURITY)

    @property
    def contributing(self) -> bool:
        return self._any(_CONTRIBUTING)

    @property
    def code_of_conduct(self) -> bool:
        return self._any(_CONDUCT)

    @property
    def issue_template(self) -> bool:
        return self._any(_ISSUES)

    @property
    def pull_template(self) -> bool:
        return self._any(_PULLS)

    def _any(self, pattern: re.Pattern[str]) -> bool:
        return any(pattern.fullmatch(path) for path in self._paths)


def _below(path: str) -> str:
    """The path without the folders in which GitHub also looks for a README."""
    for folder in (".github/", "docs/"):
        if path.lower().startswith(folder):
            return path[len(folder) :]
    return path
