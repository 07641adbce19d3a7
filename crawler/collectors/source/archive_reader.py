"""Reads one archive in a single pass over its files, for all three bodies. Pure except for the open file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import BinaryIO, Final

from msgspec.structs import asdict

from crawler.archives import ArchiveWalk, Folder
from crawler.archives.folder import FolderReading
from crawler.collectors.source import lockfiles
from crawler.collectors.source.file_tree import FileTree
from crawler.collectors.source.reading_task import ArchiveUnreadable, FolderMissing, ReadingResult, ReadingTask
from evidence.canonical import Json, canonical_json
from evidence.derive.secrets import Scanner, scan_files
from evidence.derive.source import project_files, python_schema, python_tools, script_tools, zod_schema
from evidence.derive.source.declared_tool import MAX_TOOLS, Tool
from evidence.derive.source.python_module import PythonProject
from evidence.derive.source.script_module import Scripts
from evidence.kinds.source import REPOSITORIES

MAX_SKIPPED: Final = 50
_SKETCH: Final = 2_000


def read_archive(file: BinaryIO | Folder, task: ReadingTask, scanner: Scanner, salt: bytes) -> ReadingResult:
    """The bodies of an archive; raise ArchiveUnreadable for an empty one, FolderMissing when the folder is missing."""
    tree = FileTree(task.subfolder)
    walk = ArchiveWalk(
        file,
        tree.max_bytes,
        strip=task.strip,
        bounds=task.bounds,
        project=task.subfolder,
        release=task.release,
    )
    found = scan_files(_observe_files(walk, tree), scanner, salt=salt)
    if not tree.paths:
        _raise_empty(walk, tree, task)
    complete = walk.complete and not tree.cut
    head: dict[str, Json] = {"origin": task.origin, "name": task.name, "ref": task.ref}
    locked = lockfiles.dependencies_body(tree.locks)
    source = {**head, "subfolder": task.subfolder or None, "complete": complete, **_source(tree, walk)}
    if walk.folder is not None:
        source |= _selection(walk.folder, task.subfolder)
    if task.origin in REPOSITORIES:
        source["workflows"] = [found for _, found in sorted(tree.workflows.items())]
    return ReadingResult(
        source=_scrubbed(source, scanner.scrub),
        secrets={**head, **found, "complete": bool(found["complete"]) and complete},
        dependencies=None if locked is None else _scrubbed({**head, **locked}, scanner.scrub),
    )


def _observe_files(walk: ArchiveWalk, tree: FileTree) -> Iterator[tuple[str, bytes]]:
    for member in walk:
        yield from tree.observe(member)


def _raise_empty(walk: ArchiveWalk, tree: FileTree, task: ReadingTask) -> None:
    if task.subfolder and walk.entries and not walk.ended:
        raise FolderMissing(f"the archive has no folder {task.subfolder}")
    raise ArchiveUnreadable(walk.ended or "there is no file in it")


def _source(tree: FileTree, walk: ArchiveWalk) -> dict[str, Json]:
    paths = sorted(tree.paths)
    skipped = sorted({(one.path, one.why) for one in walk.skipped})
    return {
        "skipped": [{"path": path, "why": why} for path, why in skipped[:MAX_SKIPPED]],
        "files": len(paths),
        "bytes": tree.size,
        "readme": _readme(tree),
        "guides": [path for path in paths if project_files.is_guide(path)][: project_files.MAX_PATHS],
        "manifests": [path for path in paths if project_files.is_manifest(path)][: project_files.MAX_PATHS],
        "lockfiles": _lockfiles(tree),
        "transports": {name: list(found) for name, found in tree.transports.items()},
        "oauth": list(tree.oauth),
        "environment": [
            {"name": name, "at": at, "secret": one.secret, "required": one.required, "named": _is_named(tree, name)}
            for name, (one, at) in sorted(tree.variables.items())
        ],
        "tools": [_tool(tool) for tool in list_tools(tree)],
        "tests": tree.tests,
        "examples": tree.examples,
        "dockerfile": project_files.find_dockerfile(paths),
        "server_json": _server_json(tree),
        "imports": tree.imports.to_json(),
        **_conventions(tree, paths),
    }


def _selection(folder: FolderReading, subfolder: str) -> dict[str, Json]:
    """What was left out of a folder, and what was read although git ignores it; both relative to the project."""
    start = f"{subfolder}/" if subfolder else ""
    left_out = sorted((path.removeprefix(start), why) for path, why in folder.left_out.items())
    return {
        "left_out": [{"path": path, "why": why} for path, why in left_out[:MAX_SKIPPED]],
        "published": [path.removeprefix(start) for path in sorted(folder.published)][:MAX_SKIPPED],
    }


def _conventions(tree: FileTree, paths: list[str]) -> dict[str, Json]:
    """Project files of the server's folder, else of the root of the repository."""
    own_ci: list[Json] = [path for path in paths if project_files.is_ci(path)]
    root_ci: list[Json] = [f"/{path}" for path in sorted(tree.root) if project_files.is_ci(path)]
    found: dict[str, Json] = {"ci": (own_ci or root_ci)[: project_files.MAX_PATHS]}
    for name, find in (
        ("changelog", project_files.find_changelog),
        ("licence", project_files.find_licence),
        ("security_policy", project_files.find_security_policy),
        ("contributing", project_files.find_contributing_guide),
    ):
        own_path, shared = find(paths), find(tree.root)
        found[name] = own_path or (f"/{shared}" if shared else None)
    if found["licence"] is None:
        # A wheel has the licence beside its metadata.
        found["licence"] = project_files.find_licence(path.partition("/")[2] for path in paths if ".dist-info/" in path)
    return found


