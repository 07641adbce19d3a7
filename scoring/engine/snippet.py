"""What a maintainer changes to fix a finding, as text before and after the fix."""

from __future__ import annotations

from enum import StrEnum
from inspect import cleandoc

from msgspec import Struct


class Language(StrEnum):
    """The language of a snippet, under the name that Markdown uses for code blocks."""

    HTTP = "http"
    JSON = "json"
    MARKDOWN = "markdown"
    PYTHON = "python"
    TYPESCRIPT = "typescript"
    YAML = "yaml"


class Snippet(Struct, frozen=True, kw_only=True):
    """`where` says what the text is; `before` is None where the fix adds a text that does not exist yet."""

    language: Language
    where: str
    before: str | None
    after: str


def write_snippet(language: Language, where: str, *, before: str | None = None, after: str) -> Snippet:
    """A snippet written by hand where no example of the rule shows what to edit; common indentation is removed."""
    shown = None if before is None else cleandoc(before)
    return Snippet(language=language, where=where, before=shown, after=cleandoc(after))
