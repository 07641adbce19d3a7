"""Examples of the API: one request for each operation, and the answers of an example installation.

The answers in examples.json are recorded from the installation in tests/publish/api/example_site.py; their lists are
cut to MAX_ITEMS entries.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

ORIGIN: Final = "https://hallmark.example"
MAX_ITEMS: Final = 2
RECORDED: Final = Path(__file__).with_name("examples.json")

_QUERIES: Final[Mapping[str, str]] = {
    "listServers": "?q=notes&sort=relevance&limit=1",
    "getHistory": "?rubric=adaptive",
    "listScorecards": "?rubric=lint",
    "listAudit": "?limit=1",
}
"""Query strings of the requests, by operation."""

_NAME: Final = re.compile(r"\{(\w+)\}")


class ExampleRequest(Struct, frozen=True):
    """A request to the example installation; `body` is JSON, or empty."""

    method: str
    url: str
    body: str
    needs_token: bool

    @property
    def command(self) -> str:
        """The request as a command line."""
        return " ".join(("curl", *self._options(), shlex.quote(self.url)))

    def _options(self) -> Iterator[str]:
        if self.method != "GET":
            yield f"-X {self.method}"
        if self.needs_token:
            yield '-H "Authorization: Bearer $TOKEN"'
        if self.body:
            yield f"--json {shlex.quote(self.body)}"


def make_request(base: str, method: str, path: str, operation: Mapping[str, Any]) -> ExampleRequest:
    """The request of an operation of the OpenAPI document, from the examples of its path parameters and its body."""
    values = {
        one["name"]: one["schema"]["examples"][0] for one in operation.get("parameters", []) if one["in"] == "path"
    }
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    security = operation.get("security", [])
    return ExampleRequest(
        method=method.upper(),
        url=ORIGIN
        + base
        + _NAME.sub(lambda name: str(values[name[1]]), path)
        + _QUERIES.get(operation["operationId"], ""),
        body=json.dumps(content["example"]) if content else "",
        needs_token=bool(security) and {} not in security,
    )


@cache
def read_recorded() -> Mapping[str, Any]:
    """The recorded answers, by operation."""
    found: dict[str, Any] = json.loads(RECORDED.read_bytes())
    return found


def cut_lists(value: Any) -> Any:
    """A JSON value with at most MAX_ITEMS entries in each list."""
    if isinstance(value, dict):
        return {name: cut_lists(member) for name, member in value.items()}
    return [cut_lists(one) for one in value[:MAX_ITEMS]] if isinstance(value, list) else value
