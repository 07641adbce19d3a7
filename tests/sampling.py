"""Of many parameters that are alike, a few are tried by `make test` and the others by `make soak`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


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
