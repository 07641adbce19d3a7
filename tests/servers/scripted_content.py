"""Tool, resource and prompt lists of the scripted servers: good and bad, a pure function of (seed, number)."""

from __future__ import annotations

import random
from typing import Any

Item = dict[str, Any]

SUBJECTS = (
    "invoice",
    "customer",
    "ticket",
    "calendar event",
    "file",
    "repository",
    "order",
    "note",
    "message",
    "report",
)
VERBS = (
    ("get", "Retrieves one {subject} by its identifier and returns all of its fields."),
    ("list", "Lists every {subject} that the caller may see, newest first. Use it before asking for a single one."),
    ("search", "Searches {subject} records by free text. Returns at most `limit` matches with their identifiers."),
    ("create", "Creates a new {subject} and returns its identifier. Fails when one of the same name exists."),
    ("update", "Changes the named fields of an existing {subject}; fields that are left out keep their value."),
    ("delete", "Deletes a {subject} for good. This cannot be undone, so confirm with the user first."),
    ("export", "Exports {subject} data as CSV or JSON. Large exports are split into several parts."),
)
PARAMETERS: dict[str, Item] = {
    "id": {"type": "string", "description": "Identifier as returned by the list tool", "minLength": 1, "maxLength": 64},
    "query": {"type": "string", "description": "Words that must occur in the record", "maxLength": 200},
    "limit": {"type": "integer", "description": "Most results to return", "minimum": 1, "maximum": 100, "default": 20},
    "format": {"type": "string", "description": "Format of the answer", "enum": ["json", "csv", "markdown"]},
    "title": {"type": "string", "description": "Title that people will see", "maxLength": 120},
    "tags": {"type": "array", "description": "Labels to attach", "items": {"type": "string"}, "maxItems": 10},
    "dry_run": {"type": "boolean", "description": "Only say what would happen", "default": False},
    "since": {"type": "string", "format": "date-time", "description": "Only records changed after this moment"},
    "x": {"type": "string"},
    "data": {},
    "options": {"type": "object"},
}
GOOD_PARAMETERS = ("id", "query", "limit", "format", "title", "tags", "dry_run", "since")


def tools(seed: int, number: int) -> list[Item]:
    """Between 1 and 14 tools; about one in four has something that a linter should notice."""
    rng = random.Random(f"{seed}:{number}:tools")
    count = rng.choice((1, 2, 3, 3, 5, 7, 9, 12, 14))
    return [_tool(rng, position) for position in range(count)]


def resources(seed: int, number: int) -> list[Item]:
    """Between 1 and 6 resources, some without description or MIME type."""
    rng = random.Random(f"{seed}:{number}:resources")
    return [_resource(rng, position) for position in range(rng.randint(1, 6))]


def templates(seed: int, number: int) -> list[Item]:
    """One or two resource templates."""
    rng = random.Random(f"{seed}:{number}:templates")
    subject = rng.choice(SUBJECTS).replace(" ", "-")
    template = {
        "uriTemplate": f"{subject}://{{id}}",
        "name": f"{subject} by id",
        "description": f"One {subject} as JSON",
        "mimeType": "application/json",
    }
    return [template] * rng.randint(1, 2)


def prompts(seed: int, number: int) -> list[Item]:
    """Between 1 and 4 prompts with arguments."""
    rng = random.Random(f"{seed}:{number}:prompts")
    return [
        {
            "name": f"summarise_{rng.choice(SUBJECTS).replace(' ', '_')}_{position}",
            "description": rng.choice(("Summarises the record for a busy reader.", "", "Prompt")),
            "arguments": [{"name": "id", "description": "Which record", "required": True}, {"name": "tone"}],
        }
        for position in range(rng.randint(1, 4))
    ]


def _tool(rng: random.Random, position: int) -> Item:
    verb, sentence = rng.choice(VERBS)
    subject = rng.choice(SUBJECTS)
    tool: Item = {
        "name": f"{verb}_{subject.replace(' ', '_')}_{position}",
        "description": sentence.format(subject=subject),
        "inputSchema": _schema(rng),
    }
    if rng.random() < 0.4:
        tool["annotations"] = {
            "title": f"{verb.capitalize()} {subject}",
            "readOnlyHint": verb in {"get", "list", "search", "export"},
            "destructiveHint": verb == "delete",
        }
    if rng.random() < 0.2:
        tool["outputSchema"] = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
    return rng.choice(_DEFECTS)(tool) if rng.random() < 0.25 else tool


def _schema(rng: random.Random) -> Item:
    names = rng.sample(GOOD_PARAMETERS, rng.randint(0, 5))
    if rng.random() < 0.2:
        names.append(rng.choice(("x", "data", "options")))
    required = [name for name in names if rng.random() < 0.5]
    schema: Item = {"type": "object", "properties": {name: PARAMETERS[name] for name in names}}
    return {**schema, "required": required, "additionalProperties": False} if required else schema


def _resource(rng: random.Random, position: int) -> Item:
    subject = rng.choice(SUBJECTS).replace(" ", "-")
    resource: Item = {"uri": f"memo://{subject}/{position}", "name": f"{subject} {position}"}
    if rng.random() < 0.7:
        resource["description"] = f"The {subject} numbered {position}"
    if rng.random() < 0.6:
        resource["mimeType"] = rng.choice(("application/json", "text/plain", "text/markdown"))
    return resource


_DEFECTS = (
    lambda tool: {**tool, "description": "Gets it"},
    lambda tool: {key: value for key, value in tool.items() if key != "description"},
    lambda tool: {**tool, "name": "DoThing" + str(len(tool["name"]))},
    lambda tool: {**tool, "name": tool["name"].replace("_", "-").upper()},
    lambda tool: {**tool, "inputSchema": {"type": "object"}},
    lambda tool: {**tool, "inputSchema": {"type": "object", "properties": {"x": {"type": "strng"}}}},
    lambda tool: {**tool, "inputSchema": None},
    lambda tool: {**tool, "description": 17},
    lambda tool: {**tool, "description": tool["description"] * 40},
    lambda tool: {**tool, "description": tool["description"] + " Ünïcode ✓ 漢字 and a tab\tinside."},
)
