"""Sources and aliases of packages in the npm ecosystem, which five lockfiles write alike."""

from __future__ import annotations

import re

from evidence.lockfiles.lockfile import Ecosystem, Source, UnknownVersion
from evidence.lockfiles.versions import parse_concrete_version

_GIT = re.compile(
    r"(?:git(?:\+[a-z]+)?|ssh):|git@|(?:github|gitlab|bitbucket|gist):|https?://[^\s#]*\.git(?:#|$)"
    r"|https://codeload\.github\.com/|https?://[^\s#]+#(?:commit[=:])?[0-9a-f]{40}$"
)
_YARN_COMMIT = re.compile(r"#commit[=:]")
_PATH = re.compile(r"(?:file|link|portal|directory):|\.{1,2}(?:/|$)|/")
_REGISTRY = re.compile(r"https?://[^\s#]+/(?:-/|download/)")
_SHA1_MARK = re.compile(r"#[0-9a-f]{40}$")


def locate_package(resolved: str, version: str = "") -> tuple[Source, str | None]:
    """The source and, unless it is a registry, the location; from a resolved URL, else from the version text."""
    where = resolved or (version if isinstance(parse_concrete_version(Ecosystem.NPM, version), UnknownVersion) else "")
    if not where or (resolved and _REGISTRY.match(where)):
        return Source.REGISTRY, None
    if where.startswith(("workspace:", "root:")):
        return Source.WORKSPACE, where.partition(":")[2]
    if _GIT.match(where) or _YARN_COMMIT.search(where):
        return Source.GIT, where
    if _PATH.match(where):
        return Source.PATH, where.removeprefix("file:").removeprefix("link:").removeprefix("portal:")
    if where.startswith(("http://", "https://")):
        return Source.URL, _SHA1_MARK.sub("", where)
    return Source.REGISTRY, None


def read_range(declared: str) -> str:
    """The range of a declaration without the protocol and the name of an alias, such as `npm:name@^1`."""
    if not declared.startswith("npm:"):
        return declared
    text = declared.removeprefix("npm:")
    return split_alias(text)[1] if text.find("@", 1) > 0 else text


def split_alias(text: str) -> tuple[str, str]:
    """The name and the rest of `name@rest`; a name may itself begin with an @."""
    at = text.find("@", 1)
    return (text, "") if at < 0 else (text[:at], text[at + 1 :])
