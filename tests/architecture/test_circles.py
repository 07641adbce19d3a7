"""No module needs itself, by whatever way, imports inside functions included."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.architecture.test_house import MODULES, ROOT


def _name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


SOURCES = {_name(path): path.read_text() for path in MODULES}


def _for_types_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}


def _imports(node: ast.AST) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if _for_types_only(child):
            continue
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom) and child.module:
            for alias in child.names:
                inner = f"{child.module}.{alias.name}"
                yield inner if inner in SOURCES else child.module
        else:
            yield from _imports(child)


def _graph(sources: dict[str, str]) -> dict[str, set[str]]:
    return {name: {one for one in _imports(ast.parse(text)) if one in sources} for name, text in sources.items()}


def test_no_module_needs_itself() -> None:
    TopologicalSorter(_graph(SOURCES)).prepare()


def test_an_import_inside_a_function_closes_a_circle_too() -> None:
    late = "def f() -> None:\n    from scoring.grades import x\n"
    circle = {"scoring.grades": "import evidence.model", "evidence.model": late}
    with pytest.raises(CycleError):
        TopologicalSorter(_graph(circle)).prepare()
