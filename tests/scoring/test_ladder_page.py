"""The page of the ladder shows what the rubric gives; four of its steps are scored again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scoring.degradations import LISTING, PROJECT
from tests.scoring.ladder_page import PAGE
from tests.scoring.rich import well_kept
from tests.scoring.test_ladder import scored

STEPS = {**LISTING, **PROJECT}


@pytest.mark.parametrize("step", ["schemas removed", "poison in the description", "one maintainer", "archived"])
def test_the_page_of_the_ladder_shows_what_the_rubric_gives(step: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / PAGE).read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if line.startswith(f"| {step} |"))
    once, twice = (scored(STEPS[step].damage(well_kept(), degree)) for degree in (1, 2))
    assert row.split("|")[-2].strip() == f"{once.score} {once.grade}, {twice.score} {twice.grade}", "run `make docs`"
