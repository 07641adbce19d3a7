"""Imitated names: every kind of confusion is found, and no well-known name, fork or other product is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from evidence.kinds.package import NPM, PYPI
from scoring.analysis.name_imitation import find_imitated_account, find_imitated_package, is_known_namespace
from scoring.vocabularies import well_known_packages

KNOWN = [(NPM, name) for name in sorted(well_known_packages.NPM)] + [
    (PYPI, name) for name in sorted(well_known_packages.PYPI)
]


def test_no_well_known_name_imitates_another() -> None:
    assert [name for ecosystem, name in KNOWN if find_imitated_package(ecosystem, name)] == []
    assert [name for name in well_known_packages.ACCOUNTS if find_imitated_account(name)] == []


def test_the_python_names_are_normalised() -> None:
    assert all(find_imitated_package(PYPI, name.replace("-", "_").upper()) is None for name in well_known_packages.PYPI)


@pytest.mark.parametrize(
    ("ecosystem", "name", "original", "how"),
    [
        (NPM, "@modelcontextprotoco1/server-github", "@modelcontextprotocol/server-github", "look alike"),
        (NPM, "@rnodelcontextprotocol/sdk", "@modelcontextprotocol/sdk", "look alike"),
        (NPM, "modelcontextprotocol-server-slack", "@modelcontextprotocol/server-slack", "other separators"),
        (NPM, "@model-context-protocol/server-gdrive", "@modelcontextprotocol/server-gdrive", "other separators"),
        (NPM, "@modelcontextprotcol/server-memory", "@modelcontextprotocol/server-memory", "missing"),
        (NPM, "@browserbasehqq/mcp-server-browserbase", "@browserbasehq/mcp-server-browserbase", "doubled"),
        (NPM, "firecrawk-mcp", "firecrawl-mcp", "neighbour on the keyboard"),
        (NPM, "fierfrawl-mcp", "", ""),
        (PYPI, "mcp-atalssian", "mcp-atlassian", "exchanged"),
        (PYPI, "mcp_server_motherdcuk", "mcp-server-motherduck", "exchanged"),
        (PYPI, "mcpservertime", "mcp-server-time", "other separators"),
    ],
)
def test_each_confusion_is_named(ecosystem: str, name: str, original: str, how: str) -> None:
    found = find_imitated_package(ecosystem, name)
    assert (found.original if found else "") == original
    assert how in (found.how if found else "")


@pytest.mark.parametrize(
    ("ecosystem", "name"),
    [
        (NPM, "@octo/notion-mcp-server"),
        (NPM, "@stripe/mcp-next"),
        (NPM, "playwright-mcp"),
        (NPM, "tavily-mcp2"),
        (NPM, "server-github"),
        (NPM, "figma-developers-mcp"),
        (PYPI, "mcp-server-gif"),
        (PYPI, "mcp-server-times"),
        (PYPI, "mcp-atlassian-extended"),
        (PYPI, "@modelcontextprotoco1/sdk"),
        ("NuGet", "mcp-remot"),
        (NPM, ""),
        (NPM, "@"),
        (NPM, "@/"),
    ],
)
def test_forks_other_products_and_other_indexes_are_not_reported(ecosystem: str, name: str) -> None:
    assert find_imitated_package(ecosystem, name) is None


def _missing_letters(name: str) -> Iterator[str]:
    """The name without one letter inside of a word of six letters or more."""
    at = 0
    for word in name.replace("/", "-").replace("@", "-").split("-"):
        for inside in range(1, len(word) - 1) if len(word) > 5 else ():
            if word[inside].isalpha() and word[inside] != word[inside - 1]:
                yield name[: at + inside] + name[at + inside + 1 :]
        at += len(word) + 1


def test_every_missing_letter_of_a_long_word_is_found_except_in_scopes_of_their_own() -> None:
    typos = [(ecosystem, typo) for ecosystem, name in KNOWN for typo in _missing_letters(name)]
    missed = [typo for ecosystem, typo in typos if find_imitated_package(ecosystem, typo) is None]
    own = tuple(f"{name.partition('/')[0]}/" for name in well_known_packages.NPM if "/" in name)
    assert len(typos) > 300
    assert [typo for typo in missed if not typo.startswith(own)] == []


@pytest.mark.parametrize(
    ("account", "original"),
    [("modelcontextprotoco1", "modelcontextprotocol"), ("Microsft", "microsoft"), ("cloudfIare", "cloudflare"),
     ("sha-pify", None), ("githib", None), ("Microsoft", None), ("octo", None), ("ѕtrіpe", "stripe")],
)  # fmt: skip
def test_accounts_are_compared_more_strictly(account: str, original: str | None) -> None:
    found = find_imitated_account(account)
    assert (found.original if found else None) == original


def test_a_verified_namespace_of_a_well_known_account_is_recognised() -> None:
    assert is_known_namespace("io.github.modelcontextprotocol/fetch")
    assert is_known_namespace("COM.Stripe/mcp")
    assert not is_known_namespace("io.github.octo/stripe")
