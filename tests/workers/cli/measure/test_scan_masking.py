"""No credential of an address is printed or saved; the probe itself uses the real one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from msgspec.structs import replace

from evidence.model import Absent, Observed, Reason, Target, TargetType
from tests.publish import samples
from tests.workers.cli.conftest import Hallmark
from workers.cli.measure.scan_file import decode_dossier, encode_dossier
from workers.cli.measure.scan_masking import mask_dossier, mask_text

SECRET = "hunter2-and-more"
HEADER_SECRET = "Basic aHVudGVyMg=="


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://a.example/mcp?api_key=x", "https://a.example/mcp?api_key=***"),
        ("https://a.example/mcp?lang=en&API-Key=x&page=2", "https://a.example/mcp?lang=en&API-Key=***&page=2"),
        ("https://a.example/mcp?access%5Ftoken=x#token=y", "https://a.example/mcp?access%5Ftoken=***#token=***"),
        ("https://a.example/mcp?q=sk-123&v=ghp_12", "https://a.example/mcp?q=***&v=***"),
        ("https://me:pw@a.example/mcp", "https://***@a.example/mcp"),
        ("found 'ftp://me:p@w@a.example': expected", "found 'ftp://***@a.example': expected"),
        ("https://a.example/mcp?key={key}", "https://a.example/mcp?key={key}"),
        ("https://a.example/mcp?lang=en&page=2", "https://a.example/mcp?lang=en&page=2"),
        ("npm:@scope/name@1.2.3", "npm:@scope/name@1.2.3"),
    ],
)
def test_credentials_of_addresses_are_masked(text: str, shown: str) -> None:
    assert mask_text(text) == shown
    assert mask_text(shown) == shown


def test_evidence_that_repeats_a_secret_is_masked_and_stays_readable() -> None:
    dossier = samples.dossiers(1)[0]
    url = f"https://a.example/mcp?token={SECRET}&v=1"
    target = Target(type=TargetType.STREAMABLE_HTTP, identifier=url, headers=(("X-Api-Key", HEADER_SECRET),))
    body = json.dumps({"target": {"identifier": url}, "said": f"key {SECRET} and {HEADER_SECRET}"}).encode()
    records = {
        "listing": replace(dossier.records["listing"], content=Observed(body), observation={"urls": [url, {"x": url}]}),
        "registration": replace(
            dossier.records["registration"], content=Absent(Reason.TIMEOUT, f"no answer from {url}")
        ),
    }
    found = mask_dossier(replace(dossier, server=replace(dossier.server, ref=url, targets=(target,)), records=records))
    kept = encode_dossier(found)
    assert decode_dossier(kept, samples.AS_OF) == found
    content = found.records["listing"].content
    assert isinstance(content, Observed)
    assert json.loads(content.body)["target"]["identifier"] == "https://a.example/mcp?token=***&v=1"
    for secret in (SECRET, HEADER_SECRET):
        assert secret.encode() not in kept + content.body
    assert {record.server for record in found.records.values()} == {found.server.id}


def test_a_dossier_without_secrets_is_as_it_was() -> None:
    for dossier in samples.dossiers(8):
        assert mask_dossier(dossier) == dossier


class _Echo(BaseHTTPRequestHandler):
    """Refuses everything, repeating the address that was asked for."""

    asked: list[str] = []  # noqa: RUF012  one per server class

    def do_POST(self) -> None:
        self.asked.append(self.path)
        self.send_response(403)
        self.end_headers()
        self.wfile.write(f"no access to {self.path}".encode())

    do_GET = do_POST

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def echo() -> Iterator[tuple[str, Sequence[str]]]:
    class Handler(_Echo):
        asked: list[str] = []  # noqa: RUF012

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", Handler.asked
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("form", ["text", "json", "sarif"])
def test_nothing_that_scan_prints_or_saves_holds_the_secret(
    hallmark: Hallmark, echo: tuple[str, Sequence[str]], tmp_path: Path, form: str
) -> None:
    base, asked = echo
    saved, findings = tmp_path / "saved.json", tmp_path / "found.sarif"
    words = ["--allow-private", "--save", str(saved), "--sarif", str(findings), "--format", form, "--evidence"]
    result = hallmark("scan", f"{base}/mcp?api_key={SECRET}", *words)
    assert result.code == 3, result.err
    assert any(SECRET in path for path in asked), "the probe uses the real address"
    texts = [result.out, result.err, saved.read_text(), findings.read_text()]
    assert not any(SECRET in text for text in texts)
    assert "api_key=***" in result.out


def test_a_measured_server_is_saved_without_the_secret(hallmark: Hallmark, fleet: str, tmp_path: Path) -> None:
    saved = tmp_path / "saved.json"
    result = hallmark("scan", f"{fleet}/s/1/mcp?api_key={SECRET}", "--allow-private", "--save", str(saved), "--json")
    assert result.code == 0, result.err
    dossier = decode_dossier(saved.read_bytes(), samples.AS_OF)
    content = dossier.read("listing")
    assert isinstance(content, Observed)
    assert SECRET.encode() not in saved.read_bytes() + content.body
    again = hallmark("scan", "--from", str(saved), "--json")
    assert again.rows[0]["scorecards"] == result.rows[0]["scorecards"]


def test_a_refused_address_is_shown_without_its_password(hallmark: Hallmark) -> None:
    result = hallmark("scan", f"https://me:{SECRET}@a.example/mcp")
    assert result.code == 2
    assert SECRET not in result.out + result.err
    assert "https://***@a.example/mcp" in result.err
