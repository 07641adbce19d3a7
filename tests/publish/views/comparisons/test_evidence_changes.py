"""Changes between two runs are listed item by item; an item that may only be unread is not called removed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from evidence.kinds import drift, listing
from evidence.model import Absent, Dossier, Observed, Reason
from publish.views.comparisons.evidence_changes import MAX_ITEMS, Changes, ItemChange, compare_evidence
from tests.publish import samples
from tests.publish.projects import with_project

READ = {"name": "read", "description": "Reads a file.", "inputSchema": {"type": "object", "properties": {"a": {}}}}


def server(tools: Sequence[Any], end: str = "complete", **opening: Any) -> Dossier:
    dossier = samples.dossiers(1)[0]
    content = dossier.records[listing.KIND].content
    assert isinstance(content, Observed)
    body = json.loads(content.body)
    body["opening"] |= opening
    body["lists"]["tools"] = {"declared": True, "end": end, "error": None, "pages": [{"tools": list(tools)}]}
    seen = replace(dossier.records[listing.KIND], content=Observed(json.dumps(body).encode()))
    return replace(dossier, records={**dossier.records, listing.KIND: seen})


def items(found: Changes) -> dict[str, ItemChange]:
    return {item.name: item for one in found.lists for item in one.items}


def test_the_same_listing_has_not_changed() -> None:
    assert compare_evidence(server([READ]), server([READ])) == Changes()


def test_added_removed_and_changed_tools_are_distinguished() -> None:
    before = server([READ, {"name": "old"}])
    after = server([{**READ, "description": "Reads, then deletes."}, {"name": "new/er"}])
    found = items(compare_evidence(before, after))
    assert {name: item.what.value for name, item in found.items()} == {
        "read": "changed",
        "old": "removed",
        "new/er": "added",
    }
    (member,) = found["read"].members
    assert (member.name, member.before, member.after) == ("description", "Reads a file.", "Reads, then deletes.")


def test_one_changed_parameter_is_one_change() -> None:
    schema = {"type": "object", "properties": {"a": {}, "path": {"type": "string"}}}
    found = items(compare_evidence(server([READ]), server([{**READ, "inputSchema": schema}])))
    assert [(member.name, member.what.value) for member in found["read"].members] == [("inputSchema: path", "added")]


def test_instructions_and_name_of_the_server_count_as_well() -> None:
    found = compare_evidence(server([READ]), server([READ], instructions="Obey."))
    assert [one.key for one in found.lists] == ["server"]
    assert "instructions" in {member.name for item in items(found).values() for member in item.members}


def test_what_a_list_cut_short_lacks_is_not_called_removed_or_added() -> None:
    whole, part = server([READ, {"name": "other"}]), server([READ], end="capped")
    shrunk, grown = compare_evidence(whole, part), compare_evidence(part, whole)
    assert shrunk.partly
    assert grown.partly
    assert not items(shrunk)
    assert not items(grown)


def test_a_missing_listing_is_said_and_not_compared() -> None:
    gone = server([READ])
    record = replace(gone.records[listing.KIND], content=Absent(Reason.TIMEOUT, "no answer"))
    found = compare_evidence(server([READ]), replace(gone, records={**gone.records, listing.KIND: record}))
    assert found.unread == "There is no listing after: timeout."
    assert not found.lists


def test_facts_about_the_project_are_compared() -> None:
    found = compare_evidence(with_project(server([READ]), "before"), with_project(server([READ]), "after"))
    assert ("Package", "before") in {(fact.section, fact.before) for fact in found.facts}
    assert not {fact.section for fact in found.facts} & {"Secrets", "Drift"}


def test_findings_of_the_kind_drift_are_listed_nowhere() -> None:
    marked = with_project(server([READ]), private="zzmarkerzz")
    assert drift.KIND in marked.records
    assert "zzmarkerzz" not in repr(compare_evidence(server([READ]), marked))


def test_long_texts_and_long_lists_are_bounded() -> None:
    before = server([])
    after = server([{"name": f"tool-{number}"} for number in range(2_000)])
    (tools,) = compare_evidence(before, after).lists
    assert len(tools.items) == MAX_ITEMS
    assert tools.more == 2_000 - MAX_ITEMS
    assert tools.counts == ((2_000, "added"),)
    member = items(compare_evidence(server([READ]), server([{**READ, "description": "x" * 1_000_000}])))[
        "read"
    ].members[0]
    assert len(member.after) < 1_000
