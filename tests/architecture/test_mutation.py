"""The changes that `make mutants` tries are those that it says."""

from __future__ import annotations

import ast

import pytest

from tests.mutation.changes import changes_of


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("x = a < b", ["x = (a <= b)"]),
        ("x = a not in b", ["x = (a in b)"]),
        ("x = a and not b", ["x = ((a) or (not b))"]),
        ("x = 3", ["x = 4"]),
        ("x = True", ["x = False"]),
        ("def f():\n    return a", ["def f():\n    return None"]),
        (
            "def f(a: 'x' = 1):\n    b.append(a)",
            ["def f(a: 'x' = 2):\n    b.append(a)", "def f(a: 'x' = 1):\n    pass"],
        ),
        ("x = 'é' + b('ü')\nx += y", ["x = 'é' + b('ü')\npass"]),
    ],
)
def test_a_change_is_made_at_its_place(source: str, changed: list[str]) -> None:
    found = [change.applied(source.encode()).decode() for change in changes_of("a.py", source.encode())]
    assert found == changed
    for text in found:
        ast.parse(text)
