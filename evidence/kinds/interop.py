"""Kind `interop`: the result of connecting with the official SDK's client. Evidence about interoperability only.

Body, schema 1 (canonical JSON):

    {"client": "mcp", "version": STRING, "connected": BOOL, "negotiated": STRING | null,
     "listed": {"tools" | "resources" | "resourceTemplates" | "prompts": INT, ...} | null,
     "said": {"asked": "connect" | METHOD, "error": STRING, "code": INT | null, "message": STRING} | null}

`listed` counts the items of each list that the client read to its end; a list whose capability is not declared is not
requested. `said` is the first error of the client: the class of the exception, the code of a JSON-RPC error, and a
masked message that is the same in every run. After an error nothing more is requested. When a limit of ours ended the
session, the record is Absent instead. `asked` is `server/discover` for a launched server that exited at it and opened
with `initialize` when it was started again.

Observation: `met_at`, the time of the connection; for a launched server `sandbox`, the runtime that contained it
(`bubblewrap`, or `none` for a command that its user runs uncontained), and `facts` of its launch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct, field

from evidence.canonical import parse_json
from evidence.json_members import object_or_empty, read_members, text_or_empty
from evidence.kinds.traits import FACTS, Traits

KIND: Final = "interop"
SCHEMA: Final = 1
TRAITS: Final = Traits(licence=FACTS)

CONNECT: Final = "connect"


class Interop(Struct, frozen=True, kw_only=True):
    """Typed, tolerant view of an interop body. `error` is empty when the client reported none."""

    client: str
    version: str
    connected: bool
    negotiated: str
    listed: Mapping[str, int] = field(default_factory=dict)
    asked: str = ""
    error: str = ""
    code: int | None = None
    message: str = ""

    @staticmethod
    def parse(body: bytes) -> Interop:
        """View over the body; raise NotJson when the bytes are not JSON."""
        members = object_or_empty(parse_json(body))
        error = object_or_empty(members.get("said"))
        listed = object_or_empty(members.get("listed"))
        return read_members(
            Interop,
            members,
            listed={name: count for name, count in listed.items() if isinstance(count, int)},
            asked=text_or_empty(error.get("asked")),
            error=text_or_empty(error.get("error")),
            code=code if isinstance(code := error.get("code"), int) else None,
            message=text_or_empty(error.get("message")),
        )
