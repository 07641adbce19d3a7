from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from evidence.model import Observed, Reason, TargetType
from publish.disclosure import WithheldServer, disclose_dossier
from tests.publish import samples
from tests.workers.cli.conftest import Hallmark
from workers.cli.measure.scan_file import InvalidSavedDossier, decode_dossier, encode_dossier
from workers.cli.measure.scan_target import InvalidTarget, read_target

ROOT = Path(__file__).resolve().parents[4]
STDIO = [sys.executable, "-m", "tests.servers.scripted_stdio", "--number", "3"]
DIGEST = "sha256:" + "0" * 64


@pytest.mark.parametrize(
    ("text", "kind", "identifier", "version", "ref"),
    [
        ("npm:left-pad", TargetType.NPM, "left-pad", None, "npm:left-pad"),
        ("npm:@a/b@1.2.3", TargetType.NPM, "@a/b", "1.2.3", "npm:@a/b"),
        ("npm:@a/b", TargetType.NPM, "@a/b", None, "npm:@a/b"),
        ("pypi:Mcp_Server==1.0", TargetType.PYPI, "Mcp_Server", "1.0", "pypi:mcp-server"),
        ("oci:Ghcr.io/a/b:1.0", TargetType.OCI, "ghcr.io/a/b", "1.0", "oci:ghcr.io/a/b"),
        (f"oci:time@{DIGEST}", TargetType.OCI, "docker.io/library/time", DIGEST, "oci:docker.io/library/time"),
        (
            "https://Example.com/mcp",
            TargetType.STREAMABLE_HTTP,
            "https://Example.com/mcp",
            None,
            "https://example.com/mcp",
        ),
        ("https://example.com/sse", TargetType.SSE, "https://example.com/sse", None, "https://example.com/sse"),
    ],
)
def test_a_target_is_read_as_written(
    text: str, kind: TargetType, identifier: str, version: str | None, ref: str
) -> None:
    server = read_target(text).server
    first = server.targets[0]
    assert (first.type, first.identifier, first.version, server.ref) == (kind, identifier, version, ref)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "npm:",
        "npm:a@",
        "pypi:a==",
        "left-pad",
        "ftp://x",
        "npm:../../etc",
        "oci:",
        "oci:--x",
        "oci:a@b",
        "./no.json",
    ],
)
def test_what_is_no_target_says_what_is(text: str) -> None:
    with pytest.raises(InvalidTarget, match=r"expected .*; found"):
        read_target(text)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["https://a.example", "--from", "x"],
        ["https://a.example", "--", "cmd"],
        ["--"],
        ["https://a.example", "--no-sandbox"],
        ["npm:x", "--no-sandbox"],
        ["npm:x", "--network", "api.example.com"],
        ["npm:x", "--network", "allow:"],
        ["npm:x", "--network", "allow:*"],
        ["npm:x", "--network", "allow:https://api.example.com/"],
        ["npm:x", "--network", "allow:a.example:99999"],
        ["--network", "allow:a.example", "--no-sandbox", "--", "cmd"],
        ["--network", "allow:a.example", "--from", "x"],
        ["https://a.example", "--network", "allow:a.example"],
        ["nothing"],
        ["npm:x", "--rubric", "nope"],
        ["npm:x", "--rubric", "lint@99"],
        ["npm:x", "--fail-under", "high"],
        ["npm:x", "--fail-under", "nan"],
        ["npm:x", "--format", "xml"],
    ],
    ids=" ".join,
)
def test_combinations_that_mean_nothing_are_wrong_usage(hallmark: Hallmark, words: list[str]) -> None:
    result = hallmark("scan", *words)
    assert result.code == 2
    assert result.out == ""
    assert "Traceback" not in result.err


