"""Orders in resources and results: the operator sees them in the first run, others only after publication."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from evidence.kinds import handouts
from evidence.kinds.handouts import Handouts
from evidence.model import Observed
from tests.functional.processes import environment, opened
from tests.servers.poisoned import HIDDEN, ORDER, PAGE, running
from workers.cli import app

pytestmark = pytest.mark.xdist_group("functional-handouts")

NAME = "com.example/poisoned"
RULES = {"resource-instructs-model", "result-instructs-model"}
PLACES = {"results/get_note", "resources/note:~1~1welcome/text"}
TRACES = (ORDER[:20], HIDDEN, PAGE[:30], *RULES, *PLACES, '"handouts"', "overrides other instructions")


@dataclass
class Home:
    """An installation with a full probe of the poisoned server."""

    folder: Path

    def hallmark(self, *arguments: str) -> str:
        known = environment(self.folder, HALLMARK_DEPTH="full", COLUMNS="200")
        with pytest.MonkeyPatch.context() as patch:
            for name in [name for name in os.environ if name.startswith("HALLMARK_")]:
                patch.delenv(name)
            for name, value in known.items():
                patch.setenv(name, value)
            done = CliRunner().invoke(app, arguments, prog_name="hallmark")
        assert done.exit_code == 0, f"{done.output}\n{done.exception}"
        return done.stdout

    @property
    def findings(self) -> dict[str, dict[str, Any]]:
        rows = (json.loads(line) for line in self.hallmark("findings", "list", "--json").splitlines())
        return {row["rule"]: row for row in rows}

    def public(self) -> dict[str, str]:
        """Everything that anybody may read."""
        report = self.folder / "report"
        self.hallmark("report", "latest", str(report))
        named = {"methods", "methods.html", "rules"}  # pages that name every rule, whatever was found
        files = [
            path for path in report.rglob("*") if path.is_file() and path.relative_to(report).parts[0] not in named
        ]
        pages = {str(path): path.read_text("utf-8", "replace") for path in files}
        exports = {form: self.hallmark("export", "--format", form) for form in ("jsonl", "csv")}
        return pages | exports

    def shown(self) -> dict[str, list[str]]:
        """Traces of what is private, by where they stand."""
        found = {where: [trace for trace in TRACES if trace in text] for where, text in self.public().items()}
        return {where: traces for where, traces in found.items() if traces}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    folder = tmp_path_factory.mktemp("handouts")
    with running() as url:
        remote = {"type": "streamable-http", "url": url}
        entry = {"name": NAME, "description": "Keeps notes", "version": "1.0.0", "remotes": [remote]}
        (folder / "servers").mkdir()
        (folder / "servers" / "poisoned.json").write_text(json.dumps(entry))
        home = Home(folder)
        home.hallmark("run", "--registry", str(folder / "servers"), "--quiet")
        yield home


@pytest.fixture
def copy_of_home(home: Home, tmp_path: Path) -> Home:
    """For a test that changes it."""
    return Home(Path(shutil.copytree(home.folder, tmp_path / "home")))


def test_only_the_operator_sees_the_findings(home: Home) -> None:
    found = home.findings

    assert {found[rule]["at"] for rule in RULES} == PLACES
    assert {found[rule]["state"] for rule in RULES} == {"private_triage"}
    seen = home.hallmark("show", NAME, "--evidence")
    assert "What it hands out" in seen
    assert "Overrides other instructions" in seen
    assert home.shown() == {}


def test_what_is_published_is_one_line_and_no_text(copy_of_home: Home) -> None:
    home = copy_of_home
    finding = home.findings["resource-instructs-model"]["finding"]
    home.hallmark("findings", "disclose", finding, "--to", "security@vendor.example", "--by", "ana")
    assert home.shown() == {}

    home.hallmark("findings", "publish", finding, "--by", "ana", "--note", "not answered")

    published_traces = {trace for traces in home.shown().values() for trace in traces}
    assert "resource-instructs-model" in published_traces
    assert not published_traces & {ORDER[:20], HIDDEN, PAGE[:30], "result-instructs-model", '"handouts"'}


def test_the_texts_are_kept_for_the_operator(home: Home) -> None:
    with opened(f"sqlite:///{home.folder / 'hallmark.db'}") as store:
        [row] = store.list_runs(1)
        [dossier] = store.read_dossiers(row.run.id, [server.id for server in store.list_active_servers()])
    content = dossier.read(handouts.KIND)
    assert isinstance(content, Observed)
    seen = Handouts.parse(content.body)
    assert ORDER in seen.resources[0].text
    assert HIDDEN in seen.results[0].text
