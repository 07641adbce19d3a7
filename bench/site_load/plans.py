"""The plans of the statements behind the pages, as the database explains them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import Connection, event

from bench.site_load.filling import COMMON, Filled
from evidence.store import ListingQuery, Store
from evidence.store.database import Database


def plans(store: Store, database: Database, filled: Filled) -> Iterator[tuple[str, str]]:
    """Name and plan of the slowest statement of each question."""
    middle = filled.servers[len(filled.servers) // 2]
    deep, run = _deep(store), store.listing.find_newest_run() or ""
    questions: dict[str, Callable[[], Any]] = {
        "list, first page": lambda: store.listing.read_page(ListingQuery()),
        "list, deep page": lambda: store.listing.read_page(ListingQuery(), deep),
        "list, state at the end of the ranking": lambda: store.listing.read_page(ListingQuery(reason="timeout")),
        "list, by name and ecosystem": lambda: store.listing.read_page(ListingQuery(sort="name", ecosystem="npm")),
        "list, by grade": lambda: store.listing.read_page(ListingQuery(rubric="enterprise", grade="A")),
        "list, by category and access": lambda: store.listing.read_page(ListingQuery(category="code", access="open")),
        "list, newly listed of a category": lambda: store.listing.read_page(
            ListingQuery(category="time", sort="added")
        ),
        "search, rare word": lambda: store.listing.read_page(ListingQuery(text=filled.words[len(COMMON) + 5])),
        "search, common word": lambda: store.listing.read_page(ListingQuery(text="mcp")),
        "search, word of all": lambda: store.listing.read_page(ListingQuery(text="github")),
        "search, two words": lambda: store.listing.read_page(ListingQuery(text=f"{filled.words[-5][:3]} mcp")),
        "search by purpose, rare word": lambda: _relevant(store, filled.words[len(COMMON) + 5]),
        "search by purpose, two common words": lambda: _relevant(store, "github mcp"),
        "search by purpose, a question": lambda: _relevant(store, "read the tables of a database"),
        "one server": lambda: store.listing.find_server(middle),
        "history": lambda: store.listing.read_history(middle),
        "receipt of one server": lambda: store.listing.find_newest_scorecard(run, middle, "adaptive", 12),
        "revisions": store.changed_servers.read_revisions,
    }
    for name, ask in questions.items():
        yield name, _slowest(store, database, ask)


def _relevant(store: Store, text: str) -> object:
    return store.listing.read_page(ListingQuery(text=text, sort="relevance"))


def _deep(store: Store) -> str | None:
    after: str | None = None
    for _ in range(20):
        after = store.listing.read_page(ListingQuery(), after, 200).after or after
    return after


def _slowest(store: Store, database: Database, ask: Callable[[], Any]) -> str:
    """All statements of a question with their times, and the plan of the slowest."""
    asked: list[tuple[str, Any]] = []
    engine = store.listing._database._engine  # noqa: SLF001 - nothing else shows what a question becomes

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        asked.append((statement, parameters))

    event.listen(engine, "before_cursor_execute", note)
    try:
        ask()
    finally:
        event.remove(engine, "before_cursor_execute", note)
    with database.reading() as connection:
        explained = [_explained(connection, *one) for one in asked if one[0].lstrip().upper().startswith("SELECT")]
    return "\n".join(explained)


def _explained(connection: Connection, statement: str, parameters: Any) -> str:
    how = "EXPLAIN QUERY PLAN" if connection.dialect.name == "sqlite" else "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF)"
    rows = connection.exec_driver_sql(f"{how} {statement}", parameters)
    return "\n".join(str(row[-1] if connection.dialect.name == "sqlite" else row[0])[:200] for row in rows)
