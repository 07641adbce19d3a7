"""Imports of code: what its text names, and where it may import more."""

from __future__ import annotations

import pytest

from evidence.derive.source.imports import (
    MAX_NAMES,
    ImportedNames,
    find_imports,
    list_python_distributions,
    may_import_more,
)


@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        ("a.ts", "import { z } from 'zod';", ["zod"]),
        ("a.ts", 'import type { A } from "@mcp/sdk/server/index.js";', ["@mcp/sdk"]),
        ("a.ts", 'import "side-effect";\nexport * from "lodash/fp";', ["side-effect", "lodash"]),
        ("a.js", 'const a = require("a"), b = await import(\'@s/b/c\');', ["a", "@s/b"]),
        ("a.js", "import{a}from'x';require.resolve(`y`)", ["x", "y"]),
        ("a.js", "import a from './own'; import b from '#inner'; import c from '../up.js';", []),
        ("a.py", "import httpx\nimport a.b as c, d\n from e.f import (", ["httpx", "a", "d", "e"]),
        ("a.py", "import os; import yaml\ntry: import httpx\nexcept ImportError: pass", ["os", "yaml", "httpx"]),
        ("a.py", "import os, \\\n    yaml", ["os", "yaml"]),
        ("a.py", "from . import own\nfrom .near import far\nimportant = 1\n", []),
        ("a.go", 'import "zod"', []),
    ],
)  # fmt: skip
def test_the_names_of_imports(path: str, text: str, names: list[str]) -> None:
    assert list(find_imports(path, text)) == names


@pytest.mark.parametrize(
    ("path", "text", "more"),
    [
        ("a.js", "require(name)", True),
        ("a.js", "await import(`./${name}`)", True),
        ("a.js", "createRequire(import.meta.url)", True),
        ("a.js", "eval(text)", True),
        ("a.js", "import('x'); require('y'); importantly(z)", False),
        ("a.py", "importlib.import_module(name)", True),
        ("a.py", "__import__('x')", True),
        ("a.py", "for one in entry_points(group='x'): pass", True),
        ("a.py", "import importlib.metadata\nawait run()", False),
        ("a.go", "eval(text)", False),
    ],
)
def test_computed_names_are_noticed(path: str, text: str, more: bool) -> None:
    assert may_import_more(path, text) is more


def test_a_file_that_is_left_out_leaves_its_ecosystem_open() -> None:
    found = ImportedNames()
    found.read("src/own/a.py", "import b")
    found.leave_out("src/App.vue")
    found.leave_out("README.md")
    assert found.to_json() == {"npm": [], "python": ["b"], "own": ["a", "own", "src"], "unread": ["npm"]}


def test_more_names_than_the_bound_leave_it_open() -> None:
    found = ImportedNames()
    found.read("a.js", "".join(f"import 'p{number}';" for number in range(MAX_NAMES + 1)))
    assert found.unread == {"npm"}


def test_scripts_of_a_manifest_name_what_they_run() -> None:
    found = ImportedNames()
    found.read_scripts({"scripts": {"start": "next start", "build": ["x"]}, "dependencies": {"zod": "1"}})
    assert found.npm == {"next", "start"}


@pytest.mark.parametrize(
    ("modules", "found", "explained"),
    [
        (["json", "own"], set(), True),
        (["httpx", "yaml", "Google_Auth"], {"httpx", "pyyaml", "google-auth"}, True),
        (["httpx", "google"], {"httpx"}, False),
        (["requests"], set(), False),
    ],
)
def test_an_unexplained_module_may_come_from_any_distribution(
    modules: list[str], found: set[str], explained: bool
) -> None:
    assert list_python_distributions(modules, {"own"}, {"httpx", "pyyaml", "google-auth"}) == (found, explained)
