"""Asks a site for everything: every page that a link leads to, every path of the API, badges, tools, files."""

from __future__ import annotations

import gzip
import html
import itertools
import json
import re
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, Final
from urllib.parse import urldefrag, urljoin, urlsplit

import pyarrow.parquet
from starlette.testclient import TestClient

BASE: Final = "https://hallmark.example"
MOST: Final = 3_000
"""Addresses that are asked for; a site that has more for a handful of servers leads in circles."""
VARIANTS: Final = 6
"""Queries that are tried for one path: filters multiply."""
SAMPLE: Final = 12
"""Addresses that are asked for of those that are `sampled`."""

_LINK: Final = re.compile(r"""(?:href|src|action)=["']([^"']*)["']""")
_LOCATION: Final = re.compile(r"<loc>([^<]*)</loc>")
_QUOTED: Final = re.compile(rf'"((?:{re.escape(BASE)})?/[^"\s\\]{{0,400}})"')
_SKIPPED: Final = ("mailto:", "javascript:", "data:")


@dataclass
class Crawl:
    """Every answer by its address, in the order in which they came; what is encoded or packed is unpacked.

    Paths that begin with what is `skipped` are not asked for, and a few of those with what is `sampled`.
    """

    client: TestClient
    skipped: tuple[str, ...] = ()
    variants: int = VARIANTS
    sampled: tuple[str, ...] = ()
    answers: dict[str, str] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)
    _waiting: deque[str] = field(default_factory=deque)
    _seen: set[str] = field(default_factory=set)
    _variants: Counter[str] = field(default_factory=Counter)
    _samples: Counter[str] = field(default_factory=Counter)

    def add(self, *addresses: str) -> None:
        """Ask for addresses of this site, and for what they lead to."""
        for address in addresses:
            whole = urldefrag(urljoin(BASE, html.unescape(address)))[0]
            path = urlsplit(whole).path
            if not whole.startswith(f"{BASE}/") or whole in self._seen or path.startswith(self.skipped):
                continue
            kinds = [begin for begin in self.sampled if path.startswith(begin)]
            if self._variants[path] >= self.variants or any(self._samples[begin] >= SAMPLE for begin in kinds):
                continue
            self._samples.update(kinds)
            self._seen.add(whole)
            self._variants[path] += 1
            self._waiting.append(whole)

    def run(self) -> None:
        """Ask until nothing is left."""
        while self._waiting:
            address = self._waiting.popleft()
            assert len(self.answers) < MOST, f"more than {MOST} addresses; the last is {address}"
            answer = self.client.get(address)
            self.statuses[address] = answer.status_code
            kind = answer.headers.get("content-type", "")
            self.answers[address] = f"{_headers(answer.headers)}\n{_text(answer.content, address)}"
            self.add(*_links(kind, answer.text if kind.startswith(("text/", "application/")) else "", answer.headers))

    def traces(self, traces: Mapping[str, str]) -> dict[str, list[str]]:
        """What is found where it must not be, by address."""
        found = {
            address: [name for trace, name in traces.items() if trace in text] for address, text in self.answers.items()
        }
        return {address: names for address, names in found.items() if names}


def paths_of_api(document: Mapping[str, Any], values: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Every address that an OpenAPI document and some values of its parameters make, those of queries one by one."""
    for path, methods in document["paths"].items():
        if "get" not in methods:
            continue
        names = re.findall(r"\{(\w+)\}", path)
        for chosen in itertools.product(*(values[name] for name in names)):
            address = f"/api/v1{path}"
            for name, value in zip(names, chosen, strict=True):
                address = address.replace(f"{{{name}}}", value)
            yield address
            for parameter in methods["get"].get("parameters", []):
                if parameter["in"] == "query":
                    yield from (f"{address}?{parameter['name']}={one}" for one in values.get(parameter["name"], ()))


def call_tool(client: TestClient, name: str, arguments: Mapping[str, Any]) -> str:
    """The answer of a tool of the site's MCP server, whatever it is."""
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
    answer = client.post("/mcp", json=call, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.text


def _links(kind: str, text: str, headers: Mapping[str, str]) -> list[str]:
    found = [*re.findall(r"<([^>]*)>", headers.get("link", "")), headers.get("location", "")]
    if kind.startswith("text/html"):
        found += _LINK.findall(text)
    elif "xml" in kind or kind.startswith("text/plain"):
        found += _LOCATION.findall(text) + re.findall(r"(?m)^Sitemap: (\S+)", text)
    elif "json" in kind:
        found += _QUOTED.findall(text)
    return [link for link in found if link and not link.startswith(_SKIPPED)]


def _headers(headers: Mapping[str, str]) -> str:
    return "\n".join(f"{name}: {value}" for name, value in headers.items())


def _text(data: bytes, address: str) -> str:
    """What a file says, also inside of it."""
    if address.endswith(".parquet"):
        table = pyarrow.parquet.read_table(BytesIO(data))
        rows = json.dumps(table.to_pylist(), default=_plain)
        return f"{rows}\n{table.schema.metadata}"
    if address.endswith(".gz"):
        data = gzip.decompress(data)
    return data.decode("utf-8", "replace")


def _plain(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
