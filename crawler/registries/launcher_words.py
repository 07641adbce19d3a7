"""Separates the words of a launcher (uvx, npx, python, node) from the arguments of the server that it starts.

Registrations hold them in `runtimeArguments`, and often in `packageArguments`: `--directory /path run NAME --port 1`.
Words are only taken for a launcher's if all of them up to the name of a command, module or script are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct, field
from packaging.utils import canonicalize_name

from crawler.addresses import UnusableAddress, parse_requirement
from crawler.registries.package_inputs import MAX_INPUTS, first_text
from evidence.canonical import Json
from evidence.compiled_on_use import compile_on_use
from evidence.launch_options import LaunchOptions

_LAUNCHERS: Final = frozenset({"uvx", "uv", "npx", "node", "bunx", "pipx", "python", "python3"})
_PARTS: Final = frozenset({"run", "tool", "exec"})  # `uv tool run`, `npm exec`
_FLAGS: Final = frozenset({"-y", "--yes", "-q", "--quiet", "--isolated", "--no-cache", "--refresh", "--offline", "-u"})
_OPTIONS: Final = {
    "--directory": "",
    "--project": "",
    "--from": "from",
    "--package": "from",
    "--spec": "from",
    "--with": "with",
    "--python": "python",
    "-p": "python",
    "--index": "",
    "--index-url": "",
    "--default-index": "",
    "--extra-index-url": "",
    "--prerelease": "",
    "--experimental-specifier-resolution": "",
    "--max-old-space-size": "",
    "--env-file": "",
}
"""Options of launchers that take a value, and what of it counts here. Addresses of indexes are the operator's."""

_NODE_FLAG: Final = compile_on_use(r"--(?:experimental|no)-[a-z-]{1,60}")
_SCRIPT: Final = compile_on_use(r"[^\s=]{1,500}\.(?:py|[cm]?js|ts)", re.IGNORECASE)
_LIKELY_SCRIPT: Final = compile_on_use(
    r"(?:.*/)?(?:(?:dist|build|out|src|lib|bin)/.*|(?:index|main|server|app|cli|run|start|mcp)\.\w+)", re.IGNORECASE
)
"""Without a launcher's word before it, another file may be an argument of the server, such as its configuration."""
_MODULE: Final = compile_on_use(r"[A-Za-z_]\w{0,100}(?:\.[A-Za-z_]\w{0,100}){0,8}")
_COMMAND: Final = compile_on_use(r"[A-Za-z0-9][\w.-]{0,100}")
_PYTHON: Final = compile_on_use(r"(?:c?python)?@?(3\.\d{1,2})(?:\.\d{1,3})?")
_TWO_WORDS: Final = compile_on_use(r"(run|-m|--from|--with|--python)\s+(\S+)")


class _Reading(Struct):
    """What the launcher's words said so far."""

    package: str
    found: dict[str, list[str]] = field(default_factory=dict)
    command: str = ""

    @property
    def options(self) -> LaunchOptions:
        python = _PYTHON.fullmatch(self.found.get("python", [""])[-1])
        return LaunchOptions(
            command=self.command,
            python=python[1] if python else "",
            requirements=tuple(dict.fromkeys(each for each in self._requirements() if each)),
        )

    @property
    def names_package(self) -> bool:
        return any(_is_package(value, self.package) for value in self.found.get("from", ()))

    def _requirements(self) -> Iterator[str]:
        for place in ("with", "from"):
            for value in (part for each in self.found.get(place, ()) for part in each.split(",")):
                yield _requirement(value, self.package)


