"""What the names of parameters announce."""

from __future__ import annotations

import re
from typing import Final

from scoring.text.words import parse_word_list

CONTENT: Final = parse_word_list(
    """
content contents body text message messages prompt thought thoughts input output response code script source data
payload json xml html markdown query sql graphql
    """
)
"""Fields that hold text of any length."""

CONTENT_ENDINGS: Final = ("content", "body", "text", "data")
"""Endings of the names of such fields."""

PATHS: Final = ("path", "file", "dir", "directory", "folder", "filename")
"""Fields that hold a path."""

ADDRESSES: Final = ("url", "uri", "href", "link", "endpoint")
"""Fields that hold an address."""

CHOICES: Final = parse_word_list("command query action method operation mode type kind")
"""Fields that often take one of a few values."""

SENSITIVE: Final = re.compile(
    "passw(?:or)?d|token|secret|auth|credential|(?:api|private|access)[_-]?key", re.ASCII | re.IGNORECASE
)
"""Anything in the name of a field that may hold a secret."""

CODE: Final = parse_word_list(
    "script code eval exec execute command cmd shell expression query sql javascript python bash"
)
"""Fields that hold something to execute."""
