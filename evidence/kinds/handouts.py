"""Kind `handouts`: the content that a server returns: texts of listed resources, and of results of its tools.

Body, schema 1 (UTF-8 JSON that we write; the texts are the server's or a third party's, without secrets):

    {"resources": [{"uri": STRING, "index": INT, HANDED_OUT, "why": STRING}, ...], "unread": INT,
     "results": [{"tool": NAME, "index": INT, HANDED_OUT}, ...], "untried": REASON | ""}

    HANDED_OUT: "text": STRING, "whole": BOOL, "binary": INT

`index` is the index in the listing. Several contents are one `text`, a line each; `whole` is false when it was cut, and
`binary` counts contents that are not text, which are not kept. `why` says why a resource could not be read, and
`unread` counts listed resources beyond the sample. `results` are those of successful calls, of the tools that `trials`
of the same run names; `untried` says why no tool was called. Errors are in `trials`.

Only a full probe reads resources and results; other probes keep them for at most 14 days, as in `exchanges`. Returned
content may change with every request, so it is read weekly. It may belong to third parties, so the kind is private.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from evidence.canonical import Json, parse_json
from evidence.json_members import array_or_empty, object_or_empty, read_members, text_or_empty
from evidence.kinds.traits import Traits

KIND: Final = "handouts"
SCHEMA: Final = 1
TRAITS: Final = Traits(private=True, conversation=True, one_night=True)

MAX_RESOURCES: Final = 5
MAX_RESOURCE_BYTES: Final = 16 * 1024
MAX_RESULT_BYTES: Final = 8 * 1024
"""Bytes of one text in UTF-8. At most eight tools are called, so a body stays below 150 KiB."""


class Handout(Struct, frozen=True, kw_only=True):
    """One resource or one result of a tool. `name` is the URI or the tool; `why` says why it could not be read."""

    name: str
    index: int
    text: str = ""
    whole: bool = True
    binary: int = 0
    why: str = ""


class Handouts(Struct, frozen=True):
    """Typed, tolerant view of a handouts body."""

    resources: tuple[Handout, ...] = ()
    results: tuple[Handout, ...] = ()
    unread: int = 0
    untried: str = ""

    @staticmethod
    def parse(body: bytes) -> Handouts:
        """View a body of the current schema; raise NotJson when it is not JSON."""
        members = object_or_empty(parse_json(body))
        return read_members(
            Handouts,
            members,
            resources=tuple(_handout(object_or_empty(row), "uri") for row in array_or_empty(members.get("resources"))),
            results=tuple(_handout(object_or_empty(row), "tool") for row in array_or_empty(members.get("results"))),
        )


def _handout(row: Mapping[str, Json], name: str) -> Handout:
    return read_members(Handout, row, name=text_or_empty(row.get(name)), whole=row.get("whole") is not False)
