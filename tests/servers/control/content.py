"""The fixed contents: pictures, sounds, resources and prompts that the conformance suite asks for by name."""

from __future__ import annotations

import base64
import re
import struct
import zlib
from typing import Any

import mcp_types as types
from mcp import MCPError
from mcp.server import ServerRequestContext

Context = ServerRequestContext[Any, Any]

RESOURCE_NOT_FOUND = -32002
"""What revisions before 2026-07-28 recommend; later ones say -32602."""


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _red_dot() -> str:
    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    chunks = _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")) + _chunk(b"IEND", b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + chunks).decode()


def _silence() -> str:
    samples = bytes(8)
    form = struct.pack("<HHIIHH", 1, 1, 8000, 8000, 1, 8)
    riff = b"WAVEfmt " + struct.pack("<I", 16) + form + b"data" + struct.pack("<I", len(samples)) + samples
    return base64.b64encode(b"RIFF" + struct.pack("<I", len(riff)) + riff).decode()


PNG = _red_dot()
WAV = _silence()

RESOURCES = [
    types.Resource(
        uri="test://static-text", name="static-text", description="A text that never changes.", mime_type="text/plain"
    ),
    types.Resource(
        uri="test://static-binary", name="static-binary", description="A red dot, as a PNG.", mime_type="image/png"
    ),
    types.Resource(
        uri="test://watched-resource",
        name="watched-resource",
        description="A text that can be subscribed to.",
        mime_type="text/plain",
    ),
]
TEMPLATES = [
    types.ResourceTemplate(
        uri_template="test://template/{id}/data",
        name="template-data",
        description="The data of one id.",
        mime_type="application/json",
    )
]
_TEMPLATE = re.compile(r"test://template/([^/]+)/data")


def text(words: str) -> types.TextContent:
    """A text block."""
    return types.TextContent(text=words)


def image() -> types.ImageContent:
    """The red dot."""
    return types.ImageContent(data=PNG, mime_type="image/png")


def embedded(uri: str, words: str, kind: str = "text/plain") -> types.EmbeddedResource:
    """A resource inside other content."""
    return types.EmbeddedResource(resource=types.TextResourceContents(uri=uri, mime_type=kind, text=words))


async def read(ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    """One resource; an unknown URI is the error that the revision in force names."""
    uri = str(params.uri)
    found: types.TextResourceContents | types.BlobResourceContents
    if uri == "test://static-binary":
        found = types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG)
    elif uri in {"test://static-text", "test://watched-resource"}:
        words = "This is the content of the static text resource."
        found = types.TextResourceContents(uri=uri, mime_type="text/plain", text=words)
    elif match := _TEMPLATE.fullmatch(uri):
        words = f'{{"id":"{match[1]}","templateTest":true,"data":"Data for ID: {match[1]}"}}'
        found = types.TextResourceContents(uri=uri, mime_type="application/json", text=words)
    else:
        code = types.INVALID_PARAMS if ctx.protocol_version >= "2026-07-28" else RESOURCE_NOT_FOUND
        raise MCPError(code, "Resource not found", {"uri": uri})
    return types.ReadResourceResult(contents=[found])


def _argument(name: str, about: str) -> types.PromptArgument:
    return types.PromptArgument(name=name, description=about, required=True)


PROMPTS = [
    types.Prompt(name="test_simple_prompt", description="A prompt without arguments."),
    types.Prompt(
        name="test_prompt_with_arguments",
        description="A prompt that repeats its two arguments.",
        arguments=[_argument("arg1", "What comes first."), _argument("arg2", "What comes second.")],
    ),
    types.Prompt(
        name="test_prompt_with_embedded_resource",
        description="A prompt around one resource.",
        arguments=[_argument("resourceUri", "URI of the resource.")],
    ),
    types.Prompt(name="test_prompt_with_image", description="A prompt with a picture."),
    types.Prompt(name="test_input_required_result_prompt", description="A prompt that first asks for a context."),
]


def prompt(name: str, arguments: dict[str, str]) -> types.GetPromptResult:
    """One prompt's messages; unknown names and missing arguments are -32602."""
    known = {one.name: one for one in PROMPTS}.get(name)
    if known is None:
        raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {name}")
    if missing := [one.name for one in known.arguments or [] if one.name not in arguments]:
        raise MCPError(types.INVALID_PARAMS, f"Missing argument: {', '.join(missing)}")
    blocks: list[types.ContentBlock] = {
        "test_prompt_with_arguments": lambda: [
            text(f"Prompt with arguments: arg1='{arguments['arg1']}', arg2='{arguments['arg2']}'")
        ],
        "test_prompt_with_embedded_resource": lambda: [
            embedded(arguments["resourceUri"], "Embedded resource content for testing."),
            text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image": lambda: [image(), text("Please analyze the image above.")],
    }.get(name, lambda: [text("This is a simple prompt for testing.")])()
    messages = [types.PromptMessage(role="user", content=block) for block in blocks]
    return types.GetPromptResult(description=known.description, messages=messages)
