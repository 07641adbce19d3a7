"""Fills a database with servers and published nights in minutes: nights are copied inside the database.

Texts for the search are made of the words of recorded servers, each as often as there, so that each server has others.
Fifty models are stored as the pipeline stores servers: recorded ones with their real receipts, and locked ones in the
share of the census. Each made-up server is one of them in every night, and two of a hundred become another one each
night. So evidence and receipts are shared between servers, which they are not in earnest; every row that a page looks
up by its key is there.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Final, TypeAlias

import psycopg
from msgspec.structs import replace
from sqlalchemy import Connection, text

from evidence.model import Absent, Dossier, Reason, Record, Run, Server, ServerRef, Status, Target, TargetType, Trigger
from evidence.store import RunState, Stage, Store
from evidence.store.database import Database
from evidence.store.listing.search_words import split_words
from evidence.store.listing.values import ServerFacets
from evidence.store.sql.row_keys import find_known_server_keys
from publish.publication.dashboard import ServerCounter, make_dashboard
from publish.publication.server_tallies import ServerTallies
from publish.views.categories import find_categories
from publish.views.listed_servers import CountedServer, count_server, find_ecosystem
from publish.views.public_servers import PublicServer
from publish.views.purpose import find_purpose, list_tool_texts
from tests.dossiers import captures
from workers.stages.scorecards import score_dossier

FIRST: Final = datetime(2026, 6, 1, 3, tzinfo=UTC)
MODELS: Final = 50
OPEN: Final = 29  # of the models: 58 % of the census
PINS: Final = {"code": "1", "commit": "0123abc", "engine": "1", "ruleset": "89ef0123"}
PURPOSE_WORDS: Final = 14
TOOLS: Final = 12
TOOL_WORDS: Final = 18
"""Words of the purpose, tools, and words of each tool; about what recorded servers have."""

DESCRIPTIONS: Final = 5_000
"""Different purposes with tools; more servers share them."""

Step: TypeAlias = Callable[[str, int], AbstractContextManager[None]]

_FACETS: Final = (("open", "credentials"), ("yes", "no"), ("yes", "no"))
_PAGE: Final = 1_000
_REASONS: Final = (Reason.OAUTH_REQUIRED, Reason.OAUTH_REQUIRED, Reason.NOT_MCP, Reason.UNREACHABLE, Reason.TIMEOUT)
_KINDS: Final = (TargetType.STREAMABLE_HTTP, TargetType.STREAMABLE_HTTP, TargetType.NPM, TargetType.PYPI)
_SYLLABLES: Final = ("ba", "do", "ki", "lu", "mer", "no", "pa", "ri", "sto", "tan", "ve", "xi", "zo", "hub", "flow")
CROWD: Final = 20
"""Of the remotes, one in so many is at one host."""

COMMON: Final = ("mcp", "server", "api", "tools", "search", "data", "agent", "docs", "cloud", "mail")


@dataclass(frozen=True)
class Filled:
    """Ids of the stored servers, words of names from the commonest to the rarest, and runs, oldest first."""

    servers: Sequence[str]
    words: Sequence[str]
    runs: Sequence[str]


@dataclass(frozen=True)
class StoredNights:
    """What `list_nights` lists: the servers, and the runs in which each has the results of a model."""

    filled: Filled
    models: Sequence[Dossier]
    servers: Sequence[Server]
    nights: Sequence[Run]


def _unmeasured(_name: str, _servers: int) -> AbstractContextManager[None]:
    return nullcontext()


def fill(store: Store, database: Database, servers: int, runs: int) -> Filled:
    """Store the servers in the given number of published runs, and write the listing index of the last run."""
    stored = store_nights(store, database, servers, runs, _unmeasured)
    list_nights(store, database, stored, _unmeasured)
    return stored.filled


def store_nights(store: Store, database: Database, servers: int, runs: int, step: Step) -> StoredNights:
    """Store the servers in the given number of published runs; `step` is a context for each measured part."""
    models = _models()
    _store_models(store, models)
    words = _words(random.Random(1))
    made = sorted(_servers(servers, words, random.Random(2)), key=lambda server: server.id)
    nights = [
        Run(id=f"night-{number:03}", trigger=Trigger.NIGHTLY, as_of=FIRST + timedelta(days=number), pins=PINS)
        for number in range(runs)
    ]
    for run in nights:
        store.add_run(run)
    with step("register", servers):
        for start in range(0, servers, _PAGE):
            page = [(server, _ref(server)) for server in made[start : start + _PAGE]]
            store.put_registry_page(nights[-1].id, "official", page, cursor=None, done=False, at=FIRST)
    for number, run in enumerate(nights):
        with database.writing() as connection:
            _copy_night(connection, run.id, number, plan=number >= runs - 2)
        store.set_run_state(run.id, RunState.PLANNED, run.as_of)
        store.publish_run(run.id, b'{"files": {}}', run.as_of + timedelta(hours=4))
    filled = Filled([server.id for server in made], words, [run.id for run in nights])
    return StoredNights(filled, models, made, nights)


def list_nights(store: Store, database: Database, stored: StoredNights, step: Step) -> None:
    """Write the listing index of the newest two runs."""
    models = stored.models
    with database.reading() as connection:
        keys = find_known_server_keys(connection, [one.server.id for one in models])
    public = [
        count_server(PublicServer(one, score_dossier(one)), "")
        for one in sorted(models, key=lambda one: keys[one.server.id])
    ]
    for number, run in list(enumerate(stored.nights))[-2:]:
        _post(store, database, run, number, (stored.servers, public), step)


def vacuum(url: str) -> None:
    """Leave the tables as autovacuum does."""
    if url.startswith("postgresql"):
        with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")


def _models() -> list[Dossier]:
    recorded = list(captures().values())
    dice = random.Random(3)
    models = [_renamed(recorded[number % len(recorded)], number) for number in range(OPEN)]
    for number in range(OPEN, MODELS):
        reason = dice.choice(_REASONS)
        locked = _renamed(recorded[number % len(recorded)], number)
        records = {kind: replace(one, content=Absent(reason, "")) for kind, one in locked.records.items()}
        models.append(replace(locked, records=records))
    return models


def _renamed(dossier: Dossier, number: int) -> Dossier:
    server = Server(ref=f"npm:model-{number}", name=f"model/{number}")
    records: dict[str, Record] = {kind: replace(one, server=server.id) for kind, one in dossier.records.items()}
    return Dossier(server=server, as_of=FIRST, records=records)


def _store_models(store: Store, models: Sequence[Dossier]) -> None:
    run = Run(id="0-models", trigger=Trigger.LOCAL, as_of=FIRST, pins=PINS)
    store.add_run(run)
    page = [(one.server, _ref(one.server)) for one in models]
    store.put_registry_page(run.id, "models", page, cursor=None, done=True, at=FIRST)
    ids = [one.server.id for one in models]
    store.plan_run(run.id, ids, FIRST)
    store.put_records(run.id, [record for one in models for record in one.records.values()], done=ids, at=FIRST)
    store.put_scorecards(run.id, [card for one in models for card in score_dossier(one)], done=ids, at=FIRST)
    store.set_run_state(run.id, RunState.CANCELLED, FIRST)


@dataclass(frozen=True)
class _Description:
    purpose: str
    tool_texts: tuple[str, ...]
    categories: tuple[str, ...]


class _Texts:
    """Makes texts of the words of the recorded servers."""

    def __init__(self, dice: random.Random) -> None:
        texts = [text for one in captures().values() for text in (find_purpose(one), *list_tool_texts(one))]
        counted = Counter(split_words(texts))
        self._words, self._sums = list(counted), list(accumulate(counted.values()))
        self._dice = dice

    def make(self, words: int) -> str:
        return " ".join(self._dice.choices(self._words, cum_weights=self._sums, k=words))

    def describe(self) -> _Description:
        purpose, tool_texts = self.make(PURPOSE_WORDS), tuple(self.make(TOOL_WORDS) for _ in range(TOOLS))
        return _Description(purpose, tool_texts, find_categories((), purpose, tool_texts))

    def make_facets(self, known: ServerFacets, categories: tuple[str, ...]) -> ServerFacets:
        """These categories, and access, effect and advisories by chance."""
        access, read_only, advisories = (self._dice.choice(("", *pair)) for pair in _FACETS)
        return replace(known, categories=categories, access=access, read_only=read_only, advisories=advisories)


def _words(dice: random.Random) -> list[str]:
    """Words of names: ten occur in many names, three thousand in few."""
    rare = {"".join(dice.choices(_SYLLABLES, k=dice.randint(2, 4))) for _ in range(3_000)}
    return [*COMMON, *sorted(rare)]


def _servers(count: int, words: Sequence[str], dice: random.Random) -> Iterator[Server]:
    rare = words[len(COMMON) :]
    for number in range(count):
        kind, owner, what = dice.choice(_KINDS), dice.choice(rare), dice.choice(rare)
        name = f"io.github.{owner}/{what}-{dice.choice(COMMON)}-{number}"
        host = "crowded.example" if number % CROWD == 0 else f"{what}{number}.{owner}.example"
        ref = f"https://{host}/{number}/mcp" if kind.is_remote else f"{kind.value}:{what}-{number}"
        identifier = ref if kind.is_remote else f"{what}-{number}"
        target = Target(type=kind, identifier=identifier)
        repository = f"https://github.com/{owner}/{what}-{number}"
        seen_in = ("official",) if dice.random() < 0.7 else ("official", "starter")
        yield Server(ref=ref, name=name, targets=(target,), repository=repository, seen_in=seen_in)


def _ref(server: Server) -> ServerRef:
    return ServerRef(registry="official", name=server.ref, version="1.0.0", status=Status.ACTIVE, entry=b"{}")


_MODEL: Final = f"(CAST(:first AS integer) + (s.key + CASE WHEN :number >= s.key % 50 THEN 7 ELSE 0 END) % {MODELS})"


def _copy_night(connection: Connection, run: str, number: int, *, plan: bool) -> None:
    """Copy a night's records and receipts of every server's model; the newest nights also have work items."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL session_replication_role = replica"))  # the keys are right: spare the checks
    keys = {
        "run": connection.scalar(text("SELECT key FROM run WHERE id = :id"), {"id": run}),
        "models": connection.scalar(text("SELECT key FROM run WHERE id = '0-models'")),
        "first": connection.scalar(text("SELECT min(key) FROM server")),
        "number": number,
    }
    for table, columns in (("record_set", "blobs, notes"), ("scoring", "blobs, receipts")):
        copied = ", ".join(f"m.{column}" for column in columns.split(", "))
        connection.execute(
            text(
                f"INSERT INTO {table} (run_key, server_key, shape_key, {columns})"
                f" SELECT CAST(:run AS integer), s.key, m.shape_key, {copied} FROM server s"
                f" JOIN {table} m ON m.run_key = :models AND m.server_key = {_MODEL} WHERE s.key >= :first + {MODELS}"
            ),
            keys,
        )
    for stage in (Stage.COLLECT, Stage.SCORE) if plan else ():
        connection.execute(
            text(
                "INSERT INTO run_item (run_key, stage, server_key, attempts, done_at)"
                " SELECT CAST(:run AS integer), CAST(:stage AS text), s.key, 1, m.done_at FROM server s"
                " JOIN run_item m ON m.run_key = :models AND m.stage = :stage AND m.server_key = :first"
                f" WHERE s.key >= :first + {MODELS}"
            ),
            {**keys, "stage": stage.value},
        )


