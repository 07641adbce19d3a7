"""The tools of the control, in the order in which they are listed."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import mcp_types as types
from mcp import MCPError
from mcp.server.subscriptions import InMemorySubscriptionBus, PromptsListChanged, ToolsListChanged

from tests.servers.control import asking
from tests.servers.control.asking import Answer, Ask, said
from tests.servers.control.content import WAV, Context, embedded, image, text

NOTHING: Final[Mapping[str, Any]] = {"type": "object", "properties": {}, "additionalProperties": False}
BUS = InMemorySubscriptionBus()
_PAUSE = 0.05

# Every keyword that a naive list of known keywords loses on the way to the client.
SCHEMA_2020: Final[Mapping[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixture:
    """One tool: what is listed and what is called. `reads` becomes readOnlyHint."""

    name: str
    about: str
    call: Ask
    schema: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    output: Mapping[str, Any] | None = None
    reads: bool = False

    @property
    def listed(self) -> types.Tool:
        """Its entry in tools/list."""
        return types.Tool(
            name=self.name,
            description=self.about,
            input_schema=dict(self.schema),
            output_schema=dict(self.output) if self.output else None,
            annotations=types.ToolAnnotations(read_only_hint=self.reads, destructive_hint=False, open_world_hint=False),
        )


def always(*blocks: types.ContentBlock, error: bool = False) -> Ask:
    """A tool that returns the same blocks for ever."""

    async def call(ctx: Context, params: types.CallToolRequestParams) -> Answer:
        return types.CallToolResult(content=list(blocks), is_error=error)

    return call


async def log(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    """Three log messages with pauses; on 2026-07-28 only for a caller who asked for them."""
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            await ctx.session.send_log_message("info", words, related_request_id=ctx.request_id)
        await anyio.sleep(_PAUSE)
    return said("Tool with logging executed")


async def progress(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    """Progress 0, 50 and 100 of 100."""
    for share in (0, 50, 100):
        await ctx.session.report_progress(share, 100)
        await anyio.sleep(_PAUSE)
    return said("Tool with progress executed")


async def reconnect(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    """Close the answer's stream first, where the transport can replay it."""
    if ctx.close_sse_stream is not None:
        await ctx.close_sse_stream()
        await anyio.sleep(2 * _PAUSE)
    return said("Reconnection test completed successfully")