def test_a_url_is_measured_and_every_line_printed(
    process: Hallmark, hallmark: Hallmark, fleet: str, tmp_path: Path
) -> None:
    url, saved = f"{fleet}/s/1/mcp", tmp_path / "one.json"
    result = process(
        "scan", url, "--allow-private", "--save", str(saved), "--rubric", "lint@1", "--rubric", "adaptive@1"
    )
    assert result.code == 0, result.err
    assert "lint@1" in result.out
    assert "adaptive@1" in result.out
    again = hallmark("scan", "--from", str(saved), "--json")
    live = hallmark("scan", url, "--allow-private", "--json")
    assert again.rows[0]["scorecards"] is not None
    assert _scores(again.rows[0]) == _scores(live.rows[0])
    chosen = ["--rubric", "lint@1", "--rubric", "adaptive", "--rubric", "lint@1"]
    lint, adaptive = hallmark("scan", "--from", str(saved), "--json", *chosen).rows[0]["scorecards"]  # type: ignore[misc]
    assert (lint["rubric"], lint["version"], adaptive["rubric"]) == ("lint", "1", "adaptive")


def test_a_locked_server_is_not_zero(hallmark: Hallmark, fleet: str) -> None:
    result = hallmark("scan", f"{fleet}/s/6/mcp", "--allow-private", "--json")
    assert result.code == 3
    (row,) = result.rows
    assert row["evidence"]["listing"]["absent"]["reason"] == Reason.OAUTH_REQUIRED.value  # type: ignore[index]
    lint = next(card for card in row["scorecards"] if card["rubric"] == "lint")  # type: ignore[attr-defined]
    assert (lint["score"], lint["reason"]) == (None, "oauth_required")
    told = hallmark("scan", f"{fleet}/s/6/mcp", "--allow-private").out
    assert "AUTH-01" in told and "gated at connect" in told
    assert "HTTP-01" not in told and "Tool calls" not in told


def test_a_private_address_needs_to_be_allowed(hallmark: Hallmark, fleet: str) -> None:
    result = hallmark("scan", f"{fleet}/s/1/mcp")
    assert result.code == 3
    assert "blocked address" in result.out
    assert "--allow-private" in result.err


def test_a_command_without_a_sandbox_says_so_and_is_never_publishable(process: Hallmark, tmp_path: Path) -> None:
    saved = tmp_path / "bare.json"
    result = process("scan", "--no-sandbox", "--save", str(saved), "--", *STDIO, cwd=ROOT)
    assert result.code == 0, result.err
    assert "without a sandbox" in result.err
    dossier = decode_dossier(saved.read_bytes(), samples.AS_OF)
    assert isinstance(disclose_dossier(dossier), WithheldServer)


