"""Tools of Python servers are read as a client would list them, and what code computes is null."""

from __future__ import annotations

from typing import Any

import pytest

from evidence.derive.source.declared_tool import Tool
from evidence.derive.source.python_module import MAX_BYTES, PythonProject, parse_python
from evidence.derive.source.python_schema import build_type_schema
from evidence.derive.source.python_tools import find_python_tools
from tests.durations import cpu_below

HEAD = "from mcp.server.fastmcp import FastMCP, Context\nmcp = FastMCP('x')\n"


def read(text: str, **others: str) -> dict[str, Tool]:
    files = {"src/app/server.py": text} | {f"src/app/{name}.py": other for name, other in others.items()}
    project = PythonProject(files, build_type_schema)
    return {tool.name: tool for path in files for tool in find_python_tools(path, project)}


def schema(signature: str, head: str = "") -> Any:
    (tool,) = read(f"{HEAD}{head}\n@mcp.tool()\ndef f({signature}): ...\n").values()
    return tool.input


def test_a_decorated_function_is_a_tool() -> None:
    tools = read(
        f'{HEAD}\n@mcp.tool()\nasync def add(a: int, b: int = 2) -> int:\n    """Add two.\n\n    Slowly.\n    """\n'
    )
    assert tools["add"] == Tool(
        name="add",
        description="Add two.\n\nSlowly.",
        input={
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 2}},
            "required": ["a"],
        },
        annotations=None,
        path="src/app/server.py",
        line=5,
        by="python",
    )


@pytest.mark.parametrize(
    ("decorator", "name", "description"),
    [
        ("@mcp.tool", "f", "Doc."),
        ("@mcp.tool('named')", "named", "Doc."),
        ("@mcp.tool(name='named', description='Said.')", "named", "Said."),
        ("@mcp.tool(name=NAME, description=LONG)", "constant", "one two"),
        ("@mcp.tool(description=load())", "f", None),
        ("@mcp.tool(name=f'{NAME}_x')", "constant_x", "Doc."),
    ],
)
def test_names_and_descriptions_come_from_the_decorator(decorator: str, name: str, description: str | None) -> None:
    text = f"{HEAD}NAME = 'constant'\nLONG = ('one '\n  'two')\n{decorator}\ndef f():\n    'Doc.'\n"
    (tool,) = read(text).values()
    assert (tool.name, tool.description) == (name, description)


def test_a_name_that_is_computed_is_no_tool() -> None:
    assert read(f"{HEAD}\n@mcp.tool(name=make())\ndef f(): ...\n") == {}


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        ("str", {"type": "string"}),
        ("list[str]", {"type": "array", "items": {"type": "string"}}),
        ("List", {"type": "array", "items": {}}),
        ("dict[str, float]", {"type": "object", "additionalProperties": {"type": "number"}}),
        ("dict", {"type": "object", "additionalProperties": True}),
        ("Optional[bool]", {"anyOf": [{"type": "boolean"}, {"type": "null"}]}),
        ("str | int | None", {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}),
        ("'str | None'", {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ("Literal['a', 'b']", {"enum": ["a", "b"], "type": "string"}),
        ("Literal['a']", {"const": "a", "type": "string"}),
        ("Any", {}),
        ("datetime", {"type": "string", "format": "date-time"}),
        ("Annotated[int, Field(ge=1, le=9, description='d')]",
         {"type": "integer", "minimum": 1, "maximum": 9, "description": "d"}),
        ("Annotated[list[str], Field(min_length=1)]", {"type": "array", "items": {"type": "string"}, "minItems": 1}),
        ("Color", {"enum": ["red", "blue"], "type": "string"}),
        ("Alias", {"enum": [1, 2], "type": "integer"}),
    ],
)  # fmt: skip
def test_types_become_schemas(type_: str, expected: object) -> None:
    head = "class Color(str, Enum):\n    RED = 'red'\n    BLUE = 'blue'\nAlias = Literal[1, 2]\n"
    assert schema(f"a: {type_}", head)["properties"]["a"] == expected


@pytest.mark.parametrize(
    "type_", ["Thing", "module.Thing", "Callable[[int], str]", "list[Thing]", "type[int]", "1 + 1"]
)
def test_a_type_that_is_not_known_makes_the_schema_null(type_: str) -> None:
    assert schema(f"a: {type_}") is None


def test_models_are_written_out_in_place() -> None:
    head = (
        "class Base(BaseModel):\n    key: str\n"
        "class Note(Base):\n    '''A note.'''\n    model_config = {}\n"
        "    text: str = Field(..., max_length=9)\n    stars: int = 3\n"
    )
    assert schema("note: Note, notes: list[Note] = []", head)["properties"]["note"] == {
        "type": "object",
        "description": "A note.",
        "properties": {
            "key": {"type": "string"},
            "text": {"type": "string", "maxLength": 9},
            "stars": {"type": "integer", "default": 3},
        },
        "required": ["key", "text"],
    }


