"""Tools of TypeScript and JavaScript servers are read as a client would list them, and what code computes is null."""

from __future__ import annotations

from typing import Any

import pytest

from evidence.derive.source.declared_tool import Tool
from evidence.derive.source.script_module import MAX_BYTES, Scripts
from evidence.derive.source.script_tools import find_script_tools
from evidence.derive.source.zod_schema import build_zod_schema
from tests.durations import cpu_below


def read(text: str, path: str = "src/index.ts", **others: str) -> dict[str, Tool]:
    files = {path: text.encode()} | {f"src/{name}.ts": other.encode() for name, other in others.items()}
    project = Scripts(files, build_zod_schema)
    return {tool.name: tool for path in files for tool in find_script_tools(path, project)}


def member(expression: str, head: str = "") -> Any:
    (tool,) = read(f"{head}\nserver.registerTool('t', {{inputSchema: {{a: {expression}}}}}, f)").values()
    return tool.input["properties"]["a"] if tool.input else None


def test_a_registered_tool_is_read() -> None:
    text = """
import { z } from "zod";
const NAME: string = "get-sum";
server.registerTool(NAME, {
  title: "Sum",
  description: `Returns the ${"sum"} ` + "of two\\n\\u{1F600}",
  inputSchema: { a: z.number().describe("First"), b: z.number().optional() },
  annotations: { readOnlyHint: true } as const,
}, async ({ a }) => { return {}; });
"""
    assert read(text)["get-sum"] == Tool(
        name="get-sum",
        description="Returns the sum of two\n😀",
        input={
            "type": "object",
            "properties": {"a": {"type": "number", "description": "First"}, "b": {"type": "number"}},
            "required": ["a"],
        },
        annotations={"readOnlyHint": True},
        path="src/index.ts",
        line=4,
        by="typescript",
    )


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("server.tool('t', 'Says.', {a: z.string()}, cb)", ("Says.", ["a"], None)),
        ("server.tool('t', {a: z.string()}, async () => 1)", (None, ["a"], None)),
        ("server.tool('t', 'Says.', async () => 1)", ("Says.", [], None)),
        ("server.tool('t', async () => 1)", (None, [], None)),
        ("server.tool('t', 'Says.', {a: z.string()}, {title: 'T'}, cb)", ("Says.", ["a"], {"title": "T"})),
        ("server.tool('t', text(), {a: z.string()}, cb)", (None, None, None)),
        ("this.mcpServer.tool('t', 'Says.', shape, cb)", ("Says.", ["a"], None)),
        ("s.tool('t', 'Says.', {}, cb); const s = new McpServer({})", ("Says.", [], None)),
        ("mcp.addTool({name: 't', description: 'Says.', parameters: z.object({a: z.string()}), execute: f})",
         ("Says.", ["a"], None)),
    ],
)  # fmt: skip
def test_older_and_other_ways_to_register_are_read(call: str, expected: tuple[Any, Any, Any]) -> None:
    (tool,) = read(f"const shape = {{a: z.string()}};\n{call};").values()
    names = list(tool.input["properties"]) if tool.input else None  # type: ignore[call-overload]
    assert (tool.description, names, tool.annotations) == expected


@pytest.mark.parametrize("call", ["cli.tool('t', 'Says.', cb)", "agent.tool('t', {}, cb)", "registerTool(x(), {}, cb)"])
def test_what_is_no_server_has_no_tools(call: str) -> None:
    assert read(call) == {}


@pytest.mark.parametrize(
    ("zod", "expected"),
    [
        ("z.string().min(1).max(MOST)", {"type": "string", "minLength": 1, "maxLength": 40}),
        ("z.string().email().trim().refine(x => x)", {"type": "string", "format": "email"}),
        ("z.string().regex(/^[a-z]+$/i)", {"type": "string", "pattern": "^[a-z]+$"}),
        ("z.coerce.number().int().positive()", {"type": "integer", "exclusiveMinimum": 0}),
        ("z.enum(['x', 'y']).default('x')", {"type": "string", "enum": ["x", "y"], "default": "x"}),
        ("z.nativeEnum(Color)", {"type": "string", "enum": ["red"]}),
        ("z.array(z.string().url()).min(2)",
         {"type": "array", "items": {"type": "string", "format": "uri"}, "minItems": 2}),
        ("z.record(z.string(), z.boolean())", {"type": "object", "additionalProperties": {"type": "boolean"}}),
        ("z.union([z.string(), z.null()])", {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ("z.string().or(z.number())", {"anyOf": [{"type": "string"}, {"type": "number"}]}),
        ("z.string().nullable()", {"type": ["string", "null"]}),
        ("z.literal('k')", {"type": "string", "const": "k"}),
        ("Base.extend({c: z.any()}).omit({b: true})",
         {"type": "object", "properties": {"a": {"type": "string"}, "c": {}}, "required": ["a"]}),
        ("z.object({...Base.shape, d: z.number()})",
         {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}, "d": {"type": "number"}},
          "required": ["a", "d"]}),
    ],
)  # fmt: skip
def test_zod_becomes_a_schema(zod: str, expected: object) -> None:
    head = (
        "const MOST = 40; enum Color { RED = 'red' }\nconst Base = z.object({a: z.string(), b: z.string().optional()});"
    )
    assert member(zod, head) == expected