@pytest.mark.live
@pytest.mark.sandbox
def test_a_command_runs_in_the_sandbox(process: Hallmark, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HALLMARK_CACHE")  # the sandbox that `make live` built
    command = ["--", "python", "-m", "tests.servers.scripted_stdio"]
    result = process("scan", "--evidence", *command, cwd=ROOT)
    assert result.code == 0, result.err
    assert "bubblewrap" in result.out
    assert "without a sandbox" not in result.err


def test_a_server_json_is_scanned_with_its_entry(hallmark: Hallmark, registry: Path) -> None:
    result = hallmark("scan", str(registry / "1.json"), "--allow-private", "--json")
    assert result.code == 0, result.err
    (row,) = result.rows
    assert row["server"]["name"] == "com.example/server-1"  # type: ignore[index]
    assert row["evidence"]["registration"]["absent"] is None  # type: ignore[index]
    broken = hallmark("scan", str(registry / "broken.json"))
    assert broken.code == 2
    assert "not a valid server.json" in broken.err


def test_a_capture_is_scored_without_contacting_anybody(hallmark: Hallmark, tmp_path: Path) -> None:
    capture = {
        "package": "made-up",
        "version": "1.0.0",
        "initialize": {"capabilities": {"tools": {}}, "serverInfo": {"name": "made-up", "version": "1.0.0"}},
        "tools": [{"name": "search", "description": "Searches the catalogue.", "inputSchema": {"type": "object"}}],
    }
    (tmp_path / "capture.json").write_text(json.dumps(capture))
    result = hallmark("scan", "--from", str(tmp_path / "capture.json"), "--rubric", "lint@1")
    assert result.code == 0
    assert "lint@1" in result.out


def test_fail_under_tells_too_low_from_not_measured(hallmark: Hallmark, tmp_path: Path) -> None:
    saved, locked = tmp_path / "one.json", tmp_path / "locked.json"
    saved.write_bytes(encode_dossier(samples.dossiers(1)[0]))
    locked.write_bytes(encode_dossier(samples.absent_dossier(Reason.OAUTH_REQUIRED)))
    (card,) = hallmark("scan", "--from", str(saved), "--json", "--rubric", "lint@1").rows[0]["scorecards"]  # type: ignore[misc]

    def code(file: Path, *words: str) -> int:
        return hallmark("scan", "--from", str(file), *words).code

    lint = ["--rubric", "lint@1"]
    assert code(saved, *lint, "--fail-under", str(card["score"])) == 0
    assert code(saved, *lint, "--fail-under", str(card["score"] + 0.5)) == 4
    assert code(saved, *lint, "--rubric", "adaptive", "--fail-under", "0") == 0
    assert code(saved, "--fail-under", "101") == 4, "without --rubric the default methodology is judged"
    assert code(locked, *lint, "--fail-under", "0") == 3


def test_sarif_goes_to_stdout_or_beside_the_receipt(hallmark: Hallmark, tmp_path: Path) -> None:
    saved = tmp_path / "one.json"
    saved.write_bytes(encode_dossier(samples.dossiers(3)[2]))
    words = ["scan", "--from", str(saved), "--rubric", "lint@1"]
    printed = hallmark(*words, "--format", "sarif").out
    beside = hallmark(*words, "--sarif", str(tmp_path / "found.sarif"))
    assert "lint@1" in beside.out
    assert json.loads((tmp_path / "found.sarif").read_text()) == json.loads(printed)
    assert hallmark(*words, "--json").out == hallmark(*words, "--format", "json").out


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"hallmark_dossier": 99}', '{"hallmark_dossier": 1}', "\x00"])
def test_a_file_that_is_no_evidence_is_wrong_usage(hallmark: Hallmark, tmp_path: Path, content: str) -> None:
    (tmp_path / "x.json").write_text(content)
    result = hallmark("scan", "--from", str(tmp_path / "x.json"))
    assert result.code == 2
    assert "expected" in result.err or "damaged" in result.err or "capture" in result.err


def test_a_missing_file_is_named(hallmark: Hallmark, tmp_path: Path) -> None:
    result = hallmark("scan", "--from", str(tmp_path / "gone.json"))
    assert result.code == 1
    assert "gone.json" in result.err


@pytest.mark.parametrize(
    "dossier",
    [*samples.dossiers(6), samples.hostile_dossier(), samples.unsandboxed_dossier()],
    ids=lambda it: it.server.id,
)
def test_saved_evidence_reads_back_equal(dossier: samples.Dossier) -> None:
    assert decode_dossier(encode_dossier(dossier), samples.AS_OF) == dossier


def test_saved_evidence_that_was_changed_is_refused() -> None:
    saved = encode_dossier(samples.dossiers(1)[0])
    with pytest.raises(InvalidSavedDossier, match="digest"):
        decode_dossier(saved.replace(b'"streamable-http"', b'"streamably-http"'), samples.AS_OF)
    with pytest.raises(InvalidSavedDossier, match="reformatted"):
        decode_dossier(json.dumps(json.loads(saved)).encode(), samples.AS_OF)


def test_a_saved_body_can_be_read_and_holds_whatever_the_server_sent() -> None:
    body = b'{"a": "\\"bytes\\": 3",\n"bytes": 3, "body":\n {}, "big": 1e400, "big": 2}'
    record = replace(samples.dossiers(1)[0].records["listing"], content=Observed(body))
    dossier = replace(samples.dossiers(1)[0], records={"listing": record, "other": replace(record, kind="other")})
    assert decode_dossier(encode_dossier(dossier), samples.AS_OF) == dossier
    assert body in encode_dossier(dossier)


def _scores(row: dict[str, object]) -> list[object]:
    return [card["score"] for card in row["scorecards"]]  # type: ignore[attr-defined]
