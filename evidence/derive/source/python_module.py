"""Resolves names in Python files. Files are parsed by `ast` and found by import statement, never imported."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Final, TypeAlias

from msgspec import Struct, field

from evidence.derive.source.declared_tool import MAX_STEPS, Budget, Value

MAX_BYTES: Final = 512 * 1024
"""Bytes of one file. The parser needs up to a kilobyte of memory for each byte of crafted input."""

_BOM: Final = "\ufeff"
_LOWER_THAN_SUFFIX: Final = re.compile(r"(?:/__init__)?\.pyi?$")


class PythonModule(Struct, frozen=True, dict=True):
    """One parsed file. A name that is bound more than once has no certain value and is left out."""

    path: str
    tree: ast.Module
    project: PythonProject

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes, breadth first."""
        return list(ast.walk(self.tree))

    @cached_property
    def assigned(self) -> Mapping[str, ast.expr]:
        """Values by name, of names that are assigned once, at any depth."""
        found: dict[str, ast.expr | None] = {}
        for node in self.nodes:
            name, value = _binding(node)
            if name and value is not None:
                found[name] = None if name in found else value
        return {name: value for name, value in found.items() if value is not None}

    @cached_property
    def classes(self) -> Mapping[str, ast.ClassDef]:
        return {node.name: node for node in self.nodes if isinstance(node, ast.ClassDef)}

    @cached_property
    def functions(self) -> Mapping[str, ast.FunctionDef | ast.AsyncFunctionDef]:
        """Functions and methods by name."""
        return {node.name: node for node in self.nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}

    @cached_property
    def imports(self) -> Mapping[str, tuple[str, str]]:
        """Dotted module and member by local name; the member is empty for a module itself. Leading dots stay."""
        found: dict[str, tuple[str, str]] = {}
        for node in self.nodes:
            if isinstance(node, ast.ImportFrom):
                source = "." * node.level + (node.module or "")
                found.update((name.asname or name.name, (source, name.name)) for name in node.names)
            elif isinstance(node, ast.Import):
                found.update((name.asname or name.name.split(".", 1)[0], (name.name, "")) for name in node.names)
        return found

    def imports_of(self, *packages: str) -> bool:
        """Whether anything is imported from one of the packages."""
        return any(source.split(".", 1)[0] in packages for source, _ in self.imports.values())


Named: TypeAlias = ast.expr | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class PythonProject(Struct, frozen=True, dict=True):
    """The Python files of one server by path, parsed on demand.

    `schema_of` reads a schema from an annotation. It is passed in because values and schemas depend on each other.
    """

    texts: Mapping[str, str]
    schema_of: Callable[[ast.expr, PythonModule, int], Value]
    budget: Budget = field(default_factory=Budget)
    _modules: dict[str, PythonModule | None] = field(default_factory=dict)

    def module(self, path: str) -> PythonModule | None:
        """The parsed file; None when it is missing or cannot be parsed."""
        if path not in self._modules:
            text = self.texts.get(path)
            tree = parse_python(text) if text is not None else None
            self._modules[path] = PythonModule(path, tree, self) if tree else None
        return self._modules[path]

    @cached_property
    def _by_suffix(self) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for path in sorted(self.texts, key=lambda path: (path.count("/"), path)):
            parts = _LOWER_THAN_SUFFIX.sub("", path).split("/")
            for at in range(len(parts)):
                found.setdefault("/".join(parts[at:]), path)
        return found

    def imported(self, source: str, by: PythonModule) -> PythonModule | None:
        """The file that an import refers to; None for a module of another distribution."""
        dots = len(source) - len(source.lstrip("."))
        inner = source.lstrip(".").replace(".", "/")
        if dots:
            folders = by.path.split("/")[:-dots]
            stem = "/".join([*folders, *([inner] if inner else [])])
            return next((found for path in (f"{stem}.py", f"{stem}/__init__.py") if (found := self.module(path))), None)
        path = self._by_suffix.get(inner)
        return self.module(path) if path else None


def parse_python(text: str) -> ast.Module | None:
    """The syntax tree; None for a text that is too long, too deep or not valid Python of our version."""
    if len(text) > MAX_BYTES:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.removeprefix(_BOM))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def resolve_name(name: str, module: PythonModule, steps: int = 0) -> tuple[Named, PythonModule] | None:
    """The definition of a name, followed through imports within the project; None when it is not determined."""
    if steps > MAX_STEPS:
        return None
    for known in (module.classes, module.functions, module.assigned):
        if name in known:
            return known[name], module
    source, member = module.imports.get(name, ("", ""))
    if not member:
        return None
    owner = module.project.imported(source, module)
    return resolve_name(member, owner, steps + 1) if owner and owner is not module else None


def last_name(node: ast.AST) -> str:
    """The last part of a dotted name, or of the name that is called; empty for any other node."""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _binding(node: ast.AST) -> tuple[str, ast.expr | None]:
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id, node.value
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id, node.value
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        # `X += ...` is a second binding, so X has no certain value.
        return node.target.id, node.value
    return "", None
