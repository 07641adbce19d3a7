"""Kind `falls`: questions after which a server served no new client, and questions that it survived.

Body, schema 1 (canonical JSON):

    {"server": {"name": STRING, "version": STRING},
     "survived": [QUESTION, ...],
     "falls": [{"question": QUESTION, "transport": "streamable-http" | "sse", "signs": [STRING, ...]}, ...]}

QUESTION is an era and a step, such as `legacy/unknown-method` (`crawler.collectors.protocol.questions.inquiries`).
`server` is what the server says of itself; another version drops what is known. After each risky question, and after
all of a risk, a fresh client opens the server. When that fails twice, all questions since the last success are falls;
`signs` are the outcomes of the question and both openings. `survived` holds risky questions after which one was served.

The record is private until its finding is disclosed to the vendor, since a fall is a way to take the server down. The
transcript holds no question of that risk, so it does not tell which was the last.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from evidence.canonical import Json, canonical_json, parse_json
from evidence.json_members import object_or_empty, objects_in, strings_in, text_or_empty
from evidence.kinds.traits import Traits

KIND: Final = "falls"
SCHEMA: Final = 1
_ERA: Final = re.compile("legacy|modern")
_TRANSPORT: Final = re.compile("streamable-http|sse")
_SIGN: Final = re.compile("HTTP [0-9]{3}|no answer|unreachable|timeout")
TRAITS: Final = Traits(private=True, conversation=True, one_night=True)


class Fall(Struct, frozen=True, kw_only=True):
    """One question after which no new client was served."""

    question: str
    transport: str
    signs: tuple[str, ...]

    def to_json(self) -> dict[str, Json]:
        return {"question": self.question, "transport": self.transport, "signs": list(self.signs)}


class Falls(Struct, frozen=True, kw_only=True):
    """Typed, tolerant view of a falls body. `server` is the pair of name and version."""

    server: tuple[str, str] = ("", "")
    survived: tuple[str, ...] = ()
    falls: tuple[Fall, ...] = ()

    @staticmethod
    def parse(body: bytes) -> Falls:
        """View over the body; raise NotJson when it is not JSON."""
        return Falls.read(object_or_empty(parse_json(body)))

    @staticmethod
    def read(members: Mapping[str, Json]) -> Falls:
        """View over the members of a body."""
        server = object_or_empty(members.get("server"))
        return Falls(
            server=(text_or_empty(server.get("name")), text_or_empty(server.get("version"))),
            survived=strings_in(members.get("survived")),
            falls=tuple(_fall(each) for each in objects_in(members.get("falls"))),
        )

    def describe(self) -> str:
        """The questions that may be the cause and the last sign; empty without a fall."""
        if not self.falls:
            return ""
        questions, signs = " or ".join(fall.question for fall in self.falls), self.falls[-1].signs
        return f"after {questions} no fresh client was served: {signs[-1] if signs else 'no answer'}"

    def to_json(self) -> dict[str, Json]:
        name, version = self.server
        return {
            "server": {"name": name, "version": version},
            "survived": sorted(set(self.survived)),
            "falls": [fall.to_json() for fall in self.falls],
        }


def remove_questions(body: bytes) -> bytes:
    """The body without the questions of falls, by name or by elimination, and without what the server says of itself.

    Only members that are named here stay. Raise NotJson for bytes that are not JSON.
    """
    found = Falls.parse(body)
    fallen = tuple(
        Fall(
            question=f"{_keep(fall.question.partition('/')[0], _ERA)}/question-{number}",
            transport=_keep(fall.transport, _TRANSPORT),
            signs=tuple(_keep(sign.partition(":")[0], _SIGN) for sign in fall.signs),
        )
        for number, fall in enumerate(found.falls, start=1)
    )
    return canonical_json(Falls(survived=() if fallen else found.survived, falls=fallen).to_json())


def _keep(text: str, known: re.Pattern[str]) -> str:
    return text if known.fullmatch(text) else "unknown"


def _fall(raw: Mapping[str, Json]) -> Fall:
    return Fall(
        question=text_or_empty(raw.get("question")),
        transport=text_or_empty(raw.get("transport")),
        signs=strings_in(raw.get("signs")),
    )
