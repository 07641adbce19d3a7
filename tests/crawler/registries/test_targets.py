"""Targets hold what can be opened without asking anybody: no secrets, no unset variables, no names that are options."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.registries.targets import MAX_TARGETS, ReachableTargets, find_reachable_targets
from evidence.model import Target, TargetType


def packages(*given: dict[str, Any]) -> ReachableTargets:
    return find_reachable_targets(
        {"packages": [{"registryType": "npm", "identifier": "thing", **package} for package in given]}
    )


def arguments(*given: dict[str, Any]) -> tuple[str, ...]:
    return packages({"packageArguments": list(given)}).targets[0].arguments


def environment(*given: dict[str, Any]) -> dict[str, str]:
    return dict(packages({"environmentVariables": list(given)}).targets[0].environment)


def test_public_remotes_come_first_and_local_ones_last() -> None:
    document = {
        "remotes": [
            {"type": "streamable-http", "url": "http://localhost:3000/mcp"},
            {"type": "sse", "url": "https://a.example.com/sse"},
            {"type": "streamable-http", "url": "https://a.example.com/mcp"},
        ],
        "packages": [
            {"registryType": "oci", "identifier": "ghcr.io/a/b:1"},
            {"registryType": "npm", "identifier": "port", "transport": {"type": "streamable-http"}},
            {"registryType": "pypi", "identifier": "stdio", "transport": {"type": "stdio"}},
        ],
    }
    assert [target.identifier for target in find_reachable_targets(document).targets] == [
        "https://a.example.com/mcp",
        "https://a.example.com/sse",
        "stdio",
        "port",
        "ghcr.io/a/b",
        "http://localhost:3000/mcp",
    ]


def test_a_url_with_an_unset_variable_is_no_target_but_a_default_fills_it() -> None:
    url = "https://{region}.example.com/mcp#x"
    assert find_reachable_targets({"remotes": [{"type": "sse", "url": url}]}).targets == ()
    secret = {"region": {"default": "eu", "isSecret": True}}
    assert find_reachable_targets({"remotes": [{"type": "sse", "url": url, "variables": secret}]}).targets == ()
    filled = find_reachable_targets(
        {"remotes": [{"type": "sse", "url": url, "variables": {"region": {"default": "eu"}}}]}
    )
    assert filled.targets == (Target(type=TargetType.SSE, identifier="https://eu.example.com/mcp"),)


def test_headers_are_kept_when_they_are_complete_and_no_secrets() -> None:
    headers = [
        {"name": "X-Mode", "value": "full"},
        {"name": "Authorization", "value": "Bearer {token}"},
        {"name": "X-Key", "value": "abc", "isSecret": True},
        {"name": "X-Asked", "isRequired": True},
        {"name": "Bad Name", "value": "x"},
        {"name": "X-Split", "value": "a\r\nHost: evil.example"},
    ]
    found = find_reachable_targets({"remotes": [{"type": "sse", "url": "https://a.example.com", "headers": headers}]})
    assert found.targets[0].headers == (("X-Mode", "full"),)


def test_arguments_are_words_in_order() -> None:
    assert arguments(
        {"type": "positional", "value": "serve"},
        {"type": "named", "name": "--port", "default": "80"},
        {"type": "named", "name": "--verbose"},
        {"type": "named", "name": "--key", "isRequired": True},
        {"type": "positional", "valueHint": "folder"},
        {"type": "positional", "valueHint": "json", "default": '{"a": 1}'},
        {
            "type": "named",
            "name": "--at",
            "value": "{host}:{port}",
            "variables": {"host": {"value": "localhost"}, "port": {"default": "1"}},
        },
    ) == ("serve", "--port", "80", "--verbose", '{"a": 1}', "--at", "localhost:1")


def test_environment_holds_declared_values_and_no_secrets() -> None:
    assert environment(
        {"name": "MODE", "default": "safe"},
        {"name": "EMPTY", "value": ""},
        {"name": "TOKEN", "value": "x", "isSecret": True},
        {"name": "KEY", "isRequired": True},
        {"name": "BAD-NAME", "value": "x"},
        {"name": "LD\u0000", "value": "x"},
    ) == {"MODE": "safe", "EMPTY": ""}


@pytest.mark.parametrize(
    ("kind", "identifier"),
    [
        ("npm", "../../etc"),
        ("npm", "-g"),
        ("npm", "https://example.com/x.tgz"),
        ("npm", "thing@1.0"),
        ("pypi", "-r requirements.txt"),
        ("pypi", "thing==1.0"),
        ("pypi", "git+https://example.com/x"),
        ("oci", "@someone/thing"),
        ("oci", "--privileged"),
        ("nuget", "a b"),
        ("cargo", "--git"),
        ("mcpb", "file:///etc/passwd"),
        ("github", "a/b"),
        ("", "thing"),
    ],
)
def test_what_is_not_a_package_name_is_not_a_target(kind: str, identifier: str) -> None:
    found = packages({"registryType": kind, "identifier": identifier})
    assert found.targets == ()
    assert len(found.unusable) == 1
    assert found.unusable[0].startswith("packages[0]: expected a")


@pytest.mark.parametrize(
    ("package", "expected"),
    [
        ({"identifier": "time"}, ("docker.io/library/time", None)),
        ({"identifier": "ghcr.io/A/b"}, None),
        ({"identifier": "a/b:1", "version": "2"}, ("docker.io/a/b", "1")),
        ({"identifier": "a/b", "version": "2"}, ("docker.io/a/b", "2")),
        ({"identifier": "a/b", "registryBaseUrl": "https://ghcr.io"}, ("ghcr.io/a/b", None)),
        ({"identifier": "quay.io/a/b", "registryBaseUrl": "https://docker.io"}, ("quay.io/a/b", None)),
        ({"identifier": "a/b@sha256:" + "0" * 64}, ("docker.io/a/b", "sha256:" + "0" * 64)),
    ],
)
def test_an_image_is_named_with_its_registry(package: dict[str, Any], expected: tuple[str, str | None] | None) -> None:
    targets = packages({"registryType": "oci", **package}).targets
    assert [(target.identifier, target.version) for target in targets] == ([expected] if expected else [])


def test_the_number_of_targets_is_bounded() -> None:
    remotes = [{"type": "sse", "url": f"https://a{number}.example.com"} for number in range(5000)]
    assert len(find_reachable_targets({"remotes": remotes}).targets) == MAX_TARGETS


def test_variables_that_would_grow_without_bound_are_unset() -> None:
    text = "{v}" * 2000
    variable: dict[str, Any] = {"default": text}
    for _ in range(20):
        variable = {"default": text, "variables": {"v": variable}}
    argument = {"type": "positional", "value": text, "variables": {"v": variable}}
    assert arguments(argument) == ()
    assert arguments({"type": "positional", "value": text, "variables": {"v": {"default": "x" * 1024}}}) == ()
    assert arguments({"type": "positional", "value": "{a}{b}", "variables": {"a": {"default": ""}, "b": {}}}) == ()
    assert arguments({"type": "positional", "value": "{a}", "variables": {"a": {"default": ""}}}) == ("",)
