"""The dimensions of a receipt as bars: what is guaranteed, what is not measured, and what is lost."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from msgspec import Struct

from publish.text.numbers import base_weight_share, format_number
from scoring.results import weighting
from scoring.results.scorecard import Scorecard


class DimensionBar(Struct, frozen=True):
    """One dimension, from 0 to 10. `low` is guaranteed, up to `high` complete evidence could add.

    Both are None if the dimension does not apply to the server. `share` is its share of the score, of 1.
    """

    name: str
    low: Decimal | None
    high: Decimal | None
    share: Decimal

    @property
    def words(self) -> str:
        """The result in words: `6.7 to 10 of 10`, `not measured`, `does not apply`."""
        if self.low is None or self.high is None:
            return "does not apply"
        if self.low == self.high:
            return f"{format_number(self.low, 1)} of 10"
        if not self.low and self.high == weighting.FULL_POINTS:
            return "not measured"
        return f"{format_number(self.low, 1)} to {format_number(self.high, 1)} of 10"


def list_dimension_bars(card: Scorecard) -> Iterator[DimensionBar]:
    """One bar for each dimension of a receipt, in its order."""
    for part in card.dimensions:
        low, high = weighting.bound_dimension(part) or (None, None)
        share = base_weight_share(part, card.dimensions)
        yield DimensionBar(part.name.replace("_", " "), low, high, share)
