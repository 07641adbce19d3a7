"""Small counts for `make test`: a few of many parameters that are alike, and of the examples of a property."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import pytest
from hypothesis import settings

FULL: Final = 100
"""Examples of a property in `make soak`, which loads the profile `full`, where the test names no count."""

SAMPLE: Final = 15


def some(values: Iterable[Any], most: int = 12, *, besides: Iterable[Any] = ()) -> list[Any]:
    """All values as parameters, always the same `most` of them and those `besides` not marked `soak`.

    Those are spread evenly over all, the first one among them.
    """
    every, always = list(values), list(besides)
    chosen = {number * len(every) // most for number in range(most)}
    return [
        pytest.param(value, marks=() if index in chosen or value in always else pytest.mark.soak)
        for index, value in enumerate(every)
    ]


def examples(full: int) -> int:
    """The count of examples: `full` in `make soak`, a sixth of it (at least 15) in `make test`."""
    return full if settings().max_examples >= FULL else min(full, max(SAMPLE, full // 6))


def collected(request: pytest.FixtureRequest, argument: str) -> frozenset[Any]:
    """The values of a parameter in the tests of this module that run in this session: what its fixture has to make."""
    here = [item for item in request.session.items if item.path == request.path]
    return frozenset(
        item.callspec.params[argument]
        for item in here
        if isinstance(item, pytest.Function) and hasattr(item, "callspec") and argument in item.callspec.params
    )