def test_what_the_framework_supplies_is_no_parameter() -> None:
    signature = "self, ctx: Context, other: 'Context[A, B]', key: str, db = Depends(get)"
    assert schema(signature) == {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}
    assert schema("*args") is None


def test_constants_of_other_files_are_followed() -> None:
    imports = "from .names import TITLE\nfrom app import names\n"
    text = f"{imports}{HEAD}@mcp.tool(name=TITLE, description=names.SAID)\ndef f(): ...\n"
    tools = read(text, names="TITLE = 'far'\nSAID = 'away'\n", __init__="")
    assert (tools["far"].name, tools["far"].description) == ("far", "away")


def test_tools_of_the_low_level_server_are_read() -> None:
    text = """
import mcp.types as types
class Names(str, Enum):
    LOG = "git_log"
class Log(BaseModel):
    repo: str
@app.list_tools()
async def tools():
    return [types.Tool(name=Names.LOG, description=f"Shows {'the'} log", inputSchema=Log.model_json_schema(),
                       annotations=types.ToolAnnotations(readOnlyHint=True, title=None)),
            Tool(name="other", inputSchema={"type": "object", **EXTRA}, description=TEXT.strip())]
EXTRA = {"required": ["a"]}
TEXT = ''' padded '''
"""
    tools = read(text)
    assert tools["git_log"].input == {
        "type": "object",
        "properties": {"repo": {"type": "string"}},
        "required": ["repo"],
    }
    assert (tools["git_log"].description, tools["git_log"].annotations) == ("Shows the log", {"readOnlyHint": True})
    assert (tools["other"].input, tools["other"].description) == ({"type": "object", "required": ["a"]}, "padded")


def test_functions_that_are_handed_over_are_tools() -> None:
    text = f"{HEAD}def f(a: int): 'One.'\ndef g(): 'Two.'\nmcp.add_tool(f, name='one')\nmcp.tool(name='two')(g)\n"
    assert {tool.name: tool.description for tool in read(text).values()} == {"one": "One.", "two": "Two."}


@pytest.mark.parametrize(
    "text",
    [
        "from pydantic_ai import Agent\nimport mcp\nagent = Agent()\n@agent.tool\ndef f(): ...\n",
        "from langchain.tools import tool\n# mcp\n@tool\ndef f(): ...\n",
        "import mcp\n@registry.tools.append\ndef f(): ...\n",
        "import mcp\nTool(name='x')\n",
        "mcp = 1\ndef tool(",
    ],
)
def test_what_is_no_server_has_no_tools(text: str) -> None:
    assert read(text) == {}


def test_a_constant_that_is_assigned_twice_is_not_guessed() -> None:
    text = f"{HEAD}SAID = 'a'\nif x:\n    SAID = 'b'\n@mcp.tool(description=SAID)\ndef f(): ...\n"
    assert read(text)["f"].description is None


HOSTILE = {
    "open": "(" * 50_000,
    "lists": "[" * 3_000 + "]" * 3_000,
    "minus": "-" * 100_000 + "1",
    "attributes": "a" + ".b" * 30_000,
    "sum": "x = " + "1+" * 30_000 + "1",
    "lambdas": "lambda:" * 50_000 + "1",
    "branches": "if a: pass\n" + "elif a: pass\n" * 20_000,
    "formats": "x = " + "f'{a}' " * 5_000,
    "digits": "1" * 100_000,
    "nul": "\0",
    "half": "'\\ud800'",
    "long": "x" * (MAX_BYTES + 1),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_source_that_is_made_against_the_parser_ends_soon(text: str) -> None:
    with cpu_below(10):
        tree = parse_python(text)
        assert read(f"{HEAD}@mcp.tool()\ndef f(): ...\n{text}") is not None
        assert tree is None or tree.body is not None


def test_constants_that_double_at_each_level_are_bounded() -> None:
    lines = [f"A{at} = A{at + 1} + A{at + 1}" for at in range(30)]
    nested = [f"B{at} = [B{at + 1}, B{at + 1}]" for at in range(30)]
    text = "\n".join(
        [HEAD, *lines, "A30 = 'x'", *nested, "B30 = 1", "@mcp.tool(description=A0)\ndef f(a: str = B0): ..."]
    )
    with cpu_below(10):
        assert read(text)["f"].description is None


def test_names_that_stand_for_themselves_end() -> None:
    text = f"{HEAD}A = B\nB = A\nclass M(M): a: 'M'\n@mcp.tool(description=A)\ndef f(m: M): ...\n"
    assert read(text)["f"].input is None