def list_tools(tree: FileTree) -> list[Tool]:
    """The tools of the tree, each name once: source files before built files."""
    project, scripts = (
        PythonProject(tree.python, python_schema.build_type_schema),
        Scripts(tree.scripts, zod_schema.build_zod_schema),
    )
    found: dict[str, Tool] = {}
    of_python = chain.from_iterable(python_tools.find_python_tools(path, project) for path in _ordered(tree.python))
    of_scripts = chain.from_iterable(script_tools.find_script_tools(path, scripts) for path in _ordered(tree.scripts))
    for tool in chain(of_python, of_scripts):
        found.setdefault(tool.name, tool)
        if len(found) >= MAX_TOOLS:
            break
    return sorted(found.values(), key=lambda tool: (tool.path, tool.line, tool.name))


def _ordered(paths: Iterable[str]) -> list[str]:
    return sorted(paths, key=project_files.source_precedence)


def _tool(tool: Tool) -> Json:
    return {
        "name": tool.name,
        "description": tool.description,
        "input": tool.input,
        "annotations": tool.annotations,
        "at": f"{tool.path}:{tool.line}",
        "by": tool.by,
    }


def _readme(tree: FileTree) -> Json:
    """The README of the server's folder, else of the root."""
    if not tree.readmes:
        return None
    path = min(tree.readmes, key=lambda path: (path.startswith("/"), path.count("/"), not path.endswith(".md"), path))
    parts = asdict(tree.readmes[path])
    kept = {name: part for name, part in parts.items() if name != "identifiers"}
    return {"path": path, **kept, "sections": list(parts["sections"])}


def _is_named(tree: FileTree, name: str) -> bool:
    return any(name in parts.identifiers for parts in tree.readmes.values())


def _lockfiles(tree: FileTree) -> list[Json]:
    read: list[tuple[str, dict[str, Json]]] = [
        (lock.path, {"path": lock.path, "format": lock.form.id, "packages": lock.packages, "error": lock.error})
        for lock in tree.locks.inside or tree.locks.outside
    ]
    for path, why in tree.locks.unread:
        form = lockfiles.detect_lock_format(path.lstrip("/"))
        read.append((path, {"path": path, "format": form.id if form else "", "packages": None, "error": why}))
    return [row for _, row in sorted(read, key=lambda pair: pair[0])]


def _server_json(tree: FileTree) -> Json:
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
