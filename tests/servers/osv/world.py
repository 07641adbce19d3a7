"""What the export and the API of a local OSV answer, as google/osv.dev documents them (API and data dumps, 2026).

The versions of this world are dotted numbers, which it orders by itself and not by the code under test.
"""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from tests.servers.osv.records import Record

MAX_QUERIES = 1000


@dataclass
class Answer:
    """A response before it is written to a socket. `cut`: the connection closes after so many bytes of the body."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None


@dataclass
class OsvWorld:
    """Records by id. Everything may be changed between two requests.

    `listed` are further lines of the lists, `raw` documents that replace what would be answered at a path, `faults` the
    answers that a path gives before its real one, `refused` package names that the API refuses. `page`: results of one
    page; `bare`: the first page of everything holds nothing but a token.
    """

    records: dict[str, Record] = field(default_factory=dict)
    listed: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    raw: dict[str, bytes] = field(default_factory=dict)
    faults: dict[str, list[Answer]] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    page: int = 1000
    bare: bool = False
    requests: list[str] = field(default_factory=list)
    batches: list[list[Record]] = field(default_factory=list)

    def add(self, *records: Record) -> None:
        self.records |= {record["id"]: record for record in records}

    def answer(self, method: str, target: str, body: bytes) -> Answer:
        path = unquote(urlsplit(target).path)
        self.requests.append(f"{method} {path}")
        if self.faults.get(path):
            return self.faults[path].pop(0)
        if path in self.raw:
            return Answer(200, self.raw[path])
        parts = path.strip("/").split("/")
        if parts[:1] == ["v1"]:
            return self._api(method, parts[1:], body)
        return self._export(*parts) if method == "GET" and len(parts) == 2 else _error(404, "not found")

    # The export: one folder per ecosystem.

    def of(self, ecosystem: str) -> list[Record]:
        """The records of an ecosystem; suffixes are folded into it."""
        return [record for record in self.records.values() if ecosystem in _ecosystems(record)]

    def _export(self, ecosystem: str, name: str) -> Answer:
        records = self.of(ecosystem)
        if name == "all.zip" and records:
            return Answer(200, archive({f"{record['id']}.json": _compact(record) for record in records}))
        if name == "modified_id.csv" and records:
            rows = [(record["modified"], record["id"]) for record in records] + self.listed.get(ecosystem, [])
            rows.sort(key=lambda row: row[1])
            rows.sort(key=lambda row: row[0], reverse=True)
            return Answer(200, "".join(f"{modified},{found}\n" for modified, found in rows).encode())
        found = self.records.get(name.removesuffix(".json"))
        return Answer(200, _compact(found)) if found is not None else _error(404, "NoSuchKey")

    # The API.

    def _api(self, method: str, parts: list[str], body: bytes) -> Answer:
        if method == "GET" and parts[0] == "vulns" and len(parts) == 2:
            found = self.records.get(parts[1])
            return Answer(200, _compact(found)) if found else _error(404, "Bug not found.", code=5)
        if method == "POST" and parts == ["querybatch"]:
            return self._batch(json.loads(body)["queries"])
        return _error(404, "not found", code=5)

    def _batch(self, queries: list[Record]) -> Answer:
        self.batches.append(queries)
        if len(queries) > MAX_QUERIES:
            return _error(400, "too many queries", code=3)
        for place, query in enumerate(queries):
            if query["package"]["name"] in self.refused:
                return _error(400, f"error in query at index {place}: invalid package", code=3)
        return Answer(200, _compact({"results": [self._result(query) for query in queries]}))

    def _result(self, query: Record) -> Record:
        if self.bare and "page_token" not in query:
            return {"next_page_token": "0"}
        start = int(query.get("page_token", "0"))
        found = sorted(
            (record for record in self.records.values() if "withdrawn" not in record and _is_affected(record, query)),
            key=lambda record: str(record["id"]),
        )
        rows = [{"id": record["id"], "modified": record["modified"]} for record in found[start : start + self.page]]
        result: Record = {"vulns": rows} if rows else {}
        if start + self.page < len(found):
            result["next_page_token"] = str(start + self.page)
        return result


def archive(files: dict[str, bytes]) -> bytes:
    """A zip of files, sorted by name, with one date: equal files give equal bytes."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in sorted(files):
            packed.writestr(zipfile.ZipInfo(name), files[name], zipfile.ZIP_DEFLATED)
    return memory.getvalue()


def _is_affected(record: Record, query: Record) -> bool:
    package, version = query["package"], query["version"]
    for part in record["affected"]:
        if part["package"]["ecosystem"].partition(":")[0] != package["ecosystem"]:
            continue
        if part["package"]["name"] != package["name"]:
            continue
        if version in part.get("versions", []) or any(_holds(span, version) for span in part.get("ranges", [])):
            return True
    return False


def _holds(span: Record, version: str) -> bool:
    """Ranges of this world have one introduction and at most one end."""
    events = {name: text for event in span["events"] for name, text in event.items()}
    ours = _numbers(version)
    return (
        ours >= _numbers(events["introduced"])
        and not ("fixed" in events and ours >= _numbers(events["fixed"]))
        and not ("last_affected" in events and ours > _numbers(events["last_affected"]))
    )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _ecosystems(record: Record) -> set[str]:
    return {part["package"]["ecosystem"].partition(":")[0] for part in record["affected"]}


def _compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _error(status: int, message: str, code: int = 0) -> Answer:
    return Answer(status, _compact({"code": code, "message": message}))
