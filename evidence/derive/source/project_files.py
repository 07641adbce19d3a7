"""Classifies the files of a project by path: documents, manifests, tests, code that counts, and others."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from evidence.derive.secrets.path_discounts import find_path_discount
from evidence.kinds.secrets import Discount

MAX_PATHS: Final = 50

_MANIFESTS: Final = frozenset(
    {
        "package.json", "pyproject.toml", "setup.py", "setup.cfg", "deno.json", "deno.jsonc", "jsr.json", "go.mod",
        "cargo.toml", "pom.xml", "build.gradle", "build.gradle.kts", "gemfile", "composer.json", "manifest.json",
        "smithery.yaml", "server.json", "metadata",
    }
)  # fmt: skip
_DOCUMENT: Final = (".md", ".mdx", ".markdown", ".rst", ".adoc")
_GUIDE: Final = re.compile(
    r"(?:install\w*|set-?_?up|getting[-_]?started|quick-?_?start|config\w*|usage|deploy\w*|auth\w*|docker|self[-_]?host\w*|guide)"
    r"(?:[-_.].*)?", re.IGNORECASE,
)  # fmt: skip
_CI: Final = re.compile(
    r"\.github/workflows/[^/]+\.ya?ml|\.gitlab-ci\.yml|\.circleci/config\.yml|azure-pipelines\.yml|\.travis\.yml"
    r"|Jenkinsfile|\.buildkite/[^/]+\.ya?ml|\.woodpecker(?:/[^/]+)?\.ya?ml|\.forgejo/workflows/[^/]+\.ya?ml"
    r"|bitbucket-pipelines\.yml",
)  # fmt: skip
_CHANGELOG: Final = re.compile(
    r"(?:change[-_]?log|changes|history|news|releases?(?:[-_]notes)?)(?:\.\w{1,8})?", re.IGNORECASE
)
_LICENCE: Final = re.compile(r"(?:licen[cs]e|copying|unlicense)(?:[-_.][\w.-]{1,20})?", re.IGNORECASE)
_SECURITY: Final = re.compile(r"security(?:[-_]policy)?\.(?:md|rst|txt)|security", re.IGNORECASE)
_CONTRIBUTING: Final = re.compile(r"contributing(?:\.\w{1,8})?", re.IGNORECASE)
_OF_ROOT: Final = (_LICENCE, _SECURITY, _CONTRIBUTING, _CHANGELOG)
_DOCKERFILE: Final = re.compile(r"(?:.+\.)?dockerfile|(?:docker|container)file(?:\.[\w-]+)?", re.IGNORECASE)
_TEST_FILE: Final = re.compile(
    r"test_.+\.py|.+_test\.(?:py|go|rb)|.+\.(?:test|spec)\.[cm]?[jt]sx?|.+(?:Test|Tests)\.(?:java|kt|cs)|tests?\.[cm]?[jt]s|tests\.py"
)
_BUILT: Final = re.compile(r"(?:^|/)(?:dist|build|out|lib|\.output|es|cjs|esm)/")


def is_server_code(path: str) -> bool:
    """Whether code at this path belongs to the server: not a test, an example, a document or a vendored file."""
    return find_path_discount(path) is None


def may_run(path: str) -> bool:
    """Whether a file may run with the server: no test, example, document or declaration of types."""
    discount = find_path_discount(path)
    return discount in {None, Discount.VENDORED} and not path.endswith((".d.ts", ".d.mts", ".d.cts"))


def is_test(path: str) -> bool:
    return _TEST_FILE.fullmatch(_name(path)) is not None


def is_example(path: str) -> bool:
    return find_path_discount(path) is Discount.EXAMPLE


def is_manifest(path: str) -> bool:
    """Whether a file declares the project; vendored files and tests do not."""
    return _name(path).lower() in _MANIFESTS and find_path_discount(path) not in {Discount.VENDORED, Discount.TEST}


def is_guide(path: str) -> bool:
    """Whether a file is a further document about the setup of the server."""
    return path.lower().endswith(_DOCUMENT) and _GUIDE.fullmatch(_name(path)) is not None and path.count("/") <= 3


def is_ci(path: str) -> bool:
    """Whether a file, relative to a root, configures CI."""
    return _CI.fullmatch(path) is not None


def is_root_document(path: str) -> bool:
    """Whether a file of the root applies to each server of the repository."""
    return is_ci(path) or any(pattern.fullmatch(_name(path)) for pattern in _OF_ROOT)


def find_changelog(paths: Iterable[str]) -> str | None:
    return _first(paths, _CHANGELOG, folders=("", "docs/"))


def find_licence(paths: Iterable[str]) -> str | None:
    return _first(paths, _LICENCE, folders=("", "docs/", "licenses/", "LICENSES/"))


def find_security_policy(paths: Iterable[str]) -> str | None:
    """The security policy, in the folders that GitHub searches."""
    return _first(paths, _SECURITY, folders=("", ".github/", "docs/"))


def find_contributing_guide(paths: Iterable[str]) -> str | None:
    """The guide for contributors, in the folders that GitHub searches."""
    return _first(paths, _CONTRIBUTING, folders=("", ".github/", "docs/"))


def find_dockerfile(paths: Iterable[str]) -> str | None:
    """The first file that builds an image, by depth and then by name."""
    found = [path for path in paths if _DOCKERFILE.fullmatch(_name(path)) and path.count("/") <= 2]
    return min(found, key=lambda path: (path.count("/"), path), default=None)


def source_precedence(path: str) -> tuple[bool, bool, str]:
    """Sort key: sources before build results."""
    return _BUILT.search(path) is not None, path.endswith((".js", ".mjs", ".cjs")), path


def _first(paths: Iterable[str], pattern: re.Pattern[str], *, folders: tuple[str, ...]) -> str | None:
    known = {folder: at for at, folder in enumerate(folders)}
    found = [path for path in paths if pattern.fullmatch(_name(path)) and path[: -len(_name(path))] in known]
    return min(found, key=lambda path: (known[path[: -len(_name(path))]], path), default=None)


def _name(path: str) -> str:
    return path.rpartition("/")[2]
