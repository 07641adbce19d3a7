"""Which repository a server declares, and what is recorded when it is on no GitHub."""

from __future__ import annotations

import pytest

from crawler.collectors.repository.repository_address import (
    DeclaredRepository,
    OtherRepository,
    find_declared_repository,
)
from evidence.canonical import canonical_json
from evidence.kinds import package
from evidence.model import Dossier, Observed, Record
from tests.crawler.collectors.repository.local_github import NOW, server


def found(address: str | None, declares: object = None) -> Dossier:
    one = server(address, ref="npm:x")
    records = {}
    if declares is not None:
        body = canonical_json({"ecosystem": "npm", "name": "x", "exists": True, "repository": declares})  # type: ignore[dict-item]
        records[package.KIND] = Record(
            server=one.id, kind=package.KIND, schema=1, collector="package", collector_version=1, observed_at=NOW,
            content=Observed(body),
        )  # fmt: skip
    return Dossier(server=one, as_of=NOW, records=records)


@pytest.mark.parametrize(
    ("address", "name", "folder"),
    [
        ("https://github.com/octo/one", "octo/one", None),
        ("https://github.com/octo/one.git", "octo/one", None),
        ("git+https://github.com/octo/one.git", "octo/one", None),
        ("git@github.com:octo/one.git", "octo/one", None),
        ("ssh://git@github.com/octo/one", "octo/one", None),
        ("git://github.com/octo/one.git", "octo/one", None),
        ("http://www.github.com/octo/one/", "octo/one", None),
        ("https://user:secret@github.com/octo/one", "octo/one", None),
        ("github:octo/one", "octo/one", None),
        ("https://github.com/octo/one/tree/main/packages/a", "octo/one", "packages/a"),
        ("https://github.com/octo/one/blob/main/README.md", "octo/one", "README.md"),
        ("https://github.com/octo/one#packages/b", "octo/one", "packages/b"),
        ("https://github.com/octo/one/issues", "octo/one", None),
        ("https://raw.githubusercontent.com/octo/one/main/x", "octo/one", None),
        ("https://api.github.com/repos/octo/one", "octo/one", None),
        ("https://github.com/octo/.github", "octo/.github", None),
    ],
)
def test_spellings_of_one_repository(address: str, name: str, folder: str | None) -> None:
    assert find_declared_repository(found(address)) == DeclaredRepository(name, folder)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("https://gitlab.com/group/sub/project", "the repository is on GitLab (gitlab.com)"),
        ("https://codeberg.org/a/b", "the repository is on Codeberg (codeberg.org)"),
        ("https://bitbucket.org/a/b", "the repository is on Bitbucket (bitbucket.org)"),
        ("https://gist.github.com/octo/123", "the repository is on a gist (gist.github.com)"),
        ("https://git.example/a/b", "the repository is on git.example"),
        ("https://github.com.evil.example/a/b", "the repository is on github.com.evil.example"),
        ("https://evil.example/github.com/a/b", "the repository is on evil.example"),
        ("https://octo.github.io/one/x", "no repository"),
        ("https://github.com/octo", "no repository"),
        ("https://github.com/orgs/octo", "no repository"),
        ("https://github.com/octo/..", "no repository"),
        ("https://github.com/octo/%2e%2e", "no repository"),
        ("javascript:alert(1)", "no repository"),
        ("not an address", "no repository"),
        (None, "no repository is declared"),
    ],
)
def test_what_is_no_repository_on_github_is_named(address: str | None, said: str) -> None:
    place = find_declared_repository(found(address))
    assert isinstance(place, OtherRepository)
    assert place.found.startswith(said)


@pytest.mark.parametrize(
    ("registered", "packaged", "expected"),
    [
        (
            None,
            {"url": "git+https://github.com/octo/two.git", "directory": "packages/a"},
            DeclaredRepository("octo/two", "packages/a"),
        ),
        (None, {"url": "octo/two", "directory": None}, DeclaredRepository("octo/two")),
        (None, {"url": "git+https://github.com/octo/two.git#v1"}, DeclaredRepository("octo/two")),
        ("https://github.com/octo/one", {"url": "https://github.com/octo/two"}, DeclaredRepository("octo/one")),
        ("https://github.com/octo", {"url": "https://github.com/octo/two"}, DeclaredRepository("octo/two")),
        (
            "https://gitlab.com/a/b",
            {"url": "https://github.com/octo/two"},
            OtherRepository("the repository is on GitLab (gitlab.com)"),
        ),
        (None, {"url": "https://github.com/octo/two", "directory": "../../etc"}, DeclaredRepository("octo/two")),
        (None, {"url": "nonsense"}, OtherRepository("no repository: what is declared is not the address of one")),
        (None, 7, OtherRepository("no repository is declared")),
    ],
)
def test_the_registration_counts_before_the_package(
    registered: str | None, packaged: object, expected: DeclaredRepository | OtherRepository
) -> None:
    assert find_declared_repository(found(registered, packaged)) == expected


def test_an_enterprise_server_has_repositories_of_its_own() -> None:
    assert find_declared_repository(found("https://git.example/octo/one"), "git.example") == DeclaredRepository(
        "octo/one"
    )
    assert isinstance(find_declared_repository(found("https://github.com/octo/one"), "git.example"), OtherRepository)
