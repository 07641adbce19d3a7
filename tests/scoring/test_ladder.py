"""The ladder: `adaptive@2` goes down with every damage to a server, and never up with twice as much of it."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from evidence.kinds import listing
from evidence.model import Dossier
from scoring.engine.assess import assess_dossier
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import Scorecard
from scoring.results.verdict import NOT_ENOUGH_EVIDENCE, read_verdict
from scoring.rubrics.adaptive_verdict import ADAPTIVE_2, BANDS, ROUNDING_LINE
from scoring.rubrics.adaptive_verdict_dimensions import DIMENSIONS
from tests.dossiers import captures, recorded
from tests.sampling import some
from tests.scoring.degradations import (
    D_OR_WORSE,
    EXFILTRATION,
    HIDDEN,
    INJECTION,
    LISTING,
    PARAMETERS,
    PROBE,
    PROJECT,
    ZERO_WIDTH,
    Step,
    saying,
)
from tests.scoring.rich import well_kept
from tests.scoring.test_twins import poisoned, redirect

SCORED = ("control-dual", "control-modern", "scripted-5", "sdk-http")
"""Recorded probes, with the project of a server that is kept well."""

TWINS = {
    "injection": INJECTION,
    "hidden characters": HIDDEN,
    "zero-width words": ZERO_WIDTH,
    "exfiltration": EXFILTRATION,
}


@cache
def whole(name: str) -> Dossier:
    """The captured listing of a real server, with the project of one that is kept well."""
    return replace(well_kept(), records={**well_kept().records, listing.KIND: captures()[name].records[listing.KIND]})


@cache
def probed(name: str) -> Dossier:
    """The recorded probe of a server, with the project of one that is kept well."""
    return replace(well_kept(), records={**well_kept().records, **recorded()[name].records})


def scored(evidence: Dossier) -> Scorecard:
    return ADAPTIVE_2.score(assess_dossier(evidence, [ADAPTIVE_2]))


def value(card: Scorecard) -> Decimal:
    return Decimal(-1) if isinstance(card.score, NotMeasured) else card.score


def exact(card: Scorecard) -> Decimal:
    """The value before it is rounded, which may hide the effect of a small damage."""
    return sum((line.points for line in card.lines if line.cites != ROUNDING_LINE), Decimal(0))


@cache
def untouched(name: str) -> Scorecard:
    return scored(probed(name) if name in SCORED else well_kept() if name == "well-kept" else whole(name))


RELIABLE = 30
"""Below E the scale is flat: damage never raises a value there, and may be too small to lower a whole point."""

FEW = ("well-kept", "mcp-server-git", "playwright__mcp", "tavily-mcp", "blender-mcp")


def check_step(name: str, evidence: Dossier, step: Step) -> None:
    before = untouched(name)
    if step.damage(evidence, 2) == evidence:
        return  # the server has nothing that this step could damage
    once, twice = (scored(step.damage(evidence, degree)) for degree in (1, 2))
    least = step.least if value(before) >= RELIABLE else 0
    assert value(once) <= value(before)
    assert value(twice) <= value(before) - max(0, least - 1)
    assert not least or exact(twice) < exact(before)
    assert value(twice) <= value(once)
    if step.worst:
        assert {read_verdict(once).grade, read_verdict(twice).grade} <= {*D_OR_WORSE, None}


@pytest.mark.parametrize("step", LISTING)
@pytest.mark.parametrize("name", some(captures(), 2))
def test_damage_to_a_listing_costs(name: str, step: str) -> None:
    check_step(name, whole(name), LISTING[step])


@pytest.mark.parametrize("step", PARAMETERS)
@pytest.mark.parametrize("name", some(captures(), 2))
def test_damage_to_parameters_costs(name: str, step: str) -> None:
    check_step(name, whole(name), PARAMETERS[step])


@pytest.mark.parametrize("name", ["mcp-server-fetch", "playwright__mcp", "tavily-mcp"])
def test_parameters_without_descriptions_cost_servers_that_had_them(name: str) -> None:
    bare = scored(PARAMETERS["parameters undocumented"].damage(whole(name), 2))
    assert value(bare) <= value(untouched(name)) - 3


@pytest.mark.parametrize("step", PROJECT)
@pytest.mark.parametrize("name", some(FEW, 3))
def test_damage_to_a_project_costs(name: str, step: str) -> None:
    check_step(name, well_kept() if name == "well-kept" else whole(name), PROJECT[step])


@pytest.mark.parametrize("step", PROBE)
@pytest.mark.parametrize("name", some(SCORED, 4))
def test_damage_to_the_conversation_costs(name: str, step: str) -> None:
    check_step(name, probed(name), PROBE[step])


@pytest.mark.parametrize("twin", [*TWINS, "redirect"])
@pytest.mark.parametrize("name", some(captures(), 2))
def test_a_poisoned_twin_is_d_or_worse_and_says_why_first(name: str, twin: str) -> None:
    clean = scored(whole(name))
    if twin == "redirect":
        bad = scored(poisoned(whole(name), redirect))
    else:
        bad = scored(saying("description", TWINS[twin])(whole(name), 1))
    verdict = read_verdict(bad)
    if isinstance(clean.score, NotMeasured):
        assert verdict.status == NOT_ENOUGH_EVIDENCE
        return
    assert verdict.grade in D_OR_WORSE
    unlisted = any(line.cites == "cap.unlisted" for line in clean.lines)  # which costs as much as poison, once
    assert value(bad) < value(clean) or (unlisted and value(bad) == value(clean))
    assert "poisoning" in next(line.cites for line in bad.lines if line.cites.startswith("cap."))


def test_the_ladder_has_more_than_twenty_steps_and_poison_in_five_places() -> None:
    steps = {**LISTING, **PARAMETERS, **PROJECT, **PROBE}
    assert len(steps) > 30
    assert sum(name.startswith("poison in") for name in steps) >= 5


def test_twice_the_damage_is_more_damage() -> None:
    for name, step in {**LISTING, **PARAMETERS}.items():
        if name not in {"listing refused", "poison in the instructions"}:
            evidence = whole("mcp-server-git")
            assert step.damage(evidence, 1) != step.damage(evidence, 2), name


def test_the_worked_example_of_the_rating_guide_is_what_the_rubric_gives() -> None:
    advisory = PROJECT["a high advisory, two"]
    clean, flawed = (
        untouched("mcp-server-fetch"),
        scored(advisory.damage(whole("mcp-server-fetch"), 1)),
    )
    assert (clean.score, clean.grade, clean.ceiling, flawed.score, flawed.grade) == (58, "C", 92, 54, "D")
    points = [str(round(line.points, 2)) for line in clean.lines if line.cites not in {"scale", "rounding"}]
    page = (Path(__file__).parents[2] / "docs" / "guide" / "rating.md").read_text(encoding="utf-8")
    assert points == ["5.13", "19.79", "15.00", "10.00", "5.90", "8.80"]
    assert all(f"| {figure} |" in page for figure in points)
    assert len(page.split()) <= 900
    assert all(f"| {bound} " in page for bound, _ in BANDS)


def test_the_rating_guide_states_the_weights_of_every_dimension() -> None:
    page = (Path(__file__).parents[2] / "docs" / "guide" / "rating.md").read_text(encoding="utf-8")
    for dimension in DIMENSIONS:
        row = next(line for line in page.splitlines() if line.startswith(f"| {dimension.name} | {dimension.weight} |"))
        stated = sorted(map(int, re.findall(r"[0-9]+(?=[,]| \|$)", row.split(" | ", 2)[2])))
        assert stated == sorted(int(part.weight) for part in dimension.components if part.weight), row