async def stream(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    """Say something on the stream, then ask by a result and never by a request."""
    await ctx.session.report_progress(0, 1)
    return types.InputRequiredResult(input_requests=asking.NAME)


async def need_sampling(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    """Refuse a client that declares no sampling."""
    asking.require(ctx, "sampling")
    return said("the client can sample")


async def count_words(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    """Count words; structured."""
    words = (params.arguments or {}).get("text")
    if not isinstance(words, str):
        return types.CallToolResult(content=[text("text must be a string")], is_error=True)
    count = len(words.split())
    return types.CallToolResult(content=[text(str(count))], structured_content={"words": count})


async def change_tools(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    """Announce that the tools changed."""
    await BUS.publish(ToolsListChanged())
    return said("announced")


async def change_prompts(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    """Announce that the prompts changed."""
    await BUS.publish(PromptsListChanged())
    return said("announced")


def strings(**about: str) -> dict[str, Any]:
    """An input schema of required strings."""
    properties = {name: {"type": "string", "description": words} for name, words in about.items()}
    return {"type": "object", "properties": properties, "required": list(about), "additionalProperties": False}


HEADERS = {
    "type": "object",
    "properties": {"region": {"type": "string", "description": "Where to look.", "x-mcp-header": "Region"}},
    "required": ["region"],
}
COUNTED = {"type": "object", "properties": {"words": {"type": "integer", "minimum": 0}}, "required": ["words"]}

_DATA = '{"test":"data","value":123}'
_MIXED = (
    text("Multiple content types test:"),
    image(),
    embedded("test://mixed-content-resource", _DATA, "application/json"),
)

FIXTURES: Final[tuple[Fixture, ...]] = (
    Fixture(
        name="test_simple_text",
        about="Returns a fixed sentence.",
        call=always(text("This is a simple text response for testing.")),
        reads=True,
    ),
    Fixture(name="test_image_content", about="Returns a picture of one red dot.", call=always(image()), reads=True),
    Fixture(
        name="test_audio_content",
        about="Returns a moment of silence as audio.",
        call=always(types.AudioContent(data=WAV, mime_type="audio/wav")),
        reads=True,
    ),
    Fixture(
        name="test_embedded_resource",
        about="Returns a resource inside the result.",
        call=always(embedded("test://embedded-resource", "This is an embedded resource content.")),
        reads=True,
    ),
    Fixture(
        name="test_multiple_content_types",
        about="Returns text, a picture and a resource together.",
        call=always(*_MIXED),
        reads=True,
    ),
    Fixture(
        name="count_words",
        about="Counts the words of a text and returns the number in a structured result.",
        call=count_words,
        schema=strings(text="The text whose words are counted."),
        output=COUNTED,
        reads=True,
    ),
    Fixture(
        name="json_schema_2020_12_tool",
        about="Accepts an address book entry described with JSON Schema 2020-12.",
        call=always(text("accepted")),
        schema=SCHEMA_2020,
    ),
    Fixture(
        name="test_headers",
        about="Takes a region that is mirrored in a header.",
        call=always(text("found")),
        schema=HEADERS,
    ),
    Fixture(
        name="test_error_handling",
        about="Always fails with a message inside the result.",
        call=always(text("This tool intentionally returns an error for testing"), error=True),
    ),
    Fixture(name="test_tool_with_logging", about="Sends three log messages while it runs.", call=log),
    Fixture(name="test_logging_tool", about="Sends log messages to callers who ask for them.", call=log),
    Fixture(name="test_tool_with_progress", about="Reports its progress three times.", call=progress),
    Fixture(name="test_reconnection", about="Closes its stream and answers on the next one.", call=reconnect),
    Fixture(name="test_streaming_elicitation", about="Streams its progress and then asks for a name.", call=stream),
    Fixture(name="test_missing_capability", about="Needs a client that can sample.", call=need_sampling),
    Fixture(
        name="test_sampling",
        about="Asks the client's model and returns what it said.",
        call=asking.sample,
        schema=strings(prompt="What the model is asked."),
    ),
    Fixture(
        name="test_elicitation",
        about="Asks the user for a name and an address.",
        call=asking.elicit,
        schema=strings(message="What the user is asked."),
    ),
    Fixture(
        name="test_elicitation_sep1034_defaults",
        about="Asks the user with a default for every kind of field.",
        call=asking.form(asking.DEFAULTS, message="Please review your data"),
    ),
    Fixture(
        name="test_elicitation_sep1330_enums",
        about="Asks the user to choose, in every form that a choice may take.",
        call=asking.form(asking.ENUMS, message="Please choose"),
    ),
    Fixture(
        name="test_input_required_result_elicitation",
        about="Asks for a name in a result.",
        call=asking.rounds(asking.NAME),
    ),
    Fixture(
        name="test_input_required_result_sampling",
        about="Asks for a completion in a result.",
        call=asking.rounds(asking.CAPITAL),
    ),
    Fixture(
        name="test_input_required_result_list_roots",
        about="Asks for the roots in a result.",
        call=asking.rounds(asking.ROOTS),
    ),
    Fixture(
        name="test_input_required_result_request_state",
        about="Asks for a confirmation and keeps state with the client.",
        call=asking.rounds(asking.CONFIRM, state="confirming"),
    ),
    Fixture(
        name="test_input_required_result_tampered_state",
        about="Refuses state that the client has changed.",
        call=asking.rounds(asking.CONFIRM, state="guarded"),
    ),
    Fixture(
        name="test_input_required_result_multiple_inputs",
        about="Asks for three things in one result.",
        call=asking.rounds(asking.NAME | asking.GREETING | asking.ROOTS, state="gathering"),
    ),
    Fixture(
        name="test_input_required_result_multi_round",
        about="Asks twice, one after the other.",
        call=asking.rounds(asking.STEP_1, asking.STEP_2, state="stepping"),
    ),
    Fixture(
        name="test_input_required_result_capabilities",
        about="Asks only for what the client can do.",
        call=asking.only_declared,
    ),
    Fixture(name="test_trigger_tool_change", about="Announces that the tools changed.", call=change_tools),
    Fixture(name="test_trigger_prompt_change", about="Announces that the prompts changed.", call=change_prompts),
)
_BY_NAME: Final = {fixture.name: fixture for fixture in FIXTURES}


async def call(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    """Call one tool; an unknown name is -32602."""
    fixture = _BY_NAME.get(params.name)
    if fixture is None:
        raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
    return await fixture.call(ctx, params)
