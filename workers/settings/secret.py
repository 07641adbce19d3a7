"""A text that must not be shown."""

from __future__ import annotations

from typing import Final

HIDDEN: Final = "**********"


class Secret:
    """A password, key or token, or an address that may hold one: masked wherever it is printed. No struct, since
    those show their fields to printers and encoders.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text itself: not for logs, errors and output."""
        return self._text

    def __str__(self) -> str:
        return HIDDEN if self._text else ""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, Secret) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)
