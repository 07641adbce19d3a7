"""Words of a query that ask for a quality: measurements answer them, not the texts of servers.

A text that says "safe" proves nothing, so such a word neither finds nor excludes a server.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

GRADE: Final = "grade"
NOT_MEASURED: Final = "not measured"

QUALITIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("safe", "safely", "secure", "securely", "trusted", "trustworthy"), "security"),
        **dict.fromkeys(("maintained", "supported"), "maintenance"),
        **dict.fromkeys(("dependable", "reliable", "reliably"), "reliability"),
        **dict.fromkeys(("documented",), "documentation"),
        **dict.fromkeys(("best", "excellent", "good", "recommended"), GRADE),
        **dict.fromkeys(("famous", "popular"), NOT_MEASURED),
    }
)
"""What answers each word: a dimension of the default methodology, the grade, or nothing that is measured."""


def find_qualities(words: Iterable[str]) -> dict[str, str]:
    """The words that ask for a quality, and what answers each of them."""
    return {word: QUALITIES[word] for word in words if word in QUALITIES}
