"""Query parameters of the list of servers: filters, order and page."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from evidence.model import Reason
from evidence.store import ListingQuery
from publish.views.categories import ALL_CATEGORIES
from scoring.engine import catalogue

LARGEST: Final = 200

_DEFAULT: Final = next(rubric.id for rubric in catalogue.list_rubrics() if rubric.default)
_RUBRICS: Final = tuple(dict.fromkeys(rubric.id for rubric in catalogue.list_rubrics()))
_CATEGORIES: Final = tuple(category.id for category in ALL_CATEGORIES)
_WORDS: Final = r"^[^\u0000-\u001f\u007f]*$"
_WORD: Final = r"^[A-Za-z0-9][A-Za-z0-9 ._/+:-]{0,99}$"


class Search(BaseModel):
    """The query parameters of a list of servers. Without a filter all servers are listed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    q: Annotated[
        str, Field(max_length=200, pattern=_WORDS, description="Words of its purpose, name, ref, tools or README.")
    ] = ""
    ref: Annotated[
        str | None,
        Field(
            max_length=2_000,
            pattern=_WORDS,
            description="A reference as `ref` has it: the list has this server only, whatever else is asked for.",
            examples=["npm:@example/notes"],
        ),
    ] = None
    rubric: Annotated[
        str,
        Field(
            pattern=f"^({'|'.join(_RUBRICS)})$",
            description="The methodology that `grade` and `minimum` are about, and that `rank` sorts by.",
        ),
    ] = _DEFAULT
    version: Annotated[int | None, Field(ge=1, le=999, description="Its version; the newest if not given.")] = None
    sort: Annotated[
        Literal["rank", "name", "seen", "added", "relevance"] | None,
        Field(
            description="If not given, `relevance` with `q`, else `rank`. `rank`: the highest floor first; `name`: "
            "from A to Z; `seen`: the newest evidence first; `added`: the last discovered first; `relevance`: one page "
            "of servers that fit `q` best, which need not have all words."
        ),
    ] = None
    reverse: Annotated[bool, Field(description="In reverse order; with `relevance`, of the same page.")] = False
    state: Annotated[
        Literal["measured", "partial", "not_testable"] | None, Field(description="How much of the server was measured.")
    ] = None
    reason: Annotated[Reason | None, Field(description="Why it could not be opened.")] = None
    category: Annotated[
        str | None, Field(pattern=f"^({'|'.join(_CATEGORIES)})$", description="One of its categories, by its id.")
    ] = None
    transport: Annotated[
        Literal["streamable-http", "sse", "stdio"] | None, Field(description="The transport that was used.")
    ] = None
    access: Annotated[
        Literal["open", "credentials"] | None, Field(description="Whether it asked for credentials when it was tested.")
    ] = None
    read_only: Annotated[
        Literal["yes", "no"] | None, Field(description="Whether each of its tools states that it only reads.")
    ] = None
    advisories: Annotated[
        Literal["yes", "no"] | None, Field(description="Whether advisories about it or its dependencies are known.")
    ] = None
    ecosystem: Annotated[str | None, Field(pattern=_WORD, description="`remote`, `npm`, `pypi`, `oci`, ….")] = None
    registry: Annotated[str | None, Field(pattern=_WORD, description="A registry that lists it.")] = None
    grade: Annotated[str | None, Field(pattern=_WORD, description="Its grade under the methodology.")] = None
    badge: Annotated[str | None, Field(pattern=_WORD, description="A badge that it has, by its id.")] = None
    minimum: Annotated[
        str | None, Field(pattern=r"^[0-9]{1,3}(\.[0-9]{1,3})?$", description="The minimum score, 0 to 100.")
    ] = None
    cursor: Annotated[
        str | None, Field(max_length=500, description="`next_cursor` or `previous_cursor` of another page.")
    ] = None
    limit: Annotated[int, Field(ge=1, le=LARGEST, description="The maximum of servers on a page.")] = 50

    @property
    def query(self) -> ListingQuery:
        """The search in the listing index."""
        return ListingQuery(
            text=self.q,
            rubric=self.rubric,
            version=self.version,
            sort=self.sort or ("relevance" if self.q and self.cursor is None else "rank"),
            reverse=self.reverse,
            state=self.state,
            reason=None if self.reason is None else self.reason.value,
            ecosystem=self.ecosystem,
            registry=self.registry,
            grade=self.grade,
            badge=self.badge,
            category=self.category,
            transport=self.transport,
            access=self.access,
            read_only=self.read_only,
            advisories=self.advisories,
            minimum=None if self.minimum is None else Decimal(self.minimum),
        )
