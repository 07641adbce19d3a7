"""The dimensions of a receipt as bars: what is guaranteed, what is not measured, and what is lost."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from msgspec import Struct

from evidence.model import Reason
from publish.text.numbers import base_weight_share, format_number
from scoring.results import weighting
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import ComponentScore, Scorecard


class DimensionBar(Struct, frozen=True):
    """One dimension, from 0 to 10. `low` is guaranteed, up to `high` complete evidence could add.

    Both are None if no component counts: the dimension does not apply to the server, or Hallmark was offline.
    `share` is its share of the score, of 1.
    """

    name: str
    low: Decimal | None
    high: Decimal | None
    share: Decimal
    offline: bool = False

    @property
    def words(self) -> str:
        """The result in words: `6.7 to 10 of 10`, `not measured`, `does not apply`."""
        if self.low is None or self.high is None:
            return "not measured" if self.offline else "does not apply"
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
        offline = any(_is_offline(component) for component in part.components)
        yield DimensionBar(part.name.replace("_", " "), low, high, share, offline)


def _is_offline(part: ComponentScore) -> bool:
    return isinstance(part.result, NotMeasured) and part.result.reason == Reason.COLLECTOR_OFFLINE
