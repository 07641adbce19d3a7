"""Reads one archive: a single walk over its files, out of which all three bodies come. Pure but for the open file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from itertools import chain
from typing import BinaryIO, Final

from crawler.archives import Walk
from crawler.collectors.source import locks
from crawler.collectors.source.task import NoFolder, Reading, Task, Unreadable
from crawler.collectors.source.tree import Tree
from evidence.canonical import Json, canonical_json
from evidence.derive.secrets import Scanner, scan_files
from evidence.derive.source import places, python_schema, python_tools, script_tools, zod
from evidence.derive.source.python_module import Project
from evidence.derive.source.script import Scripts
from evidence.derive.source.tool import MAX_TOOLS, Tool

MAX_SKIPPED: Final = 50
_SKETCH: Final = 2_000


def read(file: BinaryIO, task: Task, scanner: Scanner, salt: bytes) -> Reading:
    """The bodies of an archive; raise Unreadable when there is nothing in it, NoFolder when the folder is not there."""
    tree = Tree(task.subfolder)
    walk = Walk(file, tree.room, strip=task.strip, bounds=task.bounds)
    found = scan_files(_searched(walk, tree), scanner, salt=salt)
    if not tree.paths:
        _complain(walk, tree, task)
    complete = walk.complete and not tree.cut
    head: dict[str, Json] = {"origin": task.origin, "name": task.name, "ref": task.ref}
    needs = locks.body(tree.locks)
    source = {**head, "subfolder": task.subfolder or None, "complete": complete, **_source(tree, walk)}
    return Reading(
        source=_scrubbed(source, scanner.scrub),
        secrets={**head, **found, "complete": bool(found["complete"]) and complete},
        dependencies=None if needs is None else _scrubbed({**head, **needs}, scanner.scrub),
    )


def _searched(walk: Walk, tree: Tree) -> Iterator[tuple[str, bytes]]:
    for member in walk:
        yield from tree.observe(member)


def _complain(walk: Walk, tree: Tree, task: Task) -> None:
    if task.subfolder and walk.entries and not walk.ended:
        raise NoFolder(f"the archive has no folder {task.subfolder}")
    raise Unreadable(walk.ended or "there is no file in it")


def _source(tree: Tree, walk: Walk) -> dict[str, Json]:
    paths = sorted(tree.paths)
    skipped = sorted({(one.path, one.why) for one in walk.skipped})
    return {
        "skipped": [{"path": path, "why": why} for path, why in skipped[:MAX_SKIPPED]],
        "files": len(paths),
        "bytes": tree.size,
        "readme": _readme(tree),
        "guides": [path for path in paths if places.is_guide(path)][: places.MAX_PATHS],
        "manifests": [path for path in paths if places.is_manifest(path)][: places.MAX_PATHS],
        "lockfiles": _lockfiles(tree),
        "transports": {name: list(found) for name, found in tree.transports.items()},
        "oauth": list(tree.oauth),
        "environment": [
            {"name": name, "at": at, "secret": one.secret, "required": one.required, "named": _is_named(tree, name)}
            for name, (one, at) in sorted(tree.variables.items())
        ],
        "tools": [_tool(tool) for tool in tools_of(tree)],
        "tests": tree.tests,
        "examples": tree.examples,
        "dockerfile": places.dockerfile(paths),
        "server_json": _server_json(tree),
        **_conventions(tree, paths),
    }


def _conventions(tree: Tree, paths: list[str]) -> dict[str, Json]:
    """What is looked for in the server's folder, else in the root of the repository."""
    own_ci: list[Json] = [path for path in paths if places.is_ci(path)]
    root_ci: list[Json] = [f"/{path}" for path in sorted(tree.root) if places.is_ci(path)]
    found: dict[str, Json] = {"ci": (own_ci or root_ci)[: places.MAX_PATHS]}
    for name, look in (
        ("changelog", places.changelog),
        ("licence", places.licence),
        ("security_policy", places.security_policy),
        ("contributing", places.contributing),
    ):
        own, shared = look(paths), look(tree.root)
        found[name] = own or (f"/{shared}" if shared else None)
    if found["licence"] is None:
        # A wheel keeps it with its metadata.
        found["licence"] = places.licence(path.partition("/")[2] for path in paths if ".dist-info/" in path)
    return found


def tools_of(tree: Tree) -> list[Tool]:
    """The tools of the tree, each name once: sources before what is built of them."""
    project, scripts = Project(tree.python, python_schema.schema_of), Scripts(tree.scripts, zod.schema_of)
    found: dict[str, Tool] = {}
    of_python = chain.from_iterable(python_tools.tools_of(path, project) for path in _ordered(tree.python))
    of_scripts = chain.from_iterable(script_tools.tools_of(path, scripts) for path in _ordered(tree.scripts))
    for tool in chain(of_python, of_scripts):
        found.setdefault(tool.name, tool)
        if len(found) >= MAX_TOOLS:
            break
    return sorted(found.values(), key=lambda tool: (tool.path, tool.line, tool.name))


def _ordered(paths: Iterable[str]) -> list[str]:
    return sorted(paths, key=places.by_precedence)


def _tool(tool: Tool) -> Json:
    return {
        "name": tool.name,
        "description": tool.description,
        "input": tool.input,
        "annotations": tool.annotations,
        "at": f"{tool.path}:{tool.line}",
        "by": tool.by,
    }


def _readme(tree: Tree) -> Json:
    """The README of the server's folder, else of the root."""
    if not tree.readmes:
        return None
    path = min(tree.readmes, key=lambda path: (path.startswith("/"), path.count("/"), not path.endswith(".md"), path))
    parts = asdict(tree.readmes[path])
    kept = {name: part for name, part in parts.items() if name != "identifiers"}
    return {"path": path, **kept, "sections": list(parts["sections"])}


def _is_named(tree: Tree, name: str) -> bool:
    """Whether a README names a variable, in whatever part."""
    return any(name in parts.identifiers for parts in tree.readmes.values())


def _lockfiles(tree: Tree) -> list[Json]:
    read: list[tuple[str, dict[str, Json]]] = [
        (lock.path, {"path": lock.path, "format": lock.form.id, "packages": lock.packages, "error": lock.error})
        for lock in tree.locks.inside or tree.locks.outside
    ]
    for path, why in tree.locks.unread:
        form = locks.lock_format(path.lstrip("/"))
        read.append((path, {"path": path, "format": form.id if form else "", "packages": None, "error": why}))
    return [row for _, row in sorted(read, key=lambda pair: pair[0])]


def _server_json(tree: Tree) -> Json:
    if not tree.server_json:
        return None
    path = min(tree.server_json, key=lambda path: (path.count("/"), path))
    stated = tree.server_json[path]
    name, version = stated.get("name"), stated.get("version")
    return {
        "path": path,
        "name": name[:_SKETCH] if isinstance(name, str) else None,
        "version": version[:_SKETCH] if isinstance(version, str) else None,
    }


def _scrubbed(body: Mapping[str, Json], scrub: Callable[[str], str]) -> dict[str, Json]:
    """The body with every secret in its texts masked."""
    text = canonical_json(dict(body)).decode()
    if scrub(text) == text:
        return dict(body)
    return {name: _clean(value, scrub) for name, value in body.items()}


def _clean(value: Json, scrub: Callable[[str], str]) -> Json:
    match value:
        case str():
            return scrub(value)
        case list():
            return [_clean(item, scrub) for item in value]
        case dict():
            return {name: _clean(item, scrub) for name, item in value.items()}
    return value
