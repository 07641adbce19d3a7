"""The view of kind `package` reads whatever is written, and tells unknown from none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evidence.canonical import NotJson
from evidence.kinds.package import KIND, SCHEMA, Package, Provenance, Repository

BODY: dict[str, Any] = {
    "ecosystem": "npm",
    "name": "@example/one",
    "declared": "1.0.0",
    "exists": True,
    "version": "1.0.0",
    "version_exists": True,
    "latest": "1.1.0",
    "versions": 2,
    "first_published": "2026-01-03T10:00:00.000Z",
    "published": "2026-01-03T10:00:00.000Z",
    "latest_published": "2026-02-03T10:00:00.000Z",
    "deprecated": None,
    "yanked": "",
    "install_scripts": ["postinstall"],
    "provenance": {"attested": True, "repository": "https://github.com/a/b", "predicates": ["https://slsa.dev/x"]},
    "maintainers": ["ada"],
    "licence": "MIT",
    "repository": {"url": "https://github.com/a/b", "directory": None},
    "mcp_name": "io.github.example/one",
    "has_readme": False,
    "requires": ">=20",
}


def parsed(**changed: Any) -> Package:
    """The view of the body with some members changed."""
    return Package.parse(json.dumps({**BODY, **changed}).encode())


def test_every_member_of_the_body_is_in_the_view() -> None:
    view = parsed()
    assert {name: getattr(view, name) for name in BODY} == {
        **BODY,
        "install_scripts": ("postinstall",),
        "maintainers": ("ada",),
        "provenance": Provenance(
            attested=True, repository="https://github.com/a/b", predicates=("https://slsa.dev/x",)
        ),
        "repository": Repository(url="https://github.com/a/b"),
    }


@pytest.mark.parametrize("name", sorted(BODY.keys() - {"ecosystem", "name", "exists", "version_exists"}))
def test_null_is_unknown(name: str) -> None:
    assert getattr(parsed(**{name: None}), name) is None


@pytest.mark.parametrize("junk", [7, True, [], {}, [None], "x", {"url": 7}, -1])
@pytest.mark.parametrize("name", sorted(BODY))
def test_a_member_of_another_type_does_not_hide_the_others(name: str, junk: object) -> None:
    view = parsed(**{name: junk})
    untouched = "licence" if name != "licence" else "requires"
    assert getattr(view, untouched) == BODY[untouched]


def test_counts_are_not_negative_and_no_booleans() -> None:
    assert [parsed(versions=value).versions for value in (0, 3, -1, True, 1.5)] == [0, 3, None, None, None]


def test_an_empty_list_is_known_and_null_is_not() -> None:
    assert (parsed(install_scripts=[]).install_scripts, parsed(install_scripts=None).install_scripts) == ((), None)


def test_a_body_that_is_no_object_says_nothing() -> None:
    view = Package.parse(b"[]")
    assert (view.exists, view.version_exists, view.versions) == (False, False, None)


def test_a_body_that_is_no_json_is_our_own_fault() -> None:
    with pytest.raises(NotJson):
        Package.parse(b"{")


def test_the_kind_is_what_records_call_it() -> None:
    assert (KIND, SCHEMA) == ("package", 1)
