"""What a registration says about the start of a package besides the arguments and variables of its server."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from evidence.canonical import Json
from evidence.json_members import array_or_empty, text_or_empty


class LaunchOptions(Struct, frozen=True, kw_only=True):
    """All empty: the command with the package's name is started, on stdio.

    `command`: the package's command, or `-m MODULE`. `python`: the version of Python (`3.12`). `requirements`: further
    Python packages. `url`: the local address at which the server listens in place of stdio.
    """

    command: str = ""
    python: str = ""
    requirements: tuple[str, ...] = ()
    url: str = ""

    def as_json(self) -> dict[str, Json]:
        """The members that are not empty."""
        members: dict[str, Json] = {
            "command": self.command,
            "python": self.python,
            "requirements": list(self.requirements),
            "url": self.url,
        }
        return {name: value for name, value in members.items() if value}

    @classmethod
    def from_json(cls, row: Mapping[str, Json]) -> LaunchOptions:
        """The options that `as_json` wrote."""
        return cls(
            command=text_or_empty(row.get("command")),
            python=text_or_empty(row.get("python")),
            requirements=tuple(text_or_empty(each) for each in array_or_empty(row.get("requirements"))),
            url=text_or_empty(row.get("url")),
        )
