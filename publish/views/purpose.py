"""What a server says that it is for: one line for lists and pages, and the texts that the search reads.

A text with a finding is left out, disclosed or not: the search must find no word of a private one, and rows of the
listing index do not depend on reviews.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from evidence.derive.secret_scrubbing import are_free_of_secrets, scrub_text
from evidence.kinds import listing, registration, source
from evidence.kinds.listing import Item, Listing
from evidence.kinds.registration import Registration
from evidence.kinds.source import Source
from evidence.model import Dossier
from scoring.text.evidence_path import name_segments

MAX_PURPOSE: Final = 160
"""Characters of the line."""

_MAX_TOOLS: Final = 200
"""Tools whose texts the search reads."""

_MAX_READ: Final = 4_000
"""Characters of a description of which the line is the beginning."""

_MAX_TEXT: Final = 400
"""Characters of a description that the search reads."""

_NAMED_TOOLS: Final = 8
_OF_ITEMS: Final = ("tools/", "prompts/", "resources/", "resource_templates/", "source/tools/")
"""How the paths of items begin. A finding at another path, such as `server`, may be in any text."""

_SENTENCE: Final = ". "


def find_purpose(dossier: Dossier, suspect: Collection[str] = ()) -> str:
    """The description of the registry entry, else of the server or its instructions, in one line.

    Without any, the names of its first tools. Empty for a server that lists nothing. `suspect` are the paths of texts
    that are left out; if one is not that of an item, all texts are.
    """
    if not _are_items(suspect):
        return ""
    return next((line for text in _descriptions(dossier, suspect) if (line := _one_line(text))), "")


def list_tool_texts(dossier: Dossier, suspect: Collection[str] = ()) -> tuple[str, ...]:
    """The names of the tools, then their titles and descriptions, without suspect tools."""
    tools = _tools(dossier, suspect)
    descriptions = (text[:_MAX_TEXT] for tool in tools for text in (tool.text("title"), tool.description) if text)
    texts = (*(tool.name[:_MAX_TEXT] for tool in tools), *descriptions)
    return texts if are_free_of_secrets(texts) else tuple(map(scrub_text, texts))


def list_readme_texts(dossier: Dossier, suspect: Collection[str] = ()) -> tuple[str, ...]:
    """The titles of the README's sections, then what it says of tools and examples; none if a text is suspect."""
    found = dossier.parsed(source.KIND, Source.parse)
    if found is None or found.readme is None or suspect:
        return ()
    readme = found.readme
    texts = tuple(text[:_MAX_TEXT] for text in (*readme.sections, readme.tools, readme.examples) if text)
    return texts if are_free_of_secrets(texts) else tuple(map(scrub_text, texts))


def _descriptions(dossier: Dossier, suspect: Collection[str]) -> Iterator[str]:
    if entry := dossier.parsed(registration.KIND, Registration.parse):
        yield entry.text("description")
    if seen := dossier.parsed(listing.KIND, Listing.parse):
        if isinstance(described := seen.server_info.get("description"), str):
            yield described
        yield seen.instructions.partition(_SENTENCE)[0]
    if names := [name for tool in _tools(dossier, suspect) if (name := tool.name.strip())]:
        yield f"Tools: {', '.join(names[:_NAMED_TOOLS])}"


def _are_items(suspect: Collection[str]) -> bool:
    """Whether all suspect texts are those of items, so that the others are known to be free of findings."""
    return all(place.startswith(_OF_ITEMS) for place in suspect)


def _tools(dossier: Dossier, suspect: Collection[str]) -> Sequence[Item]:
    seen = dossier.parsed(listing.KIND, Listing.parse)
    tools = seen.tools.items if seen and _are_items(suspect) else ()
    paths = {"/".join(place.removeprefix("source/").split("/")[:2]) for place in suspect}
    named = zip(tools, name_segments(tool.name for tool in tools), strict=True)
    return [tool for tool, segment in named if f"tools/{segment}" not in paths][:_MAX_TOOLS]


def _one_line(text: str) -> str:
    """The text on one line, cut at a word."""
    masked = scrub_text(text[:_MAX_READ])  # before it is cut, since half a secret is not recognized
    line = " ".join(masked.split()).encode("utf-8", "replace").decode()  # no lone surrogates
    if len(line) <= MAX_PURPOSE:
        return line
    cut = line[: MAX_PURPOSE - 1]
    return f"{cut.rpartition(' ')[0] or cut}…"
