"""`hallmark scan FOLDER`: what a maintainer runs before a release."""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import string
import sys
import tarfile
import zipfile
from pathlib import Path
from threading import Thread

import jsonschema_rs
import pytest

from crawler.projects.project import describe_folder
from evidence.kinds import listing
from evidence.model import Absent, Reason
from publish.scan_reports.schema import SCAN_SCHEMA
from tests.crawler.sandbox.index_server import make_wheel
from tests.publish import samples
from tests.servers.osv.records import advisory, fixed_in
from tests.servers.osv.serving import running as running_osv
from tests.servers.osv.world import OsvWorld
from tests.workers.cli.conftest import Hallmark, Outcome
from workers.cli.measure.project_lines import LineFinder
from workers.cli.measure.scan_target import read_command_target
from workers.cli.measure.uninstalled_projects import excuse_missing_dependencies

TOKEN = "ghp_" + "".join(random.Random(7).choices(string.ascii_letters + string.digits, k=36))
SERVER = '''import json, sys

TOKEN = "%s"


def tool(name):
    """A tool."""


TOOL = {"name": "add_note", "description": "Adds a note.", "inputSchema": {"type": "object", "properties": {}}}
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    results = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                       "serverInfo": {"name": "notes", "version": "1"}},
        "tools/list": {"tools": [TOOL]},
        "ping": {},
    }
    answer = {"jsonrpc": "2.0", "id": request["id"]}
    if request["method"] in results:
        answer["result"] = results[request["method"]]
    else:
        answer["error"] = {"code": -32601, "message": "no such method"}
    print(json.dumps(answer), flush=True)
'''


