"""Resolves names in TypeScript and JavaScript files. Files are parsed by tree-sitter, never run.

Trees are walked by a cursor in linear time; queries take quadratic time on crafted trees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Final

import tree_sitter_javascript
import tree_sitter_typescript
from msgspec import Struct, field
from tree_sitter import Language, Node, Parser, Tree

from evidence.derive.source.declared_tool import MAX_STEPS, Budget, Value

MAX_BYTES: Final = 2 * 1024 * 1024
"""Bytes of one file. A bundle of a whole server is smaller; crafted text takes ten seconds a megabyte to parse."""

MAX_PARSED: Final = 12 * 1024 * 1024
"""Bytes of all parsed files of one server."""

_TYPESCRIPT: Final = (".ts", ".mts", ".cts")
_TSX: Final = (".tsx",)
_JAVASCRIPT: Final = (".js", ".mjs", ".cjs", ".jsx")
SUFFIXES: Final = (*_TYPESCRIPT, *_TSX, *_JAVASCRIPT)
_SOURCES: Final = {".js": (".ts", ".tsx"), ".mjs": (".mts",), ".cjs": (".cts",), ".jsx": (".tsx",)}
_DEEPEST: Final = 400

_INTERESTING: Final = frozenset(
    {
        "variable_declarator",
        "enum_declaration",
        "function_declaration",
        "import_statement",
        "export_statement",
        "call_expression",
        "object",
        "assignment_expression",
        "class_declaration",
        "public_field_definition",
        "field_definition",
    }
)


class Script(Struct, frozen=True, dict=True):
    """One parsed file. `nodes` are those that may bind or declare something, in the order of the text."""

    path: str
    source: bytes
    tree: Tree
    project: Scripts

    @property
    def language(self) -> str:
        return "javascript" if self.path.endswith(_JAVASCRIPT) else "typescript"

    @cached_property
    def nodes(self) -> list[Node]:
        """Nodes of the relevant types; nodes that are nested too deep are left out."""
        return list(_walk(self.tree))

    @cached_property
    def bound(self) -> Mapping[str, Node]:
        """Values by name, of names that are bound once, at any depth; for classes, functions and enumerations their
        declaration.
        """
        found: dict[str, Node | None] = {}
        for node in self.nodes:
            name, value = self._binding(node)
            if name and value is not None:
                found[name] = None if name in found else value
        return {name: value for name, value in found.items() if value is not None}

    @cached_property
    def imports(self) -> Mapping[str, tuple[str, str]]:
        """Specifier and member by local name; the member is `*` for a whole module."""
        found: dict[str, tuple[str, str]] = {}
        for node in self.nodes:
            source = node.child_by_field_name("source") if node.type == "import_statement" else None
            if source is not None:
                specifier = self.text(source)[1:-1]
                found.update((local, (specifier, member)) for local, member in self._imported(node))
        return found

    @cached_property
    def exports(self) -> Mapping[str, tuple[str, str]]:
        """`("", local name)` or `(specifier, member)` by exported name."""
        found: dict[str, tuple[str, str]] = {}
        for node in self.nodes:
            if node.type != "export_statement":
                continue
            source = node.child_by_field_name("source")
            specifier = self.text(source)[1:-1] if source else ""
            for clause in (child for child in node.named_children if child.type == "export_clause"):
                for one in (child for child in clause.named_children if child.type == "export_specifier"):
                    name, alias = one.child_by_field_name("name"), one.child_by_field_name("alias")
                    if name is not None:
                        found[self.text(alias or name)] = (specifier, self.text(name))
        return found

    @cached_property
    def default(self) -> Node | None:
        """The value of `export default`."""
        statements = [node for node in self.nodes if node.type == "export_statement"]
        return next((value for node in statements if (value := node.child_by_field_name("value"))), None)

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _binding(self, node: Node) -> tuple[str, Node | None]:
        name = node.child_by_field_name("name")
        if node.type == "variable_declarator" and name is not None and name.type == "identifier":
            return self.text(name), node.child_by_field_name("value")
        if node.type in {"enum_declaration", "function_declaration", "class_declaration"} and name is not None:
            return self.text(name), node
        left = node.child_by_field_name("left") if node.type == "assignment_expression" else None
        if left is not None and left.type == "identifier":
            return self.text(left), node.child_by_field_name("right")
        return "", None

    def _imported(self, node: Node) -> Iterator[tuple[str, str]]:
        for clause in (child for child in node.named_children if child.type == "import_clause"):
            for child in clause.named_children:
                if child.type == "identifier":
                    yield self.text(child), "default"
                elif child.type == "namespace_import":
                    yield self.text(child.named_children[-1]), "*"
                elif child.type == "named_imports":
                    for one in (child for child in child.named_children if child.type == "import_specifier"):
                        name, alias = one.child_by_field_name("name"), one.child_by_field_name("alias")
                        if name is not None:
                            yield self.text(alias or name), self.text(name)


class Scripts(Struct, frozen=True, dict=True):
    """The scripts of one server by path, parsed on demand.

    `schema_of` reads a schema from an expression. It is passed in because values and schemas depend on each other.
    """

    sources: Mapping[str, bytes]
    schema_of: Callable[[Node | None, Script, int], Value]
    budget: Budget = field(default_factory=Budget)
    _scripts: dict[str, Script | None] = field(default_factory=dict)

    def script(self, path: str) -> Script | None:
        """The parsed file; None when it is missing or too large, or when MAX_PARSED is reached."""
        if path not in self._scripts:
            source = self.sources.get(path)
            parsed = sum(len(one.source) for one in self._scripts.values() if one)
            if source is None or len(source) > MAX_BYTES or parsed + len(source) > MAX_PARSED:
                self._scripts[path] = None
            else:
                self._scripts[path] = Script(path, source, Parser(_language(path)).parse(source), self)
        return self._scripts[path]

    def imported(self, specifier: str, by: Script) -> Script | None:
        """The file that a relative specifier names; None for a package or a missing file."""
        if not specifier.startswith("."):
            return None
        folders = by.path.split("/")[:-1]
        for part in specifier.split("/"):
            if part == ".." and folders:
                folders.pop()
            elif part not in {".", "", ".."}:
                folders.append(part)
        stem = "/".join(folders)
        return next((self.script(path) for path in _candidates(stem) if path in self.sources), None)


def resolve_name(name: str, script: Script, steps: int = 0) -> tuple[Node, Script] | None:
    """The definition of a name, followed through relative imports; None when it is not determined."""
    if name in script.bound:
        return script.bound[name], script
    specifier, member = script.imports.get(name, ("", ""))
    owner = script.project.imported(specifier, script) if member not in {"", "*"} else None
    return resolve_export(member, owner, steps + 1) if owner else None


def resolve_export(name: str, script: Script, steps: int = 0) -> tuple[Node, Script] | None:
    """The definition of an exported name; None when it is not determined."""
    if steps > MAX_STEPS:
        return None
    if name == "default" and script.default is not None:
        return script.default, script
    specifier, local = script.exports.get(name, ("", name))
    if specifier:
        owner = script.project.imported(specifier, script)
        return resolve_export(local, owner, steps + 1) if owner else None
    return resolve_name(local, script, steps + 1)


def _candidates(stem: str) -> Iterator[str]:
    yield stem
    for suffix, others in _SOURCES.items():
        if stem.endswith(suffix):
            yield from (stem.removesuffix(suffix) + other for other in others)
    yield from (stem + suffix for suffix in SUFFIXES)
    yield from (f"{stem}/index{suffix}" for suffix in SUFFIXES)


def _walk(tree: Tree) -> Iterator[Node]:
    cursor = tree.walk()
    depth = 0
    while True:
        node = cursor.node
        if node is not None and node.type in _INTERESTING:
            yield node
        if depth < _DEEPEST and cursor.goto_first_child():
            depth += 1
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            depth -= 1


@lru_cache(maxsize=4)
def _grammar(name: str) -> Language:
    if name == "typescript":
        return Language(tree_sitter_typescript.language_typescript())
    return Language(tree_sitter_typescript.language_tsx() if name == "tsx" else tree_sitter_javascript.language())


def _language(path: str) -> Language:
    if path.endswith(_TYPESCRIPT):
        return _grammar("typescript")
    return _grammar("tsx" if path.endswith(_TSX) else "javascript")
