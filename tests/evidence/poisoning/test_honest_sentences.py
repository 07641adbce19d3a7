"""Honest sentences in the words of attacks cost no points, and attacks in nearly the same words still do.

`honest_sentences` was written before the patterns were read, `honest_near_patterns` against them. docs/poisoning.md has
the counts by group.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evidence.derive.poisoning import scan_listing
from evidence.kinds.listing import Listing
from tests.dossiers import captures

FOLDER = Path(__file__).with_name("honest")
MAX_SHARE_OF_TOOLS = 0.004
MAX_NEAR_PATTERNS = 2
"""Sentences of the second set, written against the patterns, that still cost points: see docs/poisoning.md."""


def read_rows(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def list_costly_findings(row: dict[str, str]) -> set[str]:
    """The patterns that cost points when the sentence describes a tool, and when it describes a parameter."""
    tool: dict[str, Any] = {"name": row.get("tool", "own_tool"), "description": "Gets a thing by its id."}
    described = {"properties": {row.get("parameter", "value"): {"type": "string", "description": row["text"]}}}
    listings = ([{**tool, "description": row["text"]}], [{**tool, "inputSchema": described}])
    return {hit.pattern for tools in listings for hit in _scan(tools) if hit.is_grave}


def _scan(tools: list[dict[str, Any]]) -> Iterator[Any]:
    yield from scan_listing(Listing({"lists": {"tools": {"end": "complete", "pages": [{"tools": tools}]}}}))


def test_no_honest_sentence_costs_points() -> None:
    found = {row["text"]: costly for row in read_rows("honest_sentences") if (costly := list_costly_findings(row))}
    assert not found


def test_few_sentences_that_were_written_against_the_patterns_cost_points() -> None:
    rows = read_rows("honest_near_patterns")
    assert len(rows) >= 60
    assert len([row["text"] for row in rows if list_costly_findings(row)]) <= MAX_NEAR_PATTERNS


def test_there_are_honest_sentences_of_many_groups() -> None:
    groups = Counter(row["group"] for row in read_rows("honest_sentences"))
    assert sum(groups.values()) >= 300
    assert len(groups) >= 12
    assert min(groups.values()) >= 15


def test_attacks_in_nearly_the_same_words_are_found() -> None:
    assert not [row["text"] for row in read_rows("neighbouring_attacks") if not list_costly_findings(row)]


def test_hardly_any_tool_of_a_captured_server_costs_points() -> None:
    listings = [Listing.parse(dossier.read("listing").body) for dossier in captures().values()]  # type: ignore[union-attr]
    tools = sum(len(listing.tools.items) for listing in listings)
    accused = {(at, hit.at) for at, listing in enumerate(listings) for hit in scan_listing(listing) if hit.is_grave}
    assert tools > 200
    assert len(accused) <= MAX_SHARE_OF_TOOLS * tools
