"""Names and tokens of questions: random on the wire, so that a server cannot recognise a probe, fixed in the record."""

from __future__ import annotations

import re
import secrets
import uuid
from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from crawler.collectors.protocol.questions.inquiries import (
    FOREIGN_HOST,
    FOREIGN_ORIGIN,
    OTHER_UNKNOWN_NAME,
    TEXT_ID,
    UNKNOWN_CURSOR,
    UNKNOWN_METHOD,
    UNKNOWN_NAME,
    UNKNOWN_SESSION,
    UNKNOWN_URI,
    UNKNOWN_VERSION,
    Inquiry,
)
from crawler.mcp.streamable_http import encode_base64_text

# Each with a plural in `s`, for addresses and methods.
_NOUNS: Final = (
    "account",
    "calendar",
    "contact",
    "document",
    "invoice",
    "message",
    "order",
    "page",
    "project",
    "ticket",
)
_VERBS: Final = ("archive", "export", "find", "get", "list", "open", "read", "search", "send", "update")


class RandomNames:
    """The names of one probe. They look like those of a client, and the record holds the fixed ones instead.

    So an unchanged server leaves an equal body.
    """

    def __init__(self) -> None:
        self._sent = _with_encoded(_draw())
        self._fixed = {sent: fixed for fixed, sent in self._sent.items()}
        self._to_send = _pattern(self._sent)
        self._to_record = _pattern(self._fixed)

    def apply(self, inquiry: Inquiry) -> Inquiry:
        """The inquiry as it is sent."""
        headers = inquiry.headers and tuple((name, self._to_sent(value)) for name, value in inquiry.headers)
        return replace(inquiry, body=self._to_sent(inquiry.body.decode()).encode(), headers=headers)

    def restore(self, text: str) -> str:
        """A text of the conversation with the fixed names."""
        return self._to_record.sub(lambda found: self._fixed[found[0]], text)

    def restore_bytes(self, data: bytes) -> bytes:
        """Bytes of the conversation, in any encoding, with the fixed names."""
        text = data.decode("utf-8", "surrogateescape")
        restored = self.restore(text)
        return data if restored is text else restored.encode("utf-8", "surrogateescape")

    def _to_sent(self, text: str) -> str:
        return self._to_send.sub(lambda found: self._sent[found[0]], text)


def draw_word(separator: str) -> str:
    """A noun and random characters, such as a client's identifiers have."""
    return f"{secrets.choice(_NOUNS)}{separator}{secrets.token_hex(4)}"


def _draw() -> Mapping[str, str]:
    noun, other, scheme = (secrets.choice(_NOUNS) for _ in range(3))
    verb, other_verb = secrets.choice(_VERBS), secrets.choice(_VERBS)
    year, month, day = (secrets.choice(numbers) for numbers in (range(2001, 2020), range(1, 13), range(1, 29)))
    host = f"{other}s-{secrets.token_hex(3)}.example"
    return {
        UNKNOWN_NAME: f"{verb}_{noun}_{secrets.token_hex(4)}",
        OTHER_UNKNOWN_NAME: f"{other_verb}_{other}_{secrets.token_hex(4)}",
        UNKNOWN_URI: f"{scheme}://{other}/{secrets.token_hex(8)}",
        UNKNOWN_CURSOR: secrets.token_urlsafe(15),
        UNKNOWN_METHOD: f"{noun}s/{verb}_{secrets.token_hex(3)}",
        UNKNOWN_SESSION: str(uuid.uuid4()),
        FOREIGN_ORIGIN: f"https://{host}",
        FOREIGN_HOST: host,
        UNKNOWN_VERSION: f"{year}-{month:02}-{day:02}",
        TEXT_ID: f"{scheme}-{secrets.token_hex(6)}",
    }


def _with_encoded(names: Mapping[str, str]) -> dict[str, str]:
    """The names, and the one that is also sent as Base64 in a header."""
    return {**names, encode_base64_text(UNKNOWN_NAME): encode_base64_text(names[UNKNOWN_NAME])}


def _pattern(names: Mapping[str, str]) -> re.Pattern[str]:
    """Longer names first, since one may begin with another."""
    return re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True))))
