"""Projects as their archives hold them: one that is well kept, and one that was left alone with a key in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.crawler.archives.building import files

PLANTED = "ghp_" + "wQ7rT2yU9iO4pA6sD1fG8hJ3kL5zX0cV" + "bN7m"
"""Has the form of a token of GitHub and opens nothing."""

SNIPPET = {"mcpServers": {"notes": {"command": "npx", "args": ["-y", "@example/notes"], "env": {"NOTES_URL": "..."}}}}

README = f"""# Notes

A server that keeps notes.

## Installation

Run `npm install -g @example/notes`.

## Configuration

```json
{json.dumps(SNIPPET, indent=2)}
```

Set `NOTES_URL` to the address of your notes.

## Tools

- `get_note` returns one note.
- `add_note` adds a note.

## Examples

Ask "what did I write on Monday?".

## License

MIT
"""

TOOLS = """import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
const server = new McpServer({ name: "notes", version: "1.0.0" });
server.registerTool("get_note", { description: "Returns one note." }, async () => ({ content: [] }));
const address = process.env.NOTES_URL;
"""


def archive(project: Mapping[str, str]) -> bytes:
    """A tarball of a project, in one folder as GitHub and npm send it."""
    return files(((path, text.encode()) for path, text in project.items()), folder="package")


def well_kept(name: str = "@example/notes") -> dict[str, str]:
    """Documented, tested and locked to versions without known flaws."""
    return {
        "README.md": README,
        "LICENSE": "MIT License\n\nCopyright (c) 2026 Example\n",
        "CHANGELOG.md": "# Changelog\n\n## 1.0.0\n\n- First.\n",
        "SECURITY.md": "# Security\n\nWrite to us.\n",
        "CONTRIBUTING.md": "# Contributing\n\nPlease do.\n",
        ".github/workflows/test.yml": "on: push\njobs: {test: {runs-on: ubuntu-latest, steps: [{run: npm test}]}}\n",
        "package.json": _package(name, "1.0.0", {"steady": "^2.0.0"}),
        "package-lock.json": _lock(name, "1.0.0", {"steady": "2.0.0"}),
        "server.json": json.dumps({"name": "io.example/kept", "version": "1.0.0"}),
        "src/index.ts": TOOLS,
        "test/index.test.ts": 'import test from "node:test";\ntest("it works", () => {});\n',
    }


def abandoned(name: str = "@example/left") -> dict[str, str]:
    """Hardly a word, two old dependencies with known flaws, and a key."""
    needs = {"steady": "1.0.0", "shaky": "0.1.0"}
    return {
        "README.md": "# left\n",
        "package.json": _package(name, "0.1.0", dict.fromkeys(needs, "*")),
        "package-lock.json": _lock(name, "0.1.0", needs),
        "src/index.ts": f'{TOOLS}const token = "{PLANTED}";\n',
    }


def _package(name: str, version: str, needs: Mapping[str, str]) -> str:
    return json.dumps({"name": name, "version": version, "license": "MIT", "dependencies": dict(needs)})


def _lock(name: str, version: str, needs: Mapping[str, str]) -> str:
    root: dict[str, Any] = {"name": name, "version": version, "dependencies": dict(needs)}
    installed = {f"node_modules/{one}": {"version": exact} for one, exact in needs.items()}
    return json.dumps({"name": name, "version": version, "lockfileVersion": 3, "packages": {"": root, **installed}})
