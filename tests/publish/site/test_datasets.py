"""The dataset page lists what is in the place of the snapshots, with what identifies it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from evidence.model import Dossier
from evidence.store import Store
from tests.publish.site.conftest import SiteOf
from tests.publish.site.desks import PlainDesk

MakeStore = Callable[[Sequence[Dossier]], Store]


def test_without_a_place_it_says_what_to_do(make_store: MakeStore, site_of: SiteOf) -> None:
    page = site_of(make_store([])).get("/datasets").text
    assert "No dataset is here yet" in page
    assert "HALLMARK_DATASETS" in page
    assert "hallmark verify" in page


def test_a_place_of_another_machine_is_not_contacted(make_store: MakeStore, site_of: SiteOf) -> None:
    desk = PlainDesk(datasets="memory://snapshots")
    assert "They are kept elsewhere" in site_of(make_store([]), desk).get("/datasets").text
