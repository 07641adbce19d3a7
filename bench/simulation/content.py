"""Lists of tools of realistic sizes, a pure function of (seed, number); their words are made up here.

Shaped like the recorded listings in tests/dossiers: 1 to 46 tools, 16 on average, most of them between 400 and 2,000
bytes, a few with descriptions of thousands of characters.
"""

from __future__ import annotations

import random
from typing import Any, Final

Item = dict[str, Any]

_COUNTS: Final = (1, 1, 2, 2, 3, 4, 5, 5, 7, 7, 8, 9, 10, 12, 15, 19, 21, 25, 26, 32, 46, 60)
_VERBS: Final = (
    *("get", "list", "search", "create", "update", "delete", "export", "import", "count", "compare", "validate"),
    *("preview", "schedule", "archive", "restore", "rename", "merge", "translate", "summarise", "convert"),
)
_SUBJECTS: Final = (
    *("invoice", "customer", "ticket", "event", "file", "repository", "order", "note", "message", "report", "contract"),
    *("shipment", "vehicle", "recipe", "flight", "hotel", "player", "stock", "patent", "protein", "sensor", "pipeline"),
    *("deployment", "cluster", "image", "playlist", "podcast", "course", "lesson", "visitor", "campaign", "keyword"),
)
_SENTENCES: Final = (
    "{Verb}s a {subject} by its identifier and returns all of its fields.",
    "Works on every {subject} that the caller may see, newest first.",
    "Use this before asking for a single {subject}; the answer holds at most {number} entries.",
    "Returns a JSON object with the {subject}, its {other} and the time of its last change.",
    "Dates are ISO 8601 in UTC, amounts are in the smallest unit of the currency.",
    "Fails with a message when the {subject} does not exist or belongs to another {other}.",
    "Results are paged; pass the cursor of the last answer to read on.",
    "Free text is matched against the title and the {other} of each {subject}.",
    "The {other} may be left out, in which case the default of the account counts.",
    "Prefer narrow filters: more than {number} matches are cut off.",
    "Does not change anything; calling it twice gives the same {subject}.",
    "A finished {subject} stays readable for {number} days.",
)
_PARAMETERS: Final = (
    *("id", "query", "limit", "cursor", "format", "title", "language", "country", "start_date", "end_date", "status"),
    *("owner", "tags", "sort", "include_archived", "dry_run", "region", "currency", "radius", "note", "priority"),
)
_TYPES: Final = ("string", "string", "string", "integer", "boolean", "number")


def items(seed: int, number: int, name: str) -> list[Item]:
    """The whole list behind one of the four list methods."""
    chance = random.Random(f"{seed}:{number}:{name}")
    if name == "tools":
        return [_tool(chance, position) for position in range(chance.choice(_COUNTS))]
    if name == "prompts":
        return [{"name": f"brief_{n}", "description": _text(chance, 1)} for n in range(chance.randint(1, 4))]
    address = "uriTemplate" if name == "resourceTemplates" else "uri"
    return [
        {address: f"memo://{chance.choice(_SUBJECTS)}/{n}", "name": f"memo {n}", "description": _text(chance, 1)}
        for n in range(chance.randint(1, 6))
    ]


def _tool(chance: random.Random, position: int) -> Item:
    verb, subject = chance.choice(_VERBS), chance.choice(_SUBJECTS)
    tool: Item = {
        "name": f"{verb}_{subject}_{position}",
        "description": _text(chance, chance.choice((0, 1, 1, 1, 2, 2, 3, 4, 6, 30))),
        "inputSchema": _schema(chance),
    }
    if chance.random() < 0.4:
        tool["annotations"] = {"title": f"{verb} {subject}", "readOnlyHint": verb in {"get", "list", "search", "count"}}
    return tool


def _schema(chance: random.Random) -> Item:
    names = chance.sample(_PARAMETERS, chance.choice((0, 1, 2, 2, 3, 3, 4, 5, 8)))
    properties = {name: _parameter(chance) for name in names}
    required = [name for name in names if chance.random() < 0.5]
    return {"type": "object", "properties": properties} | ({"required": required} if required else {})


def _parameter(chance: random.Random) -> Item:
    parameter: Item = {"type": chance.choice(_TYPES)}
    if chance.random() < 0.85:
        parameter["description"] = _text(chance, 1)
    if parameter["type"] == "integer" and chance.random() < 0.5:
        parameter |= {"minimum": 1, "maximum": 100, "default": 20}
    return parameter


def _text(chance: random.Random, sentences: int) -> str:
    return " ".join(
        chance.choice(_SENTENCES).format(
            Verb=chance.choice(_VERBS).capitalize(),
            subject=chance.choice(_SUBJECTS),
            other=chance.choice(_SUBJECTS),
            number=chance.randint(2, 500),
        )
        for _ in range(sentences)
    )
