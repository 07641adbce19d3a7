"""A README is taken apart into what a reader looks for."""

from __future__ import annotations

import pytest

from evidence.derive.source.readme import MAX_PART, is_readme, parse_readme
from tests.durations import cpu_below

TEXT = """
# My *server*

<!-- mcp-name: io.github.acme/server -->

Installation notes below.

## Tools

- `add` adds

### add

Adds two.

## 🚀 Quick Start

```json
{ "mcpServers": { "acme": { "command": "npx" } } }
```

```bash
# not a heading
npx acme
```

Environment Variables
---------------------

`ACME_KEY`: the key

## Examples

Ask for a sum.

## License

MIT
"""


def test_the_parts_of_a_readme_are_found() -> None:
    parts = parse_readme(TEXT)
    assert parts.sections == (
        "My server",
        "Tools",
        "add",
        "🚀 Quick Start",
        "Environment Variables",
        "Examples",
        "License",
    )
    assert parts.tools == "- `add` adds\n\nadd\nAdds two."
    assert parts.install is not None
    assert "npx acme" in parts.install
    assert parts.snippet == '{ "mcpServers": { "acme": { "command": "npx" } } }'
    assert (parts.environment, parts.examples) == ("`ACME_KEY`: the key", "Ask for a sum.")
    assert (parts.licence, parts.mcp_name) == (True, "io.github.acme/server")
    assert parts.words > 20


def test_what_is_not_there_is_null() -> None:
    parts = parse_readme("Just a text.")
    assert (parts.sections, parts.install, parts.snippet, parts.environment, parts.tools) == (
        (),
        None,
        None,
        None,
        None,
    )
    assert (parts.licence, parts.mcp_name, parts.words) == (False, None, 3)


@pytest.mark.parametrize(
    "line", ["claude mcp add acme -- npx acme", "Run `claude mcp add acme` now", 'code --add-mcp \'{"name":"x"}\'']
)
def test_a_command_that_adds_the_server_is_a_snippet(line: str) -> None:
    assert parse_readme(f"# X\n\n{line}\n").snippet == line


def test_a_command_is_how_to_install_where_no_heading_says_so() -> None:
    assert parse_readme("# X\n\nUse `uvx acme`.\n").install == "Use `uvx acme`."


@pytest.mark.parametrize(
    "text",
    [
        "## What can you do with it?\n\n> Find my notes of May.",
        "## What you can do\n\n> Find my notes of May.",
        "## Searching\n\n**Effective examples**\n\n- `from:me`\n\n**Dates**\n\nISO.",
    ],
)
def test_an_example_may_stand_below_a_question_or_a_bold_line(text: str) -> None:
    found = parse_readme(text).examples
    assert found is not None
    assert "ISO" not in found


def test_parts_are_bounded() -> None:
    parts = parse_readme("# Install\n" + "word " * 5_000 + "\n# S\n" * 200)
    assert parts.install is not None
    assert (len(parts.install), len(parts.sections)) == (MAX_PART, 60)


HOSTILE = {
    "hashes": "#" * 300_000,
    "brackets": "[" * 300_000,
    "tags": "<h1>" * 80_000,
    "ticks": "`" * 300_000,
    "fences": "```\n" * 70_000,
    "stars": "*a" * 150_000,
    "lines": "=\n" * 150_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_readme_ends_soon(text: str) -> None:
    with cpu_below(10):
        parse_readme(text)


def test_names_of_readmes_are_known() -> None:
    assert [is_readme(name) for name in ("README.md", "readme", "Readme.rst", "README-de.md", "readme.py")] == [
        True, True, True, False, False,
    ]  # fmt: skip


def test_what_may_be_a_variable_is_found_in_whatever_part() -> None:
    parts = parse_readme("# Acme\n\nNeeds `ACME_KEY`.\n\n## Deploying\n\nSet ACME_REGION=eu first.\n")
    assert {"ACME_KEY", "ACME_REGION"} <= parts.identifiers
    assert "ACME" not in parts.identifiers
