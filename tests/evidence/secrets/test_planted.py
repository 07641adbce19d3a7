"""Planted secrets are found where they stand, and what only looks like one is not."""

from __future__ import annotations

import pytest

from evidence.kinds.secrets import Discount
from tests.evidence.secrets.planted import TREES, Planted, planted
from tests.evidence.secrets.scanners import own_scanner
from tests.sampling import some

SCANNER = own_scanner()
SEEDS = some(["", "one", "two"], 1)
GENERIC = {("terraform/main.tf", 6)}
"""A password without the name of a service beside it: found, and never counted."""


def found(file: Planted, *, counting: bool) -> set[int]:
    findings = SCANNER.scan(file.text, file.path, salt=b"salt")
    listed = (one for one in findings if one.discount is not Discount.SEQUENCE)
    return {one.line for one in listed if not (counting and one.generic)}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("tree", TREES)
def test_every_planted_secret_is_found(tree: str, seed: str) -> None:
    missed = [
        (file.path, line)
        for file in planted(tree, seed)
        for line, secret in file.labels.items()
        if secret and line not in found(file, counting=(file.path, line) not in GENERIC)
    ]
    assert missed == []


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("tree", TREES)
def test_no_look_alike_is_found_not_even_as_generic(tree: str, seed: str) -> None:
    wrong = [(file.path, line) for file in planted(tree, seed) for line in found(file, counting=False) - _secrets(file)]
    assert wrong == []


def test_the_trees_are_as_large_as_the_figures_say() -> None:
    labels = {tree: [one for file in planted(tree) for one in file.labels.values()] for tree in TREES}
    assert {tree: (sum(marks), len(marks) - sum(marks)) for tree, marks in labels.items()} == {
        "first": (28, 14),
        "second": (109, 113),
        "third": (130, 91),
    }


def _secrets(file: Planted) -> set[int]:
    return {line for line, secret in file.labels.items() if secret}
