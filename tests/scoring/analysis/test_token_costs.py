"""The estimated tokens of a tool follow from what clients give to a model."""

from __future__ import annotations

from scoring.analysis.token_costs import estimate_tokens

TOOL = {"name": "add", "description": "Adds a note.", "inputSchema": {"type": "object"}}


def test_four_characters_of_compact_json_are_a_token() -> None:
    text = '{"name":"add","description":"Adds a note.","inputSchema":{"type":"object"}}'

    assert estimate_tokens(TOOL) == -(-len(text) // 4)


def test_what_clients_do_not_give_to_a_model_costs_nothing() -> None:
    assert estimate_tokens({**TOOL, "title": "Add", "outputSchema": {}, "icons": [], "_meta": {}}) == estimate_tokens(
        TOOL
    )
    assert [estimate_tokens(odd) for odd in (None, "add", {}, [])] == [0, 0, 0, 0]
