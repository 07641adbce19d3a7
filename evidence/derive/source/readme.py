"""Splits a README into parts: installation, client configuration, environment, examples, tools and licence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

MAX_BYTES: Final = 512 * 1024
MAX_SECTIONS: Final = 60
MAX_TITLE: Final = 120
MAX_PART: Final = 4_000
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{1,127}")
"""Characters that are kept of one part."""

_NAMES: Final = re.compile(r"readme(?:\.(?:md|mdx|markdown|rst|txt|adoc))?", re.IGNORECASE)
_HEADING: Final = re.compile(r"(#{1,6})[ \t]+(\S.*?)[ \t#]*")
_TAG_HEADING: Final = re.compile(r"<h([1-6])[^>]{0,200}>(.{1,400}?)</h[1-6]>", re.IGNORECASE)
_UNDERLINE: Final = re.compile(r"(?:={3,}|-{3,}|~{3,}|\^{3,})\s*")
_FENCE: Final = re.compile(r"[ \t]{0,12}(`{3,}|~{3,})")
_MARKUP: Final = re.compile(r"<[^>]{0,300}>|!?\[([^\]]{0,200})\]\([^)]{0,400}\)|[*`_]{1,3}(?=\S)|(?<=\S)[*`_]{1,3}")
_WORD: Final = re.compile(r"\w[\w'’.-]*")
_SNIPPET: Final = re.compile(
    r"mcpServers|mcp_servers|\[mcp_servers\.|context_servers|\"mcp\"\s*:\s*\{|\"servers\"\s*:\s*\{"
    r"|\b(?:claude|codex|gemini|code|cursor|amp|droid)\s+mcp\s+add|--add-mcp|fastmcp install|mcp install"
)
_MCP_NAME: Final = re.compile(r"mcp-name:\s*([A-Za-z0-9.\-]{1,100}/[A-Za-z0-9._\-]{1,100})")
_PARTS: Final = {
    "install": re.compile(
        r"(?i)\b(?:install\w*|set[- ]?up|setting up|getting started|quick ?start|usage with|how to (?:use|run)"
        r"|deploy\w*)\b"
    ),
    "environment": re.compile(
        r"(?i)\b(?:environment|env(?:ironment)? var\w*|configur\w+|settings|options|credentials|api keys?)\b"
    ),
    "examples": re.compile(
        r"(?i)\b(?:examples?|usage|use cases?|demo|prompts? to try|what (?:can you|you can)|how to use)\b"
    ),
    "tools": re.compile(r"(?i)\b(?:tools?|available (?:functions|actions|commands)|features|capabilities)\b"),
}
_TOOLS_BEST: Final = re.compile(r"\btools?\b", re.IGNORECASE)
_BOLD: Final = re.compile(r"(?m)^\*\*([^*\n]{1,80})\*\*:?$")
_LICENCE: Final = re.compile(r"\blicen[cs]", re.IGNORECASE)
_COMMANDS: Final = re.compile(
    r"\b(?:npx|npm (?:i|install)|pnpm (?:add|dlx)|yarn add|bunx|uvx|uv (?:add|pip|tool|run)|pipx?3? install|pipx run"
    r"|docker (?:run|pull)|brew install|cargo install|go install|smithery (?:cli )?install)\b"
)


class _Section(Struct, frozen=True):
    title: str
    level: int
    text: str


class ReadmeParts(Struct, frozen=True, kw_only=True):
    """The parts of a README; None for a missing part."""

    words: int
    sections: tuple[str, ...]
    install: str | None
    snippet: str | None
    environment: str | None
    examples: str | None
    tools: str | None
    licence: bool
    mcp_name: str | None
    identifiers: frozenset[str] = frozenset()


def is_readme(name: str) -> bool:
    return _NAMES.fullmatch(name) is not None


def parse_readme(text: str) -> ReadmeParts:
    """The parts of a README in Markdown or a similar format."""
    text = text[:MAX_BYTES].replace("\r\n", "\n")
    sections = list(_sections(text))
    titles = tuple(one.title[:MAX_TITLE] for one in sections if one.title)[:MAX_SECTIONS]
    name = _MCP_NAME.search(text)
    return ReadmeParts(
        words=sum(1 for _ in _WORD.finditer(text)),
        sections=titles,
        install=_part(sections, "install") or _install_command(text),
        snippet=_snippet(text),
        environment=_part(sections, "environment"),
        examples=_part(sections, "examples") or _bold_part(text, "examples"),
        tools=_part(sections, "tools"),
        licence=any(_LICENCE.search(title) for title in titles) or bool(re.search(r"(?i)\blicen[cs]ed? under\b", text)),
        mcp_name=name[1].rstrip(".") if name else None,
        identifiers=frozenset(_IDENTIFIER.findall(text)),
    )


def _sections(text: str) -> Iterator[_Section]:
    """The text by headings; the first section is the text before the first heading."""
    title, level, lines = "", 0, list[str]()
    fence = ""
    for line in text.split("\n"):
        marked = _FENCE.match(line)
        if marked:
            fence = "" if fence and line.strip().startswith(fence) else fence or marked[1]
        heading = None if fence or marked else _heading(line, lines)
        if heading is None:
            lines.append(line)
            continue
        is_underlined = heading[2]
        if is_underlined:
            lines.pop()
        yield _Section(title, level, "\n".join(lines).strip())
        title, level, lines = heading[1], heading[0], []
    yield _Section(title, level, "\n".join(lines).strip())


def _heading(line: str, before: list[str]) -> tuple[int, str, bool] | None:
    """Level, title, and whether the title is the line before."""
    if len(line) > 1_000:
        return None
    if found := _HEADING.fullmatch(line.strip()):
        return len(found[1]), _plain(found[2]), False
    if found := _TAG_HEADING.search(line):
        return int(found[1]), _plain(found[2]), False
    title = before[-1].strip() if before else ""
    is_title = 0 < len(title) < MAX_TITLE and not title.startswith(("|", "-", "*", ">", "<"))
    if is_title and _UNDERLINE.fullmatch(line) and (len(before) < 2 or not before[-2].strip()):
        return (1 if line.startswith("=") else 2), _plain(title), True
    return None


def _plain(title: str) -> str:
    return _MARKUP.sub(lambda found: found[1] or "", title).strip()


def _part(sections: list[_Section], part: str) -> str | None:
    """The text below the best matching heading, subsections included."""
    fitting = [at for at, one in enumerate(sections) if one.title and _PARTS[part].search(one.title)]
    if part == "tools":
        fitting.sort(key=lambda at: not _TOOLS_BEST.search(sections[at].title))
    for at in fitting:
        text = _with_inner(sections, at)
        if text:
            return text[:MAX_PART]
    return None


def _with_inner(sections: list[_Section], at: int) -> str:
    found = [sections[at].text]
    for one in sections[at + 1 :]:
        if one.level <= sections[at].level or sum(map(len, found)) > MAX_PART:
            break
        found.append(f"{one.title}\n{one.text}")
    return "\n\n".join(part for part in found if part).strip()


def _bold_part(text: str, part: str) -> str | None:
    """The text below the first bold line that serves as a heading of the part."""
    for found in _BOLD.finditer(text):
        if _PARTS[part].search(found[1]):
            return text[found.end() : found.end() + MAX_PART].partition("\n**")[0].strip() or None
    return None


def _install_command(text: str) -> str | None:
    """The first line that installs or starts the server; used when no heading matches."""
    found = _COMMANDS.search(text)
    if found is None:
        return None
    start = text.rfind("\n", 0, found.start()) + 1
    end = text.find("\n", found.end())
    return text[start : end if end >= 0 else None].strip()[:MAX_PART]


def _snippet(text: str) -> str | None:
    """The first code block, or line, that configures a client."""
    for block in _blocks(text):
        if _SNIPPET.search(block):
            return block[:MAX_PART]
    found = _SNIPPET.search(text)
    if found is None or "add" not in found[0]:
        return None
    start, end = text.rfind("\n", 0, found.start()) + 1, text.find("\n", found.end())
    return text[start : end if end >= 0 else None].strip()[:MAX_PART]


def _blocks(text: str) -> Iterator[str]:
    fence, lines = "", list[str]()
    for line in text.split("\n"):
        marked = _FENCE.match(line)
        if marked and not fence:
            fence, lines = marked[1], []
        elif marked and line.strip().startswith(fence):
            yield "\n".join(lines)
            fence = ""
        elif fence:
            lines.append(line)