@pytest.fixture
def project(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a credential, whose manifest does not say how it is started."""
    monkeypatch.setenv("HALLMARK_SOURCES", '["source"]')
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "pyproject.toml").write_text('[project]\nname = "notes-mcp"\nversion = "1.2.3"\n')
    (folder / "server.py").write_text(SERVER % TOKEN)
    (folder / "README.md").write_text("# Notes\n")
    (folder / "node_modules").mkdir()
    (folder / "node_modules/other.js").write_text(f'const t = "{TOKEN[::-1]}";')
    return folder


def snapshot(folder: Path) -> dict[str, tuple[int, int]]:
    paths = [folder, *folder.rglob("*")]
    return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in paths}


def document(result: Outcome) -> dict:
    return json.loads(result.out)


def test_the_files_are_read_and_nothing_is_written(hallmark: Hallmark, project: Path) -> None:
    before = snapshot(project)
    result = hallmark("scan", str(project))
    assert result.code == 0, result.err
    assert "The server was not started, so nothing of it is scored" in result.out
    assert "Expected `bin`, `main` or `scripts.start` in package.json" in " ".join(result.out.split())
    assert "server.py:3" in result.out
    assert TOKEN not in result.out + result.err
    assert "not enough evidence" in result.out
    assert snapshot(project) == before


def test_many_findings_fit_on_one_screen(hallmark: Hallmark, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    folder = project / "src/notes_server/connections/clients"
    folder.mkdir(parents=True)
    for number in range(12):
        (folder / f"client_{number}.py").write_text(SERVER % f"{TOKEN[:-4]}{number:04}")
    lines = hallmark("scan", str(project)).out.splitlines()
    assert "more groups of findings: --verbose" in " ".join(lines)
    assert len(lines) <= 60


def test_the_document_names_file_line_and_severity(hallmark: Hallmark, project: Path) -> None:
    found = document(hallmark("scan", str(project), "--json"))
    jsonschema_rs.Draft202012Validator(json.loads(json.dumps(SCAN_SCHEMA))).validate(found)
    assert found["server"]["ref"] == "project:notes-mcp"
    (secret,) = (one for one in found["findings"] if one["rule"] == "source-holds-secret")
    assert (secret["file"], secret["line"], secret["severity"]) == ("server.py", 3, "high")
    assert found["evidence"]["listing"]["absent"]["reason"] == "not_collected"


def test_severities_decide_and_a_baseline_accepts(hallmark: Hallmark, project: Path, tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    refused = hallmark("scan", str(project), "--fail-on", "high")
    assert refused.code == 4
    assert "refused findings (high)" in refused.err
    written = hallmark("scan", str(project), "--fail-on", "high", "--write-baseline", str(baseline))
    assert written.code == 0, written.err
    assert "replace the reasons" in written.err
    (project / "server.py").write_text("\n\n" + (project / "server.py").read_text())
    piped = tmp_path / "pipe"
    os.mkfifo(piped)  # which gives its content once
    writer = Thread(target=piped.write_bytes, args=(baseline.read_bytes(),), daemon=True)
    writer.start()
    moved = hallmark("scan", str(project), "--fail-on", "high", "--baseline", str(piped))
    assert moved.code == 0, moved.err
    assert "accepted" in moved.out
    (project / "server.py").write_text((SERVER % TOKEN).replace("TOKEN", "OTHER", 1) + f'\nX = "{TOKEN[:-1]}Q"\n')
    more = hallmark("scan", str(project), "--fail-on", "high", "--baseline", str(baseline))
    assert more.code == 4
    (project / "server.py").write_text("print('clean')\n")
    fixed = hallmark("scan", str(project), "--fail-on", "high", "--baseline", str(baseline))
    assert fixed.code == 0
    assert "1 stale in the baseline" in fixed.out


def test_a_baseline_holds_in_another_folder(hallmark: Hallmark, project: Path, tmp_path: Path) -> None:
    (project / "pyproject.toml").write_text("[tool.other]\n")
    elsewhere = shutil.copytree(project, tmp_path / "elsewhere/checkout")
    baseline = tmp_path / "baseline.json"
    assert hallmark("scan", str(project), "--write-baseline", str(baseline)).code == 0
    result = hallmark("scan", str(elsewhere), "--fail-on", "low", "--baseline", str(baseline))
    assert (result.code, "stale" in result.out) == (0, False), result.err


def test_a_command_is_known_by_the_same_name_in_another_folder(tmp_path: Path) -> None:
    refs = {
        read_command_target((f"{folder}/.venv/bin/python", "server.py"), folder).server.ref
        for folder in (tmp_path / "a", tmp_path / "b")
    }
    assert refs == {"command:.venv/bin/python server.py"}


def test_what_git_ignores_is_read_if_npm_publishes_it(hallmark: Hallmark, project: Path) -> None:
    (project / "pyproject.toml").unlink()
    (project / "package.json").write_text('{"name": "notes-mcp"}')
    (project / ".gitignore").write_text(".env\nbuild/\n")
    (project / ".npmignore").write_text("build/\n")
    (project / "build").mkdir()
    (project / ".env").write_text(f"GITHUB_TOKEN={TOKEN}\n")
    result = hallmark("scan", str(project))
    shown = " ".join(result.out.split())
    assert ".env:1" in shown
    assert "read: .env (git ignores it, but a release of the package holds it)" in shown
    assert "not read: build (git ignores it, and no release holds it)" in shown
    (project / ".npmignore").unlink()
    result = hallmark("scan", str(project))
    assert ".env:1" not in result.out
    assert "not read: .env, build" in " ".join(result.out.split())


@pytest.fixture
def locked(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project with a lockfile, of which advisories are asked for."""
    monkeypatch.setenv("HALLMARK_SOURCES", '["source", "advisories"]')
    monkeypatch.setenv("HALLMARK_KNOWN_EXPLOITED", "")
    monkeypatch.setenv("HALLMARK_CANARIES", "[]")
    (project / "requirements.txt").write_text("other==1.0.0\n\nparser==1.2.0 --hash=sha256:00\n")
    return project


def test_osv_is_asked_about_the_lockfile(hallmark: Hallmark, locked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = OsvWorld()
    world.add(advisory("GHSA-0000-0000-0001", fixed_in("PyPI", "parser", "1.3.0")))
    with running_osv(world) as base:
        monkeypatch.setenv("HALLMARK_OSV_API", base)
        found = document(hallmark("scan", str(locked), "--json"))
    flaws = [one for one in found["findings"] if "GHSA-0000-0000-0001" in one["at"]]
    assert {(one["file"], one["line"]) for one in flaws} == {("requirements.txt", 3)}
    assert {query["package"]["name"] for batch in world.batches for query in batch} == {"other", "parser"}


def test_that_osv_cannot_be_reached_is_said(hallmark: Hallmark, locked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALLMARK_OSV_API", "http://127.0.0.1:9")
    result = hallmark("scan", str(locked))
    assert "not fully examined" in result.out
    assert "the API of OSV" in " ".join(result.out.split())
    monkeypatch.setenv("HALLMARK_OSV_API", "")
    result = hallmark("scan", str(locked))
    assert "there is no mirror of advisories" in " ".join(result.out.split())


def test_a_demand_on_the_server_is_unmeasured_when_it_was_not_started(hallmark: Hallmark, project: Path) -> None:
    (project / "server.py").write_text("print('clean')\n")
    assert hallmark("scan", str(project), "--fail-on", "high").code == 0
    assert hallmark("scan", str(project), "--fail-on", "must").code == 3


def test_an_explicit_command_is_started_in_the_folder(process: Hallmark, project: Path, tmp_path: Path) -> None:
    log = tmp_path / "findings.sarif"
    words = [
        "scan",
        str(project),
        "--core",
        "--no-sandbox",
        "--json",
        "--sarif",
        str(log),
        "--",
        "python3",
        "server.py",
    ]
    result = process(*words, cwd=tmp_path)
    assert result.code == 0, result.err
    found = document(result)
    assert found["listed"]["tools"] == 1
    assert {one["file"] for one in found["findings"]} >= {"server.py"}
    (run,) = json.loads(log.read_text())["runs"]
    artifacts = [one["locations"][0]["physicalLocation"]["artifactLocation"] for one in run["results"]]
    assert {artifact["uriBaseId"] for artifact in artifacts} == {"%SRCROOT%"}
    assert {artifact["uri"] for artifact in artifacts} <= {"server.py", "pyproject.toml", "README.md"}


def test_the_folder_of_a_command_is_read_too(process: Hallmark, project: Path) -> None:
    result = process("scan", "--core", "--no-sandbox", "--json", "--", "python3", "server.py", cwd=project)
    assert result.code == 0, result.err
    found = document(result)
    assert found["server"]["ref"] == "command:python3 server.py"
    assert found["listed"]["tools"] == 1
    assert "source-holds-secret" in {one["rule"] for one in found["findings"]}


def test_without_a_sandbox_the_source_is_read_and_the_reason_shown(
    hallmark: Hallmark, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HALLMARK_SANDBOX", "off")
    (project / "notes_mcp").mkdir()
    (project / "notes_mcp/__main__.py").write_text("")
    result = hallmark("scan", str(project))
    assert result.code == 0, result.err
    assert "no sandbox" in result.out
    assert "switched off by HALLMARK_SANDBOX" in result.out
    assert "server.py:3" in result.out


@pytest.mark.live
@pytest.mark.sandbox
@pytest.mark.parametrize("environment", [None, "venv"])
def test_a_project_starts_in_the_sandbox_as_its_manifest_says(
    process: Hallmark, project: Path, monkeypatch: pytest.MonkeyPatch, environment: str | None
) -> None:
    monkeypatch.delenv("HALLMARK_CACHE")  # the sandbox that `make live` built
    (project / "src/notes_mcp").mkdir(parents=True)
    (project / "src/notes_mcp/__init__.py").write_text("")
    start = SERVER % TOKEN
    if environment:
        packages = f"{environment}/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
        (project / packages).mkdir(parents=True)
        (project / packages / "installed_before.py").write_text("")
        start = f"import installed_before\n{start}"
    (project / "src/notes_mcp/__main__.py").write_text(start)
    before = snapshot(project)
    result = process("scan", str(project), "--core", "--json")
    assert result.code == 0, result.err
    assert "started in the sandbox as notes_mcp/__main__.py says" in result.err
    assert document(result)["listed"]["tools"] == 1
    assert snapshot(project) == before


@pytest.mark.live
@pytest.mark.sandbox
def test_a_wheel_is_installed_and_started_like_a_published_package(
    process: Hallmark, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HALLMARK_CACHE")  # the sandbox that `make live` built
    code = "def main():\n" + "".join(f"    {line}\n" for line in (SERVER % "x").splitlines())
    content = {"notes_mcp/__init__.py": code}
    scripts = {"notes-mcp": "notes_mcp:main"}
    file = tmp_path / "notes_mcp-1.2.3-py3-none-any.whl"
    file.write_bytes(make_wheel("notes-mcp", "1.2.3", content, scripts, (), ">=3.8", "py3-none-any"))
    result = process("scan", str(file), "--core", "--json")
    assert result.code == 0, result.err
    found = document(result)
    assert found["listed"]["tools"] == 1
    assert found["evidence"]["dependencies"]["absent"] is None


@pytest.mark.parametrize("name", ["notes-mcp-1.2.3.tgz", "notes_mcp-1.2.3.tar.gz", "notes_mcp-1.2.3-py3-none-any.whl"])
def test_an_archive_is_read_like_its_folder(
    hallmark: Hallmark, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("HALLMARK_SANDBOX", "off")
    file = tmp_path / name
    if name.endswith(".whl"):
        with zipfile.ZipFile(file, "w") as wheel:
            wheel.writestr("notes/server.py", SERVER % TOKEN)
    else:
        with tarfile.open(file, "w:gz") as archive:
            data = (SERVER % TOKEN).encode()
            info = tarfile.TarInfo("package/notes/server.py")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    found = document(hallmark("scan", str(file), "--json"))
    assert found["server"]["ref"] == "project:notes-mcp"
    places = {(one["file"], one["line"]) for one in found["findings"] if one["rule"] == "source-holds-secret"}
    assert places == {("notes/server.py", 3)}
    assert found["evidence"]["listing"]["absent"]["reason"] == "no_sandbox"


def test_a_damaged_archive_is_a_reason_and_no_crash(
    hallmark: Hallmark, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HALLMARK_SANDBOX", "off")
    file = tmp_path / "notes-1.0.0.tgz"
    file.write_bytes(b"\x1f\x8b" + os.urandom(50))
    result = hallmark("scan", str(file), "--json")
    assert result.code == 3
    assert document(result)["evidence"]["source"]["absent"]["reason"] == "install_failed"


def test_what_is_no_project_says_what_was_expected(hallmark: Hallmark, home: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    result = hallmark("scan", str(tmp_path / "empty"))
    assert result.code == 2
    assert "expected a project with package.json, pyproject.toml, server.json or .git" in result.err
    assert "found none of them" in result.err


@pytest.mark.parametrize(
    ("content", "said"), [(None, "expected a baseline in"), ("{}", "expected an object with 'hallmark_baseline': 1")]
)
def test_a_baseline_that_cannot_be_used_is_wrong_usage(
    hallmark: Hallmark, project: Path, tmp_path: Path, content: str | None, said: str
) -> None:
    file = tmp_path / "baseline.json"
    if content is not None:
        file.write_text(content)
    result = hallmark("scan", str(project), "--baseline", str(file))
    assert result.code == 2
    assert said in result.err


@pytest.mark.parametrize("words", [["--no-sandbox"], ["--from", "x.json"]])
def test_a_folder_alone_is_never_started_without_a_sandbox(hallmark: Hallmark, project: Path, words: list[str]) -> None:
    assert hallmark("scan", str(project), *words).code == 2


def absent(detail: str, reason: Reason = Reason.START_FAILED) -> Absent:
    return Absent(reason, detail)


@pytest.mark.parametrize(
    ("content", "advice"),
    [
        (absent("ModuleNotFoundError: No module named 'mcp'"), "expected .venv with Python"),
        (absent("ValueError: no key"), ""),
        (absent("No module named 'mcp'", Reason.TIMEOUT), ""),
    ],
)
def test_missing_dependencies_are_no_fault_of_the_server(project: Path, content: Absent, advice: str) -> None:
    (project / "pyproject.toml").write_text('[project]\nname = "notes-mcp"\ndependencies = ["mcp"]\n')
    described, _ = describe_folder(project)
    dossier = samples.absent_dossier(content.reason, content.detail)
    found = excuse_missing_dependencies(dossier, described).read(listing.KIND)
    assert isinstance(found, Absent)
    assert found.reason is (Reason.NOT_COLLECTED if advice else content.reason)
    assert advice in found.detail
    assert content.detail in found.detail
    (project / ".venv/lib").mkdir(parents=True)
    (project / f".venv/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages").mkdir(parents=True)
    assert excuse_missing_dependencies(dossier, described) == dossier


def test_lines_are_looked_up_in_the_project_only(tmp_path: Path) -> None:
    for folder in ("project", "outside"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "lock").write_text("\nparser\n")
    (tmp_path / "project/link").symlink_to(tmp_path / "outside")
    (tmp_path / "project/linked").symlink_to(tmp_path / "outside/lock")
    project, _ = describe_folder(tmp_path / "project")
    finder = LineFinder(project)
    assert finder.find("lock", "parser") == 2
    assert [finder.find(path, "parser") for path in ("link/lock", "linked", "/../outside/lock", "link")] == [0] * 4
