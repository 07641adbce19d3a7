"""Builders for the examples in rule declarations: real things of each scope from a few keywords.

A keyword is a member as the server would send it; UNDEFINED leaves a default out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from evidence.canonical import Json
from evidence.kinds.listing import UNDEFINED, Item, Listing
from evidence.kinds.registration import Registration
from scoring.engine import walk
from scoring.scopes import base

EMPTY_SCHEMA: Final[Mapping[str, Json]] = {"type": "object", "properties": {}}


def build_tool(name: Any = "get-record", **members: Any) -> base.Tool:
    """A tool; the defaults are a name, a good description and an empty input schema."""
    defaults = {"description": "Retrieves one record by its identifier.", "inputSchema": EMPTY_SCHEMA}
    return base.Tool(item=_item({"name": name, **defaults, **members}), at=f"tools/{name}", position=(0,))


def build_tool_with_params(*required: Any, **properties: Any) -> base.Tool:
    """A tool whose input schema has the given properties, some of them required."""
    return build_tool(inputSchema={"type": "object", "properties": properties, "required": list(required)})


def build_param(name: str = "query", raw: Any = UNDEFINED, **keywords: Any) -> base.Param:
    """A parameter; the default is a string with a description; `raw` replaces the whole schema."""
    if raw is UNDEFINED:
        raw = _members({"type": "string", "description": "Words to search for.", **keywords})
    return walk.list_params(build_tool_with_params(**{name: raw}))[0]


def build_toolset(*tools: base.Tool) -> base.Toolset:
    return base.Toolset(at="tools", tools=tools)


def build_resource(**members: Any) -> base.Resource:
    """A resource; the defaults are URI, name, description and MIME type."""
    defaults = {"uri": "notes://today", "name": "today", "description": "Notes of today.", "mimeType": "text/plain"}
    return base.Resource(item=_item({**defaults, **members}), at="resources/today", position=(0,))


def build_template(**members: Any) -> base.ListedResource:
    """A resource template; the defaults are a URI template and a name."""
    defaults = {"uriTemplate": "notes://{day}", "name": "day"}
    return base.ListedResource(item=_item({**defaults, **members}), at="resourceTemplates/day", position=(0,))


def build_prompt(**members: Any) -> base.Prompt:
    """A prompt; the defaults are a name and a description."""
    defaults = {"name": "summarise", "description": "Summarises the notes of one day."}
    return base.Prompt(item=_item({**defaults, **members}), at="prompts/summarise", position=(0,))


def build_prompt_arg(**members: Any) -> base.PromptArg:
    """An argument of a prompt; the defaults are a name and a description."""
    return walk.list_arguments(
        build_prompt(arguments=[_members({"name": "day", "description": "Day to read.", **members})])
    )[0]


def build_server(
    *,
    tools: int = 1,
    resources: int = 0,
    prompts: int = 0,
    installed: Mapping[str, Json] | None = None,
    **opening: Any,
) -> base.Server:
    """A server; further keywords are members of its `initialize` result."""
    defaults = {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "notes", "version": "1.0.0"},
    }
    body: dict[str, Json] = {"opening": _members({**defaults, **opening}), "era": "legacy", "transport": "stdio"}
    body["protocolVersion"] = opening.get("protocolVersion", "2025-11-25")
    if installed:
        body["installed"] = installed
    return base.Server(at="server", listing=Listing(body), tools=tools, resources=resources, prompts=prompts)


def build_texts(text: str = "Reads the notes of one day.", *others: str, **members: Any) -> base.Said:
    """The texts of a server: tool `read_notes` with this description, and further tools by name."""
    tools = [{"name": "read_notes", "description": text, **members}, *({"name": name} for name in others)]
    part: dict[str, Json] = {"declared": True, "end": "complete", "error": None, "pages": [{"tools": tools}]}
    return base.Said(at="server", listing=Listing({"lists": {"tools": part}}))


def build_registration(*entries: Mapping[str, Any]) -> base.Registered:
    refs = tuple(_members({"registry": "starter", "name": "io.example/notes", "entry": entry}) for entry in entries)
    return base.Registered(at="registration", registration=Registration(refs))


def build_package(**members: Any) -> base.Package:
    """A package of a registry entry; the default is npm over stdio."""
    defaults = {"registryType": "npm", "identifier": "notes-mcp", "version": "1.0.0", "transport": {"type": "stdio"}}
    return base.Package(at="registration/packages/notes-mcp", raw=_members({**defaults, **members}))


def build_remote(**members: Any) -> base.Remote:
    """A remote of a registry entry; the default is streamable HTTP."""
    defaults = {"type": "streamable-http", "url": "https://notes.example/mcp"}
    return base.Remote(at="registration/remotes/notes", raw=_members({**defaults, **members}))


def build_setting(name: str = "NOTES_FOLDER", **members: Any) -> base.Setting:
    """A value that a user has to provide; the default has a description."""
    raw = _members({"name": name, "description": "Folder that holds the notes.", **members})
    return base.Setting(at=f"registration/settings/{name}", raw=raw)


def _item(members: Mapping[str, Any]) -> Item:
    return Item(_members(members), 0)


def _members(members: Mapping[str, Any]) -> dict[str, Json]:
    """The members as parsed JSON, so that examples hold only values that a server can send."""
    kept = {name: value for name, value in members.items() if value is not UNDEFINED}
    parsed: dict[str, Json] = json.loads(json.dumps(kept))
    return parsed
