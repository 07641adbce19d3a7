"""Secrets planted in server answers and published code appear nowhere afterwards."""

from __future__ import annotations

import base64
import json
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

import pytest

from evidence.model import Absent
from evidence.store import blobs
from evidence.store.sql.json_columns import to_json
from tests.crawler.collectors.source.local_reading import reading
from tests.evidence.secrets.planted import planted
from tests.evidence.secrets.scanners import own_scanner
from tests.functional.processes import opened
from tests.servers import leaking
from tests.workers.cli.conftest import Hallmark

ROOT = Path(__file__).parents[3]
PRIVATE = {"HALLMARK_ALLOW_PRIVATE": "1", "HALLMARK_INTEROP": "full"}
PLACES = ("open", "broken", "page", "locked")


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    with leaking.running() as address:
        yield address


def test_a_whole_run_keeps_and_shows_no_secret(
    process: Hallmark, hallmark: Hallmark, base: str, home: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "servers"
    folder.mkdir()
    for place in PLACES:
        remote = {"type": "streamable-http", "url": f"{base}/{place}/mcp"}
        entry = {"name": f"com.example/{place}", "description": "A server", "version": "1.0.0", "remotes": [remote]}
        (folder / f"{place}.json").write_text(json.dumps(entry))
    report, exports = tmp_path / "report", tmp_path / "exports"
    exports.mkdir()
    ran = process("run", "--registry", str(folder), "--report", str(report), "--json", env=PRIVATE)
    assert ran.code == 0, ran.err
    said = {"run": ran.out + ran.err}
    for words in (("list", "--json"), ("show", "com.example/open", "--json"), ("show", "com.example/open")):
        done = hallmark(*words)
        said[" ".join(words)] = done.out + done.err
    for form in ("jsonl", "csv"):
        assert hallmark("export", "--format", form, "-o", str(exports / form)).code == 0
    files = {str(path): path.read_bytes() for top in (report, exports) for path in top.rglob("*") if path.is_file()}
    shown = files | {name: text.encode() for name, text in said.items()}
    assert any(b"search_notes" in text for text in shown.values()), "the listing is shown"
    secrets = {**leaking.LEAKS, "listed": leaking.LISTED}
    assert leaked(shown, secrets) == []
    rows = dict(_rows(home / "hallmark.db")) | dict(_packed(home / "hallmark.db"))
    assert any(b'"looked_at"' in value or b'"samples"' in value for place, value in rows.items() if "visit/" in place)
    assert any(b'"lines":' in value for place, value in rows.items() if "receipt/" in place), "receipts are read"
    assert any(b"[secret]" in value for value in rows.values()), "something was scrubbed"
    kept = [value for value in rows.values() if value.startswith(b'{"resources":')]
    assert any(b"# Settings" in value and b"found nothing" in value for value in kept), "texts are kept"
    assert leaked(rows, leaking.LEAKS) == []
    raw = {place.partition(".")[0] for place, _ in leaked(rows, {"listed": leaking.LISTED})}
    assert raw - {"hallmark"} == {"evidence_blob"}, "only a listing is kept as it was received"


@pytest.mark.parametrize("code", [(), pytest.param(("3",), marks=pytest.mark.soak)])
def test_nothing_that_a_process_says_is_kept(process: Hallmark, tmp_path: Path, code: tuple[str, ...]) -> None:
    saved = tmp_path / "saved.json"
    command = (sys.executable, "-m", "tests.servers.leaking", *code)
    words = ("scan", "--no-sandbox", "--json", "--save", str(saved), "--", *command)
    done = process(*words, env={"HALLMARK_INTEROP": "full"}, cwd=ROOT)
    shown = {"out": done.out.encode(), "err": done.err.encode()}
    assert leaked(shown, {**leaking.LEAKS, "listed": leaking.LISTED}) == []
    assert leaked({"saved": saved.read_bytes()}, leaking.LEAKS) == []


def test_nothing_of_a_tree_is_kept() -> None:
    files = [(file.path, file.text.encode()) for tree in ("first", "second") for file in planted(tree)]
    read = reading(dict(files))
    body = json.dumps([read.source, read.dependencies, read.secrets])
    words = {word.strip("\"',;()") for path, text in files for word in text.decode().split()}
    found = own_scanner()
    secrets = {word for word in words if len(word) > 15 and found.spans(word.encode())}
    assert len(secrets) > 30 and len(json.loads(body)[2]["findings"]) > 130
    assert [secret for secret in secrets if secret in body] == []


def leaked(places: Mapping[str, bytes], secrets: Mapping[str, str]) -> list[tuple[str, str]]:
    """Where which secret is, in any of its spellings."""
    return [
        (place, name)
        for place, text in places.items()
        for name, secret in secrets.items()
        if any(spelling in text for spelling in _spellings(secret))
    ]


def _spellings(secret: str) -> set[bytes]:
    plain = secret.encode()
    return {
        plain,
        plain[: len(plain) * 2 // 3],
        quote(secret, safe="").encode(),
        secret.replace("/", "\\/").encode(),
        base64.b64encode(plain),
        "".join(f"\\u{ord(letter):04x}" for letter in secret[:1]).encode() + plain[1:],
    }


def _rows(database: Path) -> Iterator[tuple[str, bytes]]:
    """Every value of every table, decompressed; and the files as they are."""
    for path in database.parent.rglob("*"):
        if path.is_file():
            yield path.name, path.read_bytes()
    with sqlite3.connect(database) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in names:
            cursor = connection.execute(f'SELECT * FROM "{table}"')
            columns = [column[0] for column in cursor.description]
            for number, row in enumerate(cursor):
                value = dict(zip(columns, row, strict=True))
                for column, cell in value.items():
                    data = cell if isinstance(cell, bytes) else str(cell).encode()
                    if table == "evidence_blob" and column == "body":
                        data = blobs.decompress_body(value["codec"], value["size"], data, name=str(number))
                    yield f"{table}.{column}.{number}", data


def _packed(database: Path) -> Iterator[tuple[str, bytes]]:
    """What is packed with a dictionary, or by what it shares with other rows: notes of visits, and receipts."""
    with opened(f"sqlite:///{database}") as store:
        for row in store.list_runs(9):
            for dossier in store.read_dossiers(row.run.id, store.list_planned_servers(row.run.id)):
                for kind, record in dossier.records.items():
                    said = record.content.detail if isinstance(record.content, Absent) else ""
                    yield f"visit/{kind}.{dossier.server.id}", to_json([record.observation, said]).encode()
            for card in store.read_scorecards(row.run.id):
                yield f"receipt/{card.rubric}@{card.version}.{card.server}", card.body
