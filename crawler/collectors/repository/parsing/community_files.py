"""What the names of files in a repository say: read-me, changelog, continuous integration, files for the community."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_README: Final = re.compile(r"readme(?:\.[a-z]{2})?(?:\.[a-z]+)?", re.IGNORECASE)
_CHANGELOG: Final = re.compile(
    r"(?:change[-_]?log|changes|history|news|release[-_]?notes|releases)(?:\.[a-z]+)?", re.IGNORECASE
)
_WORKFLOW: Final = re.compile(r"\.github/workflows/[^/]+\.ya?ml", re.IGNORECASE)
_OTHER_CI: Final = frozenset({
    ".appveyor.yml", ".buildkite/pipeline.yml", ".circleci", ".circleci/config.yml", ".cirrus.yml", ".drone.yml",
    ".gitlab-ci.yml", ".travis.yml", ".woodpecker.yml", ".woodpecker", "appveyor.yml", "azure-pipelines.yml",
    "bitbucket-pipelines.yml", "buildspec.yml", "cloudbuild.yaml", "jenkinsfile",
})  # fmt: skip
_PLACES: Final = r"(?:\.github/|docs/)?"
_SECURITY: Final = re.compile(_PLACES + r"security(?:\.[a-z]+)?", re.IGNORECASE)
_CONTRIBUTING: Final = re.compile(_PLACES + r"contributing(?:\.[a-z]+)?", re.IGNORECASE)
_CONDUCT: Final = re.compile(_PLACES + r"code[-_]of[-_]conduct(?:\.[a-z]+)?", re.IGNORECASE)
_ISSUES: Final = re.compile(_PLACES + r"issue_template(?:\.[a-z]+|/[^/]+\.(?:md|ya?ml))?", re.IGNORECASE)
_PULLS: Final = re.compile(_PLACES + r"pull_request_template(?:\.[a-z]+|/[^/]+\.md)?", re.IGNORECASE)


class RepositoryFiles:
    """Paths of a repository, seen from its root; folders count by their own path, without a slash at the end."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = [path for path in paths if len(path) < 300]

    @property
    def readme(self) -> bool:
        """True when there is a read-me where GitHub shows one."""
        return any(_README.fullmatch(_below(path)) for path in self._paths)

    @property
    def changelog(self) -> bool:
        """True when the root holds a file or folder named as changelogs are."""
        return self._any(_CHANGELOG)

    @property
    def ci(self) -> bool:
        """True when something is set up that builds or tests it on a push."""
        return self._any(_WORKFLOW) or any(path.lower() in _OTHER_CI for path in self._paths)

    @property
    def security(self) -> bool:
        """True when a security policy lies where GitHub looks for one."""
        return self._any(_SECURITY)

    @property
    def contributing(self) -> bool:
        """True when contributing guidelines lie where GitHub looks for them."""
        return self._any(_CONTRIBUTING)

    @property
    def code_of_conduct(self) -> bool:
        """True when a code of conduct lies where GitHub looks for one."""
        return self._any(_CONDUCT)

    @property
    def issue_template(self) -> bool:
        """True when there are templates or forms for issues."""
        return self._any(_ISSUES)

    @property
    def pull_template(self) -> bool:
        """True when there is a template for pull requests."""
        return self._any(_PULLS)

    def _any(self, pattern: re.Pattern[str]) -> bool:
        return any(pattern.fullmatch(path) for path in self._paths)


def _below(path: str) -> str:
    """The path without the folders in which GitHub also looks for a read-me."""
    for folder in (".github/", "docs/"):
        if path.lower().startswith(folder):
            return path[len(folder) :]
    return path
