"""`hallmark explain SERVER`: one or two screens, everything with --verbose."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from evidence.model import Dossier, Reason
from evidence.store import StoredScorecard, open_store
from scoring.engine.assess import assess_dossier
from scoring.remedy import FixPlan, plan_fixes
from scoring.results.scorecard import Scorecard
from scoring.rubrics.adaptive_verdict import ADAPTIVE_2
from scoring.rubrics.lint_corrected import LINT_2
from tests.dossiers import captures, recorded
from tests.publish import samples
from tests.publish.capped import poisoned
from tests.publish.filled_stores import fill, stored
from tests.workers.cli.conftest import Hallmark
from workers.cli.display.score_explanation import FIXES_WITH_REMEDY
from workers.cli.results import explain

RUBRICS = [ADAPTIVE_2, LINT_2]
OFFLINE = samples.absent_dossier(Reason.COLLECTOR_OFFLINE, "this machine was offline")
HOSTILE = samples.hostile_dossier()
WIDE = replace(recorded()["sdk-http"], server=replace(recorded()["sdk-http"].server, name="\x1b[31mred\u202e"))
"""A server with more faults than have room, and a name that would colour the terminal."""
LINES = {80: 92, 100: 76}


def score(dossier: Dossier) -> list[StoredScorecard]:
    assessment = assess_dossier(dossier, RUBRICS)
    return [stored(rubric.score(assessment)) for rubric in RUBRICS]


@pytest.fixture(scope="module")
def dossiers() -> Sequence[Dossier]:
    found = {one.server.id: one for one in (*captures().values(), *recorded().values())}
    found |= {one.server.id: one for one in (WIDE, OFFLINE, HOSTILE, poisoned())}
    return list(found.values())


@pytest.fixture(scope="module")
def filled(dossiers: Sequence[Dossier], tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Path:
    """A database with the servers and the receipts of the real rubrics."""
    path = Path(shutil.copy(sqlite_template, tmp_path_factory.mktemp("judged") / "hallmark.db"))
    store = open_store(f"sqlite:///{path}")
    fill(store, dossiers, score=score)
    store.close()
    return path


@pytest.fixture
def judged(home: Path, filled: Path, dossiers: Sequence[Dossier]) -> Sequence[Dossier]:
    """Servers in a store of the test's own."""
    home.mkdir()
    shutil.copy(filled, home / "hallmark.db")
    return dossiers


def test_it_takes_two_screens_at_most(
    hallmark: Hallmark, judged: Sequence[Dossier], monkeypatch: pytest.MonkeyPatch
) -> None:
    for dossier in judged:
        with monkeypatch.context() as patch:
            patch.setattr(explain, "_plan_fixes", _planned_once(explain._plan_fixes))
            for width, most in LINES.items():
                patch.setenv("COLUMNS", str(width))
                lines = hallmark("explain", dossier.server.id).out.splitlines()
                assert 10 < len(lines) <= most, (dossier.server.ref, width)
                assert max(map(len, lines)) <= width, (dossier.server.ref, width)
                assert any(line.startswith("More: --verbose") for line in lines), (dossier.server.ref, width)


def _planned_once(plan: Callable[..., FixPlan | None]) -> Callable[..., FixPlan | None]:
    """The plan of one server, which is the same at every width and takes longest."""
    made: dict[tuple[object, ...], FixPlan | None] = {}

    def planned(dossier: Dossier, card: Scorecard, **options: int) -> FixPlan | None:
        key = (dossier.server.id, card.rubric, card.version, *options.items())
        if key not in made:
            made[key] = plan(dossier, card, **options)
        return made[key]

    return planned


def test_every_rule_that_costs_points_stands_there_with_its_gain_and_the_first_ones_with_their_remedy(
    hallmark: Hallmark, judged: Sequence[Dossier], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    plan = plan_fixes(assess_dossier(WIDE, [ADAPTIVE_2]), ADAPTIVE_2)
    costly = [remedy for remedy in plan.remedies if remedy.gain.points > 0]
    assert len(costly) > FIXES_WITH_REMEDY and plan.everything is not None
    printed = hallmark("explain", WIDE.server.id).out
    gains = [float(found) for found in re.findall(r"^ *\+([0-9.]+)  ", printed, re.MULTILINE)]
    assert gains == [float(round(remedy.gain.points, 2)) for remedy in costly]
    for place, remedy in enumerate(costly):
        assert remedy.title in printed
        assert (f"{remedy.rule}: {remedy.how}" in printed) == (place < FIXES_WITH_REMEDY)
    assert f"All fixes together: +{round(plan.everything.points, 2):g} to {plan.everything.score}" in printed
    assert "\x1b" not in printed and "⟨U+001B⟩[31mred⟨U+202E⟩" in printed


def test_verbose_prints_every_place_and_all_rubrics_and_json_is_the_same_with_and_without(
    hallmark: Hallmark, judged: Sequence[Dossier]
) -> None:
    short, long = hallmark("explain", WIDE.server.id).out, hallmark("explain", WIDE.server.id, "--verbose").out
    assert len(long.splitlines()) > 3 * len(short.splitlines())
    assert "What to change for lint@2" in long and "lint@2: " in long
    plan = plan_fixes(assess_dossier(WIDE, [ADAPTIVE_2]), ADAPTIVE_2)
    assert [spot.at for remedy in plan.remedies for spot in remedy.spots if spot.at not in long] == []
    assert re.search(r"^Others +lint@2 ", short, re.MULTILINE) and "What to change" not in short
    first, second = (hallmark("explain", WIDE.server.id, "--json", *more) for more in ([], ["--verbose"]))
    assert first.out == second.out and [row["rubric"] for row in first.rows] == ["adaptive", "lint"]


def test_a_named_rubric_is_explained_instead_of_the_default_one(hallmark: Hallmark, judged: Sequence[Dossier]) -> None:
    printed = hallmark("explain", WIDE.server.id, "--rubric", "lint").out
    assert "lint@2, " in printed and "adaptive" not in printed


def test_caps_come_first_with_what_they_take(hallmark: Hallmark, judged: Sequence[Dossier]) -> None:
    first, second, *_ = hallmark("explain", poisoned().server.id).out.splitlines()
    assert first.startswith("Capped at D by ") and second.startswith("Under this cap ")


def test_an_outage_of_ours_is_no_result_and_has_a_reason(hallmark: Hallmark, judged: Sequence[Dossier]) -> None:
    printed = hallmark("explain", OFFLINE.server.id).out
    assert "Could not be tested: collector offline" in printed and "What to do: " in printed
    assert re.search(r"^documentation +not measured", printed, re.MULTILINE)
    assert "does not apply" not in printed and "What costs points" not in printed
