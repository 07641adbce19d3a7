"""One line about the purpose of a server, and the texts that the search reads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from evidence.kinds import listing, source
from evidence.kinds.listing import Item, Listing
from evidence.model import Dossier, Observed
from publish.disclosure import PRIVATE_FAMILIES
from publish.views.listed_servers import count_server
from publish.views.purpose import MAX_PURPOSE, find_purpose, list_readme_texts, list_tool_texts
from scoring.engine import catalogue
from tests.dossiers import captures
from tests.publish import samples
from tests.publish.judged import published


def opened(**opening: Any) -> Dossier:
    dossier = samples.dossiers(1)[0]
    record = dossier.records[listing.KIND]
    assert isinstance(record.content, Observed)
    body = json.loads(record.content.body)
    body["opening"] = {**body["opening"], **opening}
    changed = replace(record, content=Observed(json.dumps(body).encode()))
    return replace(dossier, records={listing.KIND: changed})


def dossier_tools(dossier: Dossier) -> Sequence[Item]:
    seen = dossier.parsed(listing.KIND, Listing.parse)
    assert seen is not None
    return seen.tools.items


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Reads  PostgreSQL.\n\nCall connect first.", "Reads PostgreSQL"),
        ("x" * 500, "x" * (MAX_PURPOSE - 1) + "…"),
        ("word " * 100, "word " * 30 + "word…"),
        ("\ud800 lone", "? lone"),
        ("", ""),
    ],
    ids=["first sentence", "one long word", "many words", "lone surrogate", "nothing"],
)
def test_the_purpose_is_one_short_line(text: str, line: str) -> None:
    assert find_purpose(opened(instructions=text)).removesuffix("…").startswith(line.removesuffix("…"))
    assert len(find_purpose(opened(instructions=text))) <= MAX_PURPOSE


def test_the_description_of_the_server_comes_before_its_instructions() -> None:
    dossier = opened(serverInfo={"name": "x", "description": "Reads mail."}, instructions="Call list first.")
    assert find_purpose(dossier) == "Reads mail."


def test_names_of_tools_come_before_their_descriptions_in_the_texts_of_the_search() -> None:
    dossier = samples.dossiers(1)[0]
    tools = dossier_tools(dossier)
    texts = list_tool_texts(dossier)
    assert list(texts[: len(tools)]) == [tool.name for tool in tools]
    assert set(texts) >= {tool.description for tool in tools if tool.description}


def test_a_suspect_tool_is_left_out_and_the_others_stay() -> None:
    dossier = captures()["mcp-server-git"]
    tools = dossier_tools(dossier)
    first, *others = [tool.name for tool in tools]
    for place in (f"tools/{first}", f"tools/{first}/description", f"source/tools/{first}"):
        row = count_server(replace(published(dossier), suspect_places=frozenset({place})), "run").listed
        assert others and list(row.tool_texts[: len(others)]) == others
        assert tools[0].description not in row.tool_texts


def test_secrets_are_masked_before_a_text_is_cut_or_searched() -> None:
    secret = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    short = find_purpose(opened(instructions=f"Use {secret} {'and more ' * 30}"))
    assert short.startswith("Use ")
    assert "a1B2c3" not in short
    # Its beginning would be left if the text was cut first; a word that is cut is not left out here.
    assert "a1B2c3" not in find_purpose(opened(instructions=f"{'x' * (MAX_PURPOSE - 30)}:{secret}"))
    dossier = opened()
    record = dossier.records[listing.KIND]
    assert isinstance(record.content, Observed)
    body = json.loads(record.content.body)
    body["lists"]["tools"]["pages"][0]["tools"][0]["description"] = f"Sends it with {secret}."
    changed = replace(record, content=Observed(json.dumps(body).encode()))
    texts = list_tool_texts(replace(dossier, records={listing.KIND: changed}))
    assert any("Sends it with" in text for text in texts)
    assert not any("a1B2c3" in text for text in texts)


@pytest.mark.parametrize("place", ["", "server"])
def test_a_finding_that_may_be_in_any_text_leaves_nothing(place: str) -> None:
    server = published(opened(instructions="Hello."))
    row = count_server(replace(server, suspect_places=frozenset({place, "tools/a"})), "run").listed
    assert (row.purpose, row.tool_texts) == ("", ())


def test_without_a_description_the_purpose_names_the_first_tools() -> None:
    dossier = captures()["mcp-server-time"]
    assert find_purpose(dossier) == "Tools: get_current_time, convert_time"


def test_exactly_private_rules_are_named_as_those_that_judge_texts() -> None:
    named = [rule for rule in catalogue.list_rules() if rule.id.startswith("text-")]
    assert len(named) > 5
    assert {rule.family for rule in named} <= PRIVATE_FAMILIES


def with_readme(dossier: Dossier, **parts: object) -> Dossier:
    body = {"readme": {"path": "README.md", "sections": ["Convert units"], **parts}}
    known = next(iter(dossier.records.values()))
    record = replace(known, kind=source.KIND, content=Observed(json.dumps(body).encode()))
    return replace(dossier, records={**dossier.records, source.KIND: record})


def test_the_search_reads_sections_tools_and_examples_of_the_readme() -> None:
    dossier = with_readme(captures()["mcp-server-time"], tools="Three converters", examples="miles to km", install="no")
    assert list_readme_texts(dossier) == ("Convert units", "Three converters", "miles to km")
    assert list_readme_texts(captures()["mcp-server-time"]) == ()


def test_a_readme_beside_a_suspect_text_is_left_out_and_secrets_are_masked() -> None:
    token = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    dossier = with_readme(captures()["mcp-server-time"], tools=f"Use {token}")
    assert list_readme_texts(dossier, {"tools/convert_time"}) == ()
    assert token not in " ".join(list_readme_texts(dossier))
    assert len(list_readme_texts(with_readme(dossier, tools="x" * 1_000_000))[1]) == 400
