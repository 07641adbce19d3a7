"""Regular expressions that are compiled when they are first used.

Compiling takes about 0.2 ms for each, and a command uses a few of several hundred. `compile_on_use` is for those of
modules that many processes import and few use.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, Final, cast

_MEMBERS: Final = (
    "search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split", "pattern", "flags", "groups",
    "groupindex",
)  # fmt: skip


class PatternOnUse:
    """Has the members of the compiled expression from the first use of one of them."""

    __slots__ = ("_expression", "_flags", *_MEMBERS)

    def __init__(self, expression: str | bytes, flags: int) -> None:
        self._expression = expression
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        """Called only for a member that is not set yet."""
        if name not in _MEMBERS:
            raise AttributeError(f"a regular expression has no attribute {name!r}")
        compiled = re.compile(self._expression, self._flags)
        for member in _MEMBERS:
            setattr(self, member, getattr(compiled, member))
        return getattr(self, name)


def compile_on_use(expression: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """An expression for `re` that is compiled when it is first used; an error in it shows only then."""
    return cast("re.Pattern[AnyStr]", PatternOnUse(expression, flags))