def _post(
    store: Store,
    database: Database,
    run: Run,
    number: int,
    made: tuple[Sequence[Server], Sequence[CountedServer]],
    step: Step,
) -> None:
    """Write the listing index of a run from the published form of each server's model of that night."""
    servers, models = made
    with database.reading() as connection:
        keys = find_known_server_keys(connection, [server.id for server in servers])
    texts = _Texts(random.Random(number))
    described = [texts.describe() for _ in range(min(len(servers), DESCRIPTIONS))]
    counter, tallies, posting = ServerCounter(store, run), ServerTallies(), store.listing.write_edition(run.id)
    for model in models:
        tallies.receipts.add(model.newest)
    with step("list", len(servers)):
        for start in range(0, len(servers), _PAGE):
            rows = []
            for place, server in enumerate(servers[start : start + _PAGE], start):
                key, about = keys[server.id], described[place % len(described)]
                model = models[(key + (7 if number >= key % 50 else 0)) % MODELS]
                row = replace(
                    model.listed,
                    server=server,
                    run=run.id,
                    as_of=run.as_of,
                    ecosystem=find_ecosystem(server),
                    registries=server.seen_in,
                    purpose=about.purpose,
                    tool_texts=about.tool_texts,
                    facets=texts.make_facets(model.listed.facets, about.categories),
                )
                rows.append(row)
                posting.add(row)
            tallies.merge(counter.count([CountedServer(row, ()) for row in rows]).as_json())
        posting.finish(json.dumps(make_dashboard(store, run, tallies)).encode())
