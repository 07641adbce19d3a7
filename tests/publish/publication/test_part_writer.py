"""However many parts a run is published in, and whichever are repeated, what is published is the same."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from msgspec.structs import replace

from evidence.model import Dossier, Run
from evidence.store import ListedServer, ListingQuery, Store, open_store
from publish.publication import manifest as snapshot
from publish.publication import run_export
from publish.publication.part_writer import PartWriter, join_parts
from tests.publish import samples
from tests.publish.filled_stores import fill

SERVERS = 20
LATER = replace(samples.RUN, id=f"{samples.RUN.id}-later")
MakeStore = Callable[[Sequence[Dossier]], Store]


@pytest.fixture
def make_store(tmp_path: Path, sqlite_template: Path) -> Iterator[MakeStore]:
    """Makes stores with a run that is not published yet."""
    with ExitStack() as opened:

        def make(dossiers: Sequence[Dossier]) -> Store:
            copied = shutil.copy(sqlite_template, tmp_path / f"{uuid4()}.db")
            store = opened.enter_context(closing(open_store(f"sqlite:///{copied}")))
            fill(store, dossiers, publish=False)
            return store

        yield make


def dossiers() -> list[Dossier]:
    return [*samples.dossiers(SERVERS), samples.hostile_dossier(), samples.unsandboxed_dossier()]


def write_parts(store: Store, size: int, *, repeat: bool = False, run: Run = samples.RUN) -> bytes:
    """The manifest of a run that was published in parts of this size."""
    store.publication.begin(run.id, size, run.as_of)
    ttl, moment = timedelta(minutes=3), samples.AS_OF
    while (part := store.publication.lease(run.id, ttl=ttl, now=moment)) is not None:
        if repeat:
            moment += ttl  # the lease has expired, and another worker writes the part
            again = store.publication.lease(run.id, ttl=ttl, now=moment)
            assert again is not None
            assert PartWriter(store, run).write(again)
        assert PartWriter(store, run).write(part) is not repeat
    front, made = join_parts(store, run), snapshot.make_manifest(store, run.id)
    edition = store.publication.find_edition(run.id)
    assert edition is not None
    store.publication.complete_listing(edition, front)
    assert store.publish_run(run.id, made, run.as_of, edition=edition)
    return made


def published(store: Store, run: Run = samples.RUN) -> tuple[Any, Any, tuple[ListedServer, ...]]:
    """The exported files, the numbers of the dashboard and the listed servers."""
    files = {}
    for name, form in snapshot.RUN_FILES.items():
        out = io.BytesIO()
        run_export.export_run(store, run.id, out, format=form.format, comparable=form.comparable)
        files[name] = out.getvalue()
    page = store.listing.read_page(ListingQuery(sort="name"), limit=200)
    return files, store.listing.read_dashboard(run.id), page.servers


@pytest.mark.parametrize(("size", "repeat"), [(7, False), (1, False), (7, True)])
def test_many_parts_publish_what_one_part_does(make_store: MakeStore, size: int, *, repeat: bool) -> None:
    whole, divided = make_store(dossiers()), make_store(dossiers())
    assert write_parts(whole, 100) == write_parts(divided, size, repeat=repeat)
    assert published(divided) == published(whole)
    assert len(published(divided)[2]) == SERVERS + 1


def test_score_changes_are_those_of_all_parts(make_store: MakeStore) -> None:
    found = []
    for size in (100, 3):
        store = make_store(samples.dossiers(SERVERS))
        write_parts(store, size)
        fill(store, samples.dossiers(SERVERS)[1:], LATER, publish=False)
        write_parts(store, size, run=LATER)
        found.append(published(store, LATER)[1])
    assert found[0] == found[1]
    assert found[0][1]["movers"]["gone"] == 1
