"""The outcome of a scan on one screen."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from evidence.model import Dossier, Reason
from scoring.engine.assess import assess_dossier
from scoring.engine.rule import discover_rules
from scoring.remedy import plan_fixes
from scoring.rubrics.adaptive_verdict import ADAPTIVE_2
from scoring.rule_snippets import make_snippet
from tests.dossiers import captures, recorded
from tests.publish import samples
from tests.publish.capped import poisoned
from tests.workers.cli.conftest import Hallmark
from workers.cli.measure.scan_file import encode_dossier
from workers.cli.results import scan_report as measuring

SERVERS = {**captures(), **recorded()}


@pytest.fixture
def scan(hallmark: Hallmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scan:
    return Scan(hallmark, tmp_path / "saved.json", monkeypatch)


class Scan:
    def __init__(self, hallmark: Hallmark, saved: Path, patch: pytest.MonkeyPatch) -> None:
        self._hallmark, self._saved, self._patch = hallmark, saved, patch

    def __call__(self, dossier: Dossier, *options: str, width: int = 100) -> str:
        self._patch.setenv("COLUMNS", str(width))
        self._saved.write_bytes(encode_dossier(dossier))
        return self._hallmark("scan", "--from", str(self._saved), *options).out


def test_the_outcome_fits_on_one_screen(scan: Scan, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, dossier in SERVERS.items():
        with monkeypatch.context() as patch:
            patch.setattr(measuring, "_judge", _judged_once(measuring._judge))
            for width in (80, 100, 160):
                lines = scan(dossier, width=width).splitlines()
                assert len(lines) <= 60, (name, width)
                assert max(map(len, lines)) <= width, (name, width)


def _judged_once(judge: Callable[..., Any]) -> Callable[..., Any]:
    """The judgement of one server, which is the same at every width and takes longest."""
    made: list[Any] = []

    def judged(*scanned: Any, **how: Any) -> Any:
        if not made:
            made.append(judge(*scanned, **how))
        return made[0]

    return judged


def test_what_brings_most_stands_first_with_its_remedy(scan: Scan) -> None:
    dossier = recorded()["sdk-http"]
    plan = plan_fixes(assess_dossier(dossier, [ADAPTIVE_2]), ADAPTIVE_2)
    best, second, *_ = plan.remedies
    printed = scan(dossier, width=300)
    assert printed.index(best.title) < printed.index(discover_rules()[best.rule].remedy) < printed.index(second.title)
    gains = [float(found) for found in re.findall(r"^ *\+([0-9.]+)  ", printed, re.MULTILINE)]
    assert len(gains) == 5 and gains == sorted(gains, reverse=True)
    assert gains == [float(round(remedy.gain.points, 2)) for remedy in plan.remedies[:5]]


def test_a_cap_stands_on_the_first_line_and_the_finding_in_the_line_about_security(scan: Scan) -> None:
    printed = scan(poisoned())
    assert printed.splitlines()[0].startswith("Capped at D by ")
    assert re.search(
        r"^Security  found: A text contains overriding or concealing instructions \(\d\)", printed, re.MULTILINE
    )


def test_a_server_that_could_not_be_tested_has_a_reason_an_advice_and_no_value(scan: Scan) -> None:
    printed = scan(samples.absent_dossier(Reason.OAUTH_REQUIRED, "HTTP 401"))
    assert "Could not be tested: oauth required" in printed
    assert "Observed: HTTP 401" in printed and "What to do: " in printed
    assert re.search(r"^Score +not enough evidence 0-\d+: nothing was listed", printed, re.MULTILINE)
    assert "What to fix" not in printed
    assert re.search(r"^Security  not examined: ", printed, re.MULTILINE)


def test_hostile_names_cannot_control_the_terminal(scan: Scan) -> None:
    dossier = samples.hostile_dossier()
    printed = scan(replace(dossier, server=replace(dossier.server, name="\x1b[31mred\u202e")))
    assert "⟨U+001B⟩[31mred⟨U+202E⟩" in printed
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u200b\u202e]", printed)


def test_verbose_prints_what_to_edit_once_for_each_rule_that_costs_points(scan: Scan) -> None:
    dossier = recorded()["sdk-http"]
    plan = plan_fixes(assess_dossier(dossier, [ADAPTIVE_2]), ADAPTIVE_2)
    printed = scan(dossier, "--verbose", width=80)
    snippets = [make_snippet(discover_rules()[remedy.rule]) for remedy in plan.remedies if remedy.gain.points > 0]
    texts = [textwrap.indent(one.after, "  ", lambda line: True) for one in snippets if one]
    assert len(texts) > 5
    assert [text for text in texts if printed.count(text) < 1] == []
    shown = printed[printed.index("What to edit, before and after") :]
    assert [remedy.rule for remedy in plan.remedies if shown.count(f"  {remedy.rule}\n") > 1] == []


def test_verbose_prints_every_receipt_and_rubric_one_of_them(scan: Scan) -> None:
    dossier = recorded()["sdk-http"]
    verbose, one = scan(dossier, "--verbose"), scan(dossier, "--rubric", "lint")
    assert all(re.search(f"^{name}@", verbose, re.MULTILINE) for name in ("adaptive", "enterprise", "lint"))
    assert "conformance" in verbose and "Lines of documentation" in verbose
    assert re.findall(r"^([a-z_]+)@\d", one, re.MULTILINE) == ["lint"]
    assert "What to edit, before and after" in verbose and "What to edit, before and after" in one
    assert "What to fix first" not in verbose + one