@pytest.mark.parametrize(
    "zod", ["z.string().max(limit())", "z.custom()", "make()", "z.enum(values)", "z.string().unheard()", "Elsewhere"]
)
def test_a_schema_that_is_not_plain_is_null(zod: str) -> None:
    assert member(zod) is None


def test_a_listing_of_literals_is_read() -> None:
    text = """
const CLICK = { name: "click", description: "Clicks", inputSchema: { type: "object", properties: {} } };
server.setRequestHandler(ListToolsRequestSchema, async () => ({
  tools: [CLICK, { name: NAMES.TYPE, description: long.join(" "), inputSchema: zodToJsonSchema(Schema) },
          { name: compute(), inputSchema: {} }],
}));
const NAMES = Object.freeze({ TYPE: "type" });
const long = ["Types", "text"];
const Schema = z.object({ text: z.string() });
"""
    tools = read(text, "src/index.js")
    assert list(tools) == ["click", "type"]
    assert (tools["type"].description, tools["type"].by) == ("Types text", "javascript")
    assert tools["type"].input == {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def test_names_of_other_files_are_followed() -> None:
    text = """
import { NAME as N, Shape } from "./far.js";
import * as all from "./far.js";
import said from "./said";
server.registerTool(N, { description: said, inputSchema: Shape }, f);
server.registerTool(all.OTHER, { description: all.Texts.long, inputSchema: all.Shape }, f);
"""
    far = """
export const NAME = "far"; export const OTHER = "other"; export const Texts = {long: "L"};
export { Shape } from "./shape.js";
"""
    tools = read(text, far=far, said='export default "Said";', shape="export const Shape = {a: z.string()};")
    assert (tools["far"].description, tools["other"].description) == ("Said", "L")
    assert tools["far"].input == tools["other"].input != None  # noqa: E711


def test_a_tool_of_an_own_framework_is_known_by_its_handler() -> None:
    text = "const t = define({name: 'snap', description: 'Takes', schema: {a: zod.string()}, handler: async () => {}});"
    assert list(read(text)) == ["snap"]
    assert read("const route = {name: 'snap', description: 'x', schema: {}};") == {}


HOSTILE = {
    "brackets": "[" * 100_000,
    "calls": "a" + ".b()" * 50_000,
    "templates": "`${" * 50_000,
    "async": "async(" * 15_000,
    "generics": "a<" * 15_000,
    "braces": "{" * 100_000,
    "quotes": "'" * 15_000,
    "long": "x" * (MAX_BYTES + 1),
    "nul": "\0" * 1_000,
    "comment": "/*",
    "chain": "const c = z" + ".optional()" * 20_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_source_that_is_made_against_the_parser_ends_soon(text: str) -> None:
    with cpu_below(12):
        read(f"server.registerTool('t', {{inputSchema: {{a: z.string()}}}}, f);\n{text}")


def test_constants_that_double_at_each_level_are_bounded() -> None:
    lines = [
        f"const a{at} = a{at + 1} + a{at + 1}; const s{at} = z.object({{a: s{at + 1}, b: s{at + 1}}});"
        for at in range(30)
    ]
    text = "\n".join([*lines, "const a30 = 'x'; const s30 = z.string();"])
    with cpu_below(12):
        tools = read(f"{text}\nserver.registerTool('t', {{description: a0, inputSchema: s0}}, f);")
        assert (tools["t"].description, tools["t"].input) == (None, None)


def test_names_that_stand_for_themselves_end() -> None:
    tools = read(
        "import {b as a} from './index.js'; const c = d; const d = c;"
        "server.registerTool('t', {description: c, inputSchema: a}, f);"
    )
    assert (tools["t"].description, tools["t"].input) == (None, None)
