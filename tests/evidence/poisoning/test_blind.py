"""Attacks and honest descriptions in the words of the published classes, written before it was known what is found.

Sets 1, 2, 4 and 5 have been read since, the third has not. At first contact 201 of 292 attacks were found.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from evidence.derive.poisoning import Hit, scan_listing
from evidence.kinds.listing import Listing
from evidence.patterns.poisoning import PATTERNS_BY_ID, UNCERTAIN, Category
from evidence.patterns.poisoning.resemblance import PATTERN as RESEMBLANCE
from evidence.patterns.poisoning.structure import SIGNALS
from scoring.engine.rule import discover_rules
from workers.cli.lab.tool_rows import InvalidRow, ToolCorpus, ToolRow

FOLDER = Path(__file__).with_name("blind")
FLOORS = {1: 52, 2: 59, 3: 54, 4: 31, 5: 55}
"""The least number of attacks of each set that is found."""
MOST_FALSE = 0.03


def rows(number: int) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / f"poisoning_blind_{number}.jsonl").read_text().splitlines()]


@cache
def scan(path: Path) -> list[tuple[ToolRow | InvalidRow, tuple[Hit, ...]]]:
    """The rows of a file with their findings; several tests judge the same ones."""
    return list(ToolCorpus.read(path).scan())


def find_categories(row: dict[str, Any]) -> set[str]:
    """The categories of what is surely found in a row."""
    tool: dict[str, Any] = {member: row[member] for member in ("name", "description", "inputSchema") if member in row}
    listing = Listing({"lists": {"tools": {"end": "complete", "pages": [{"tools": [tool]}]}}})
    return {hit.category.value for hit in scan_listing(listing) if hit.is_grave}


@pytest.mark.parametrize("number", FLOORS)
def test_attacks_are_found_and_honest_rows_are_not(number: int) -> None:
    attacks = [bool(find_categories(row)) for row in rows(number) if row["label"]]
    honest = [row["id"] for row in rows(number) if not row["label"] and find_categories(row)]
    assert sum(attacks) >= FLOORS[number]
    assert len(honest) / (len(rows(number)) - len(attacks)) < MOST_FALSE, honest


SECOND = Path(__file__).with_name("blind_second")
"""Sets of a third author, who knew neither patterns nor the sets before; trained on since the first contact."""
AFTERWARDS = {"attacks_plain": (42, 59), "attacks_disguised": (17, 51), "look_alikes": (2, 2)}
"""Rows with a finding that costs points, and rows with that or with words that together resemble an order."""


THIRD = Path(__file__).with_name("blind_third")
"""Sets of a fourth author, trained on since. Figures of each first contact are in docs/poisoning.md."""
SINCE = {"attacks_plain": (81, 137), "attacks_disguised": (42, 111), "look_alikes": (3, 3)}
FOURTH = Path(__file__).with_name("blind_fourth")
"""Sets of a fifth author, trained on since."""
LATELY = {"attacks_plain": (83, 130), "attacks_disguised": (19, 118), "look_alikes": (1, 1)}
FIFTH = Path(__file__).with_name("blind_fifth")
"""Sets of a sixth author, not trained on."""
UNTRAINED = {"attacks_plain": (71, 113), "attacks_disguised": (16, 64), "look_alikes": (2, 3)}
LATER = {SECOND: AFTERWARDS, THIRD: SINCE, FOURTH: LATELY, FIFTH: UNTRAINED}


@pytest.mark.parametrize("name", AFTERWARDS)
@pytest.mark.parametrize(("folder", "bounds"), LATER.items(), ids=["third", "fourth", "fifth", "sixth"])
def test_sets_of_later_authors_are_judged_at_least_as_well_as_at_first_contact(
    folder: Path, bounds: dict[str, tuple[int, int]], name: str
) -> None:
    found = [hits for _, hits in scan(folder / f"{name}.jsonl")]
    grave = sum(any(map(_costs, hits)) for hits in found)
    seen = sum(any(_costs(hit) or hit.pattern == RESEMBLANCE for hit in hits) for hits in found)
    is_attack = name != "look_alikes"
    assert (grave >= bounds[name][0]) if is_attack else (grave <= bounds[name][0])
    assert (seen >= bounds[name][1]) if is_attack else (seen <= bounds[name][1])


LEAST_FOUND = {"attacks_plain": 96, "attacks_disguised": 50, "look_alikes": 0}
MOST_ACCUSED = {"attacks_plain": 0, "attacks_disguised": 0, "look_alikes": 4}
"""Of the sets of two authors who knew no pattern; one half was never read. docs/poisoning.md has the halves apart."""


@pytest.mark.parametrize("name", LEAST_FOUND)
def test_attacks_in_many_languages_are_found_and_look_alikes_are_not(name: str) -> None:
    judged = scan(FOLDER / f"{name}.jsonl")
    found = Counter(row.label for row, hits in judged if not isinstance(row, InvalidRow) and any(map(_costs, hits)))
    assert found[True] >= LEAST_FOUND[name]
    assert found[False] <= MOST_ACCUSED[name]


def _costs(hit: Hit) -> bool:
    return hit.is_grave


def test_a_manual_that_names_its_own_tools_is_at_most_suspected() -> None:
    description = (
        "Finds rows of a table on a page of the manual.\n\nIf read_pages says that a table was cut, use this tool.\n\n"
        "- Use section titles from read_pages output\n- If unsure, omit section_title; "
        "find_rows(section_title='Service quotas', query='Requests') searches all tables of that section"
    )
    assert find_categories({"name": "find_rows", "description": description}) == set()


def test_every_set_has_enough_rows_of_each_kind_and_known_categories() -> None:
    known = {category.value for category in Category}
    for number in FLOORS:
        labels = [row["label"] for row in rows(number)]
        assert min(labels.count(0), labels.count(1)) >= 58
        assert all(bool(row["categories"]) == bool(row["label"]) for row in rows(number))
        assert set().union(*(row["categories"] for row in rows(number))) <= known


def test_ids_are_unique() -> None:
    ids = list(_ids())
    assert len(ids) == len(set(ids))


def _ids() -> Iterator[str]:
    for number in FLOORS:
        yield from (row["id"] for row in rows(number))


def test_no_pattern_that_caps_a_grade_accuses_an_honest_row() -> None:
    sets = sorted(path for folder in (FOLDER, *LATER) for path in folder.glob("*.jsonl"))
    judged = [pair for path in sets for pair in scan(path)]
    honest = [hits for row, hits in judged if not isinstance(row, InvalidRow) and not row.label]
    assert len(honest) > 3_000
    assert {hit.pattern for hits in honest for hit in hits if hit.is_certain} == set()


def test_rules_state_how_many_look_alikes_they_accuse() -> None:
    judged = [pair for name in LEAST_FOUND for pair in scan(FOLDER / f"{name}.jsonl")]
    honest = [hits for row, hits in judged if not isinstance(row, InvalidRow) and not row.label]
    accused = Counter(threat for hits in honest for threat in {hit.threat.value for hit in hits if _costs(hit)})
    stated = {
        found[1]: int(found[2])
        for rule in discover_rules().values()
        if (
            found := re.search(rf"(SEC-\d{{3}}).*\s(\d+)\sof\s{len(honest)}\slook-\s?alikes", rule.rationale, re.DOTALL)
        )
    }
    assert len(stated) == 7
    assert stated == {threat: accused[threat] for threat in stated}
    assert accused.keys() <= stated.keys()


def test_the_list_of_uncertain_patterns_names_patterns() -> None:
    known = set(PATTERNS_BY_ID) | {signal.id for signal in SIGNALS}
    assert known >= UNCERTAIN
