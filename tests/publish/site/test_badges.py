"""Badges over HTTP: pictures and endpoint JSON, kept by their tag, never a broken picture for a README."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from xml.etree import ElementTree as ET

import pytest
from msgspec.structs import replace

from evidence.model import Dossier
from evidence.store import Store
from publish.badges import images
from tests.publish import samples
from tests.publish.badges.test_images import SERVER, listed
from tests.publish.site.conftest import SiteOf
from tests.publish.site.plain_backend import NOW, PlainBackend

Make = Callable[[Sequence[Dossier]], Store]


@pytest.fixture
def store(make_store: Make) -> Store:
    """A store whose lists show one server."""
    filled = make_store([Dossier(server=SERVER, as_of=samples.AS_OF)])
    row = replace(listed(), as_of=NOW - timedelta(days=1))
    filled.listing.write_listing(samples.RUN.id, [row], lambda: b"{}")
    return filled


def test_every_badge_is_a_picture_and_an_endpoint(store: Store, site_of: SiteOf) -> None:
    site = site_of(store)
    for name in images.badge_names():
        picture = site.get(f"/badges/{SERVER.id}/{name}.svg")
        assert (picture.status_code, picture.headers["content-type"]) == (200, "image/svg+xml")
        assert picture.headers["cache-control"] == "public, max-age=300"
        assert ET.fromstring(picture.text).get("role") == "img"
        endpoint = site.get(f"/badges/{SERVER.id}/{name}.json").json()
        assert endpoint["schemaVersion"] == 1
        assert endpoint["message"] in picture.text


def test_a_badge_that_did_not_change_is_not_sent_again(store: Store, site_of: SiteOf) -> None:
    site = site_of(store)
    first = site.get(f"/badges/{SERVER.id}/score.svg")
    again = site.get(f"/badges/{SERVER.id}/score.svg", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_other_sites_may_show_a_badge(store: Store, site_of: SiteOf) -> None:
    headers = site_of(store).get(f"/badges/{SERVER.id}/score.svg").headers
    assert headers["access-control-allow-origin"] == "*"
    assert headers.get("cross-origin-resource-policy", "cross-origin") == "cross-origin"


@pytest.mark.parametrize("server", ["srv_00000000000000000000", "<script>", "x" * 500])
def test_an_unknown_server_has_a_grey_badge_that_is_not_cached(store: Store, site_of: SiteOf, server: str) -> None:
    found = site_of(store).get(f"/badges/{server}/score.svg")
    assert (found.status_code, found.headers["cache-control"]) == (200, "no-store")
    assert "unknown server" in found.text
    assert "script" not in found.text


def test_a_server_that_opted_out_is_as_unknown_as_one_that_never_was(store: Store, site_of: SiteOf) -> None:
    site = site_of(store, PlainBackend(hidden={SERVER.id}))
    assert site.get(f"/badges/{SERVER.id}/score.svg").text == site.get("/badges/srv_0/score.svg").text


def test_a_badge_that_is_none_is_not_found(store: Store, site_of: SiteOf) -> None:
    assert site_of(store).get(f"/badges/{SERVER.id}/no-such.svg").status_code == 404
    assert site_of(store).get(f"/badges/{SERVER.id}/score.png").status_code == 404
