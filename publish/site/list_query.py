"""A search of servers as a URL: its filters, and the URLs of related searches."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final
from urllib.parse import urlencode

from msgspec import Struct
from msgspec.structs import replace
from starlette.exceptions import HTTPException

from evidence.store.listing.search_words import parse_search_terms
from evidence.store.listing.values import SORT_ORDERS, ListingQuery, SortOrder
from publish.text.display import make_visible

LIST_PATH: Final = "/servers"
MAX_TEXT: Final = 200
"""Maximum characters of a parameter."""

FILTERS: Final = (
    *("category", "ecosystem", "transport", "access", "read_only", "advisories"),
    *("state", "reason", "registry", "grade", "badge"),
)
"""The filters by a word, in their order in a URL."""

_FIRST: Final = ListingQuery()


class ListQuery(Struct, frozen=True):
    """A search and the cursor of one of its pages."""

    query: ListingQuery
    cursor: str | None = None

    @property
    def url(self) -> str:
        """The canonical URL of this page: parameters with default values are left out."""
        return _address(self._parameters())

    @property
    def by(self) -> str:
        """The ranking rubric as it stands in a URL."""
        return self.query.rubric if self.query.version is None else f"{self.query.rubric}@{self.query.version}"

    @property
    def words(self) -> str:
        """The search words as the first parameter of the URL; empty if there are none."""
        return urlencode({"q": self.query.text}) if self.query.text else ""

    @property
    def chosen_sort(self) -> str:
        """The sort order as it stands in the URL; empty for the default, which depends on whether there are words."""
        return "" if self.query.sort == _default_sort(self.query.text) else self.query.sort

    @property
    def is_narrowed(self) -> bool:
        """Whether a filter other than the search words is set."""
        return self.query.minimum is not None or any(self.value(name) for name in FILTERS)

    @property
    def is_filtered(self) -> bool:
        """Whether any filter or search word is set."""
        return bool(self.query.text) or self.is_narrowed

    @property
    def lacks_words(self) -> bool:
        """Whether a search has signs only, so that it finds every server."""
        return bool(self.query.text) and not parse_search_terms(self.query.text)

    def value(self, name: str) -> str | None:
        found: str | None = getattr(self.query, name)
        return found

    def page(self, cursor: str) -> str:
        return replace(self, cursor=cursor).url

    def with_(self, **changes: Any) -> str:
        return ListQuery(replace(self.query, **changes)).url

    def sorted_by(self, order: str) -> str:
        """The URL of the same search in another order, or reversed if it has that order already."""
        is_same = self.query.sort == order
        return self.with_(reverse=not self.query.reverse) if is_same else self.with_(sort=order, reverse=False)

    def _parameters(self) -> dict[str, str]:
        query = self.query
        return {
            "q": query.text,
            **{name: self.value(name) or "" for name in FILTERS},
            "minimum": "" if query.minimum is None else f"{query.minimum.normalize():f}",
            "by": "" if (query.rubric, query.version) == (_FIRST.rubric, None) else self.by,
            "sort": self.chosen_sort,
            "reverse": "1" if query.reverse else "",
            "cursor": self.cursor or "",
        }


def parse_search(parameters: Mapping[str, str]) -> ListQuery:
    """The search of a URL; raise HTTPException 400 for an invalid value. Unknown parameters are ignored."""
    values = {name: value.strip() for name, value in parameters.items() if value.strip()}
    for name, value in values.items():
        if len(value) > MAX_TEXT:
            raise HTTPException(
                400, f"{make_visible(name, limit=20)}: at most {MAX_TEXT} characters, found {len(value)}."
            )
    rubric, version = _rubric(values.get("by", _FIRST.rubric))
    text = " ".join(values.get("q", "").split())
    sort = values.get("sort", _default_sort(text))
    if sort not in SORT_ORDERS:
        raise HTTPException(400, f"sort: expected one of {', '.join(SORT_ORDERS)}, found {make_visible(sort)}.")
    query = ListingQuery(
        text=text,
        rubric=rubric,
        version=version,
        sort="rank" if sort == "relevance" and not text else next(order for order in SORT_ORDERS if order == sort),
        reverse=values.get("reverse") == "1" and not (text and sort == "relevance"),
        minimum=_minimum(values.get("minimum")),
        **{name: values.get(name) for name in FILTERS},
    )
    return ListQuery(query, values.get("cursor"))


def _default_sort(text: str) -> SortOrder:
    return "relevance" if text else "rank"


def _rubric(text: str) -> tuple[str, int | None]:
    rubric, at, version = text.partition("@")
    if at and not (version.isascii() and version.isdecimal() and len(version) < 9):
        raise HTTPException(400, f"by: expected a rubric such as lint or lint@1, found {make_visible(text)}.")
    return rubric, int(version) if at else None


def _minimum(text: str | None) -> Decimal | None:
    try:
        points = None if text is None else Decimal(text)
    except InvalidOperation:
        points = Decimal("NaN")
    if points is not None and not (points.is_finite() and 0 <= points <= 100):
        raise HTTPException(400, f"minimum: expected points from 0 to 100, found {make_visible(text or '')}.")
    return points


def _address(parameters: Mapping[str, str]) -> str:
    given = {name: value for name, value in parameters.items() if value}
    return f"{LIST_PATH}?{urlencode(given)}" if given else LIST_PATH
