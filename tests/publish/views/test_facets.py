"""Facets say what the evidence says: what is not known has no value."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from evidence.kinds import access, advisories, dependencies, listing
from evidence.model import Absent, Dossier, Observed, Reason, Record, Target, TargetType
from evidence.package_inputs import InputPlace, PackageInput
from evidence.store.listing.values import ServerFacets
from publish.views.facets import find_facets
from tests.publish import samples

TOKEN = PackageInput(place=InputPlace.ENVIRONMENT, name="TOKEN", required=True, secret=True)
FOLDER = PackageInput(place=InputPlace.ENVIRONMENT, name="FOLDER", required=True)
OTHER = replace(TOKEN, required=False)


def with_record(dossier: Dossier, kind: str, content: Observed | Absent, **observation: Any) -> Dossier:
    known = dossier.records[listing.KIND]
    record: Record = replace(known, kind=kind, content=content, observation=observation)
    return replace(dossier, records={**dossier.records, kind: record})


def with_tools(dossier: Dossier, *tools: dict[str, Any], end: str = "complete", **observation: Any) -> Dossier:
    part = {"declared": True, "end": end, "error": None, "pages": [{"tools": list(tools)}]}
    body = {"transport": "stdio", "lists": {"tools": part}}
    return with_record(dossier, listing.KIND, Observed(json.dumps(body).encode()), **observation)


def with_inputs(dossier: Dossier, *inputs: PackageInput) -> Dossier:
    target = Target(type=TargetType.NPM, identifier="x", inputs=inputs)
    return replace(dossier, server=replace(dossier.server, targets=(target,)))


def facets(dossier: Dossier) -> ServerFacets:
    return find_facets(dossier, "", ())


@pytest.fixture
def dossier() -> Dossier:
    return with_inputs(with_tools(samples.dossiers(1)[0], {"name": "a"}))


def test_what_a_package_declares_decides_about_credentials(dossier: Dossier) -> None:
    assert facets(dossier).access == "open"
    assert facets(with_inputs(dossier, FOLDER, OTHER)).access == "open"
    assert facets(with_inputs(dossier, FOLDER, TOKEN)).access == "credentials"


def test_a_start_with_placeholders_for_secrets_is_not_open(dossier: Dossier) -> None:
    for kind, expected in (("secret", "credentials"), ("path", "open")):
        given = {"environment": {"X": kind}, "arguments": []}
        assert facets(with_tools(dossier, {"name": "a"}, placeholders=given)).access == expected
        given = {"environment": {}, "arguments": [{"name": "--key", "kind": kind}]}
        assert facets(with_tools(dossier, {"name": "a"}, placeholders=given)).access == expected


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        (Reason.CREDENTIALS_REQUIRED, "credentials"),
        (Reason.OAUTH_REQUIRED, "credentials"),
        (Reason.PAYMENT_REQUIRED, "credentials"),
        (Reason.TIMEOUT, ""),
        (Reason.COLLECTOR_ERROR, ""),
    ],
)
def test_a_server_that_was_not_seen_needs_credentials_only_if_it_said_so(
    dossier: Dossier, reason: Reason, expected: str
) -> None:
    unseen = facets(with_record(dossier, listing.KIND, Absent(reason, "")))
    assert unseen.access == expected
    assert (unseen.read_only, unseen.advisories) == ("", "")


def test_a_remote_that_lists_less_without_credentials_needs_them(dossier: Dossier) -> None:
    for name, expected in (("open", "open"), ("gated_at_list", "credentials"), ("payment", "credentials")):
        seen = with_record(dossier, access.KIND, Observed(json.dumps({"class": name}).encode()))
        assert facets(seen).access == expected


def test_a_server_only_reads_if_each_of_its_tools_says_so(dossier: Dossier) -> None:
    reads = {"name": "a", "annotations": {"readOnlyHint": True}}
    assert facets(with_tools(dossier, reads, reads)).read_only == "yes"
    assert facets(with_tools(dossier, reads, {"name": "b"})).read_only == "no"
    assert facets(with_tools(dossier, reads, {"name": "b", "annotations": {"readOnlyHint": "true"}})).read_only == "no"
    assert facets(with_tools(dossier, reads, {"name": "b", "annotations": []})).read_only == "no"
    assert facets(with_tools(dossier)).read_only == ""
    assert facets(with_tools(dossier, reads, end="failed")).read_only == ""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"checked": 5, "groups": [], "groups_total": 0}, "no"),
        ({"checked": 5, "groups": [], "groups_total": 2}, "yes"),
        ({"checked": 5, "unknown_total": 1}, ""),
        ({"checked": 0}, ""),
    ],
)
def test_no_advisory_is_said_only_when_every_version_was_compared(
    dossier: Dossier, body: dict[str, Any], expected: str
) -> None:
    known = with_record(dossier, dependencies.KIND, Observed(json.dumps({"complete": True}).encode()))
    seen = with_record(known, advisories.KIND, Observed(json.dumps(body).encode()))
    assert facets(seen).advisories == expected
    if expected == "no":
        assert facets(replace(seen, records={**seen.records, dependencies.KIND: _absent(seen)})).advisories == ""
        for flaw in ("stale", "partial"):
            old = with_record(known, advisories.KIND, Observed(json.dumps(body).encode()), **{flaw: ["npm"]})
            assert facets(old).advisories == ""


def _absent(dossier: Dossier) -> Record:
    return replace(dossier.records[dependencies.KIND], content=Absent(Reason.NO_REPOSITORY, "no lockfile"))


def test_the_transport_is_the_one_that_was_used_else_the_declared_one(dossier: Dossier) -> None:
    assert facets(dossier).transport == "stdio"
    unseen = with_record(dossier, listing.KIND, Absent(Reason.TIMEOUT, ""))
    sse = Target(type=TargetType.SSE, identifier="https://example.org/sse")
    assert facets(replace(unseen, server=replace(unseen.server, targets=(sse,)))).transport == "sse"
    assert facets(replace(unseen, server=replace(unseen.server, targets=()))).transport == ""


def test_the_name_of_a_code_host_is_no_purpose(dossier: Dossier) -> None:
    named = replace(dossier.server, ref="npm:@acme/notes", name="io.github.acme/notes")
    assert find_facets(replace(dossier, server=named), "", ()).categories == ("productivity",)
    own = replace(named, ref="npm:@acme/mcp", name="com.stripe/mcp")
    assert find_facets(replace(dossier, server=own), "", ()).categories[0] == "finance"
