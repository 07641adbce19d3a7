"""Documents of every schema are understood, and what does not match is refused with the place and the reason."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.registries.server_json import MAX_ENTRY, NotLatest, read_entry
from crawler.registries.server_schemas import choose_schema
from evidence.canonical import parse_json
from evidence.kinds.registration import Registration, compose_registration
from evidence.model import Observed, ServerRef, Status, Target, TargetType
from evidence.package_inputs import InputPlace, PackageInput
from tests.crawler.registries.documents import CAMEL, DATED, EARLIEST, document, package
from tests.sampling import examples

REMOTE = {"type": "streamable-http", "url": "https://thing.example.com/mcp"}


def read(value: Any) -> ServerRef:
    return read_entry("test", value if isinstance(value, bytes) else json.dumps(value).encode())


@pytest.mark.parametrize("version", DATED)
def test_every_schema_yields_its_targets(version: str) -> None:
    ref = read(document(version, packages=[package(version)], remotes=[REMOTE]))
    assert (ref.status, ref.error) == (Status.ACTIVE, None)
    assert ref.targets == (
        Target(type=TargetType.STREAMABLE_HTTP, identifier="https://thing.example.com/mcp"),
        Target(type=TargetType.NPM, identifier="@someone/thing", version="1.0.0"),
    )
    assert (ref.name, ref.version, ref.repository) == (
        "io.github.someone/thing",
        "1.0.0",
        "https://github.com/someone/thing",
    )


@pytest.mark.parametrize("version", DATED)
def test_a_document_without_schema_is_read_by_its_looks(version: str) -> None:
    value = document(version, packages=[package(version)])
    del value["$schema"]
    assert read(value).status is Status.ACTIVE
    assert choose_schema(value)[0] == ("2025-07-09" if version == "2025-07-09" else "2025-12-11")


@pytest.mark.parametrize("url", ["https://example.com/schemas/2031-01-01/server.schema.json", "https://example.com/x"])
def test_an_unknown_schema_is_read_as_the_newest(url: str) -> None:
    assert read(document("2025-12-11") | {"$schema": url}).status is Status.ACTIVE


def test_the_shape_of_the_first_months_is_understood() -> None:
    ref = read(EARLIEST)
    assert (ref.status, ref.error, ref.version) == (Status.ACTIVE, None, "0.0.1-seed")
    assert ref.targets == (
        Target(type=TargetType.SSE, identifier="https://thing.example.com/sse"),
        Target(
            type=TargetType.OCI,
            identifier="docker.io/someone/thing",
            version="1.0.0",
            arguments=("serve",),
            environment=(("MODE", "safe"),),
            inputs=(PackageInput(place=InputPlace.ENVIRONMENT, name="TOKEN", secret=True),),
        ),
    )


@pytest.mark.parametrize("version", DATED)
@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"name": "no-slash"}, 'name: expected a name like io.github.user/server, found "no-slash"'),
        ({"name": 7}, "name: expected a name like io.github.user/server, found a number"),
        ({"version": None}, "version: expected text, found null"),
        ({"version": "1" * 256}, "version: expected at most 255 characters"),
        ({"packages": {}}, "packages: expected an array, found an object with 0 members"),
        ({"packages": [7]}, "packages[0]: expected an object, found a number"),
        ({"remotes": [{"type": "stdio"}]}, 'remotes[0].type: expected one of streamable-http, sse, found "stdio"'),
        ({"remotes": [{"type": "sse"}]}, "remotes[0].url: expected this member, found none"),
    ],
)
def test_a_mismatch_names_its_place_in_every_schema(version: str, change: dict[str, Any], error: str) -> None:
    ref = read(document(version, **change))
    assert ref.status is Status.INVALID
    assert ref.error is not None
    assert ref.error.startswith(error)
    assert ref.error.endswith(f"(schema {version})")
    assert (ref.targets, ref.repository) == ((), None)


@pytest.mark.parametrize("version", DATED)
@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"description": ""}, 'description: expected at least 1 characters, found ""'),
        ({"description": "x" * 101}, "description: expected at most 100 characters"),
        ({"description": "bell \x07"}, "description: expected no control characters"),
        ({"repository": {"url": "https://github.com/a/b"}}, "repository.source: expected this member, found none"),
        ({"repository": {"url": "not a uri", "source": "x"}}, 'repository.url: expected a URI, found "not a uri"'),
        ({"_meta": []}, "_meta: expected an object, found an array of 0"),
    ],
)
def test_a_flaw_beside_the_targets_is_recorded_and_the_server_stays_reachable(
    version: str, change: dict[str, Any], error: str
) -> None:
    sound, flawed = read(document(version)), read(document(version, **change))
    assert flawed.status is Status.ACTIVE
    assert flawed.error is not None
    assert flawed.error.startswith(error)
    assert flawed.targets == sound.targets


@pytest.mark.parametrize("version", DATED)
@pytest.mark.parametrize("member", ["name", "description", "version"])
def test_required_members_are_required_in_every_schema(version: str, member: str) -> None:
    value = document(version)
    del value[member]
    assert read(value).error == f"{member}: expected this member, found none (schema {version})"


@pytest.mark.parametrize(
    ("version", "change", "valid"),
    [
        ("2025-07-09", {"packages": [package("2025-09-16")]}, False),
        ("2025-09-16", {"packages": [package("2025-07-09")]}, False),
        ("2025-09-29", {"packages": [package("2025-09-29", extra=1)]}, False),
        ("2025-10-11", {"packages": [package("2025-10-11", extra=1)]}, True),
        ("2025-09-29", {"packages": [{k: v for k, v in package("2025-09-29").items() if k != "version"}]}, False),
        ("2025-10-11", {"packages": [{k: v for k, v in package("2025-10-11").items() if k != "version"}]}, True),
        ("2025-10-17", {"packages": [package("2025-10-17", version="1" * 300)], "remotes": [REMOTE]}, True),
        ("2025-12-11", {"packages": [package("2025-12-11", version="1" * 300)], "remotes": [REMOTE]}, False),
        ("2025-09-16", {"status": "gone"}, False),
        ("2025-09-29", {"status": "gone"}, False),
        ("2025-09-29", {"title": ""}, True),
        ("2025-10-11", {"title": ""}, False),
        ("2025-09-29", {"icons": [{}]}, True),
        ("2025-10-11", {"icons": [{}]}, False),
        ("2025-12-11", {"icons": [{"src": "https://a.example/i.png", "sizes": ["48x48", "any"]}]}, True),
        ("2025-12-11", {"icons": [{"src": "https://a.example/i.png", "sizes": ["big"]}]}, False),
        ("2025-10-17", {"remotes": [{"type": "streamable-http", "url": "ftp://x"}]}, False),
        ("2025-12-11", {"remotes": [{"type": "streamable-http", "url": "https://x.example", "variables": 1}]}, False),
        ("2025-10-17", {"remotes": [{"type": "streamable-http", "url": "https://x.example", "variables": 1}]}, True),
        ("2025-07-09", {"website_url": 1}, False),
        ("2025-07-09", {"websiteUrl": 1}, True),
        ("2025-09-16", {"websiteUrl": 1}, False),
    ],
)
def test_schemas_differ_where_their_texts_do(version: str, change: dict[str, Any], valid: bool) -> None:
    assert (read(document(version, **change)).error is None) is valid


@pytest.mark.parametrize("version", DATED)
def test_a_package_with_a_long_version_is_no_target(version: str) -> None:
    assert read(document(version, packages=[package(version, version="1" * 255)])).targets
    ref = read(document(version, packages=[package(version, version="1" * 256)]))
    assert (ref.status, ref.targets) == (Status.INVALID, ())


def test_a_long_version_outside_the_schema_is_no_version() -> None:
    assert read({**EARLIEST, "version_detail": {"version": "1" * 255}}).version == "1" * 255
    assert read({**EARLIEST, "version_detail": {"version": "1" * 256}}).version == ""


@pytest.mark.parametrize("version", DATED)
def test_latest_is_not_a_package_version(version: str) -> None:
    assert read(document(version, packages=[package(version, version="latest")])).status is Status.INVALID


@pytest.mark.parametrize("version", CAMEL)
def test_inputs_and_arguments_are_checked_deeply(version: str) -> None:
    argument = {"type": "named", "name": "--x", "variables": {"v": {"isRequired": "yes"}}}
    ref = read(document(version, packages=[package(version, packageArguments=[argument])]))
    path = "packages[0].packageArguments[0].variables.v.isRequired"
    assert ref.error == f'{path}: expected true or false, found "yes" (schema {version})'


def test_a_positional_argument_needs_a_value_or_a_hint() -> None:
    ref = read(document("2025-12-11", packages=[package("2025-12-11", packageArguments=[{"type": "positional"}])]))
    assert (
        ref.error == "packages[0].packageArguments[0]: expected valueHint or value, found neither (schema 2025-12-11)"
    )


def test_a_package_without_a_usable_name_is_invalid_when_there_is_nothing_else() -> None:
    bad = package("2025-12-11", identifier="--registry=https://evil.example")
    ref = read(document("2025-12-11", packages=[bad]))
    expected = 'packages[0]: expected an npm package name, found "--registry=https://evil.example"'
    assert (ref.status, ref.error) == (Status.INVALID, expected)
    assert read(document("2025-12-11", packages=[bad, package("2025-12-11")])).status is Status.ACTIVE


def test_a_server_that_everybody_hosts_for_himself_is_valid_without_a_target() -> None:
    remote = {"type": "streamable-http", "url": "https://{tenant}.example.com/mcp"}
    ref = read(document("2025-12-11", remotes=[remote]))
    assert (ref.status, ref.targets) == (Status.ACTIVE, ())


def test_a_repository_folder_is_kept_after_a_number_sign() -> None:
    repository = {"url": "git@github.com:Someone/Things.git", "source": "github", "subfolder": "./src/thing/"}
    ref = read(document("2025-09-16", repository={**repository, "url": "https://github.com/Someone/Things.git"}))
    assert ref.repository == "https://github.com/someone/things#src/thing"
    assert read(document("2025-09-16", repository={**repository, "subfolder": "../.."})).repository is None


def test_status_and_date_come_from_the_registry() -> None:
    official = {"status": "deprecated", "updatedAt": "2026-01-02T03:04:05.123456789+01:00", "isLatest": True}
    wrapped = {"server": document("2025-12-11"), "_meta": {"io.modelcontextprotocol.registry/official": official}}
    ref = read(wrapped)
    assert ref.status is Status.DEPRECATED
    assert ref.updated_at == datetime(2026, 1, 2, 2, 4, 5, 123456, tzinfo=UTC)
    assert ref.entry == json.dumps(document("2025-12-11")).encode()


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+14:00", "yesterday", 7, None, ["x"]])
def test_an_impossible_date_is_no_date(moment: Any) -> None:
    official = {"updatedAt": moment}
    wrapped = {"server": document("2025-12-11"), "_meta": {"io.modelcontextprotocol.registry/official": official}}
    assert (read(wrapped).status, read(wrapped).updated_at) == (Status.ACTIVE, None)


def test_an_unknown_status_is_invalid() -> None:
    official = {"status": "suspended"}
    wrapped = {"server": document("2025-12-11"), "_meta": {"io.modelcontextprotocol.registry/official": official}}
    assert read(wrapped).error == '_meta.status: expected one of active, deprecated, deleted, found "suspended"'


def test_an_older_version_says_so() -> None:
    official = {"is_latest": False}
    with pytest.raises(NotLatest):
        read(document("2025-07-09", _meta={"io.modelcontextprotocol.registry/official": official}))


def test_an_oversized_entry_is_kept_as_size_and_digest() -> None:
    ref = read(b'{"name": "' + b"x" * MAX_ENTRY + b'"}')
    assert ref.status is Status.INVALID
    assert set(json.loads(ref.entry)) == {"bytes", "sha256"}


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
MEMBERS = ("name", "description", "version", "$schema", "_meta", "status", "repository", "packages", "remotes", "icons")
INNER = ("type", "url", "headers", "variables", "identifier", "registryType", "transport", "packageArguments", "value")
inner = st.dictionaries(st.sampled_from(INNER), values, max_size=5)
changes = st.dictionaries(st.sampled_from(MEMBERS), values | inner | st.lists(inner, max_size=2), max_size=4)


@settings(max_examples=examples(300), deadline=None)
@given(changes, st.sampled_from(DATED), st.booleans())
def test_any_document_gives_a_reference_that_evidence_can_hold(
    change: dict[str, Any], version: str, wrapped: bool
) -> None:
    value: Any = document(version, packages=[package(version)]) | change
    data = json.dumps({"server": value} if wrapped else value).encode()
    try:
        ref = read_entry("test", data)
    except NotLatest:
        return
    assert ref.error is not None or ref.status is not Status.INVALID
    assert parse_json(ref.entry) == parse_json(json.dumps(value).encode())
    if ref.status is Status.INVALID:
        return
    ref.name.encode()
    content = compose_registration([ref])
    assert isinstance(content, Observed)
    assert Registration.parse(content.body).entries == (parse_json(ref.entry),)


@settings(max_examples=examples(200), deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_give_a_reference(data: bytes) -> None:
    assert read_entry("test", data).status is Status.INVALID