def separate_launcher(
    runtime: Sequence[Mapping[str, Json]], items: Sequence[Mapping[str, Json]], package: str
) -> tuple[LaunchOptions, Sequence[Mapping[str, Json]]]:
    """The options of the launcher, and the declared package arguments without its words.

    `runtime`: the declared arguments of the runtime, of which all are the launcher's.
    """
    reading = _Reading(package)
    words = [word for item in runtime[:MAX_INPUTS] for word in _words(item)]
    _read_launcher(words, reading, began=True)
    begun = _Reading(package, {name: list(values) for name, values in reading.found.items()}, reading.command)
    flat = [(position, word) for position, item in enumerate(items[:MAX_INPUTS]) for word in _words(item)]
    taken = _read_launcher([word for _, word in flat], begun)
    if taken is None or (0 < taken < len(flat) and flat[taken - 1][0] == flat[taken][0]):
        return reading.options, items
    rest = flat[taken][0] if taken < len(flat) else len(items)
    return begun.options, items[rest:]


def _read_launcher(words: Sequence[str], reading: _Reading, *, began: bool = False) -> int | None:
    """The number of words that are the launcher's up to its command; None if the words are no launcher's."""
    at = 0
    while at < len(words):
        word = words[at]
        if word in _OPTIONS and at + 1 < len(words):
            reading.found.setdefault(_OPTIONS[word], []).append(words[at + 1])
            at, began = at + 2, True
        elif word in _LAUNCHERS or word in _FLAGS or _NODE_FLAG.fullmatch(word) or word in _PARTS:
            at, began = at + 1, True
        else:
            break
    return _read_command(words, at, reading, began=began)


def _read_command(words: Sequence[str], at: int, reading: _Reading, *, began: bool) -> int | None:
    """The number of words with the command at position `at`; None if there is none."""
    rest = words[at:]
    is_module = len(rest) > 1 and rest[0] == "-m" and _MODULE.fullmatch(rest[1])
    if is_module and (began or _is_module_of(rest[1], reading.package)):
        reading.command = f"-m {rest[1]}"
        return at + 2
    if not rest:
        return at if began and reading.names_package else None
    if _is_package(rest[0], reading.package) or (reading.names_package and _COMMAND.fullmatch(rest[0])):
        reading.command = rest[0].partition("@")[0] if rest[0][0] != "@" else ""
        return at + 1
    is_script = _SCRIPT.fullmatch(rest[0]) and (began or _LIKELY_SCRIPT.fullmatch(rest[0]))
    return at + 1 if is_script else None


def _words(item: Mapping[str, Json]) -> Iterator[str]:
    """The words of one declared argument as they stand, with sample values."""
    name, value = first_text(item, "name"), first_text(item, "value") or first_text(item, "default")
    if item.get("type") == "named" and name and not _TWO_WORDS.fullmatch(name):
        option, mark, joined = name.partition("=")
        yield option
        if mark or value:
            yield joined if mark else value or ""
        return
    text = (value or name or first_text(item, "valueHint", "value_hint") or "").strip()
    option, mark, joined = text.partition("=")
    if mark and option in _OPTIONS:
        yield from (option, joined)
    else:
        yield from both.groups() if (both := _TWO_WORDS.fullmatch(text)) else (text,)


def _is_package(word: str, package: str) -> bool:
    """Whether a word names the package, with or without a version."""
    name = re.split(r"\[|==|(?<=.)@|[<>~!]", word, maxsplit=1)[0].strip()
    return bool(name) and canonicalize_name(name) == canonicalize_name(package.partition("[")[0])


def _is_module_of(module: str, package: str) -> bool:
    """Whether a module has the name of the package in its own; an argument of the server such as a model has not."""
    names = [canonicalize_name(name) for name in (module.partition(".")[0], package.partition("[")[0])]
    return names[0] in names[1] or names[1] in names[0]


def _requirement(value: str, package: str) -> str:
    """A further Python package by name, extras and versions; empty for an address, a path or the package itself."""
    try:
        name, extras, versions = parse_requirement(value)
    except UnusableAddress:
        return ""
    own = canonicalize_name(name) == canonicalize_name(package)
    return "" if own and not extras else f"{name}{extras}{'' if own else versions}"
