"""Keys that their provider publishes are reported as public by design and do not count; all others still do."""

from __future__ import annotations

import pytest

from evidence.derive.secrets import scan_files
from evidence.patterns.secrets.public_keys import PUBLIC_KEYS
from tests.evidence.secrets.scanners import own_scanner

_CRUX = "AIzaSyBn5gim" + "NjhiEyA_euicSKko6IlD3HdgUfk"
_DEVTOOLS = "AIzaSyCCSOx2" + "5vrb5z0tbedCB3_JRzzbVW6Uwgw"
_YOUTUBE = "AIzaSyAO_FJ2" + "SlqU8Q4STEHLGCilw_Y9_11qcW8"
_OWN = "AIzaSyCn5gim" + "NjhiEyA_euicSKko6IlD3HdgUfk"
_CALL = "manager.setEndpoint('https://chromeuxreport.googleapis.com/v1/records:queryRecord?key={}');\n"


def _find(key: str, path: str = "src/performance.js") -> list[tuple[str, bool, str]]:
    body = scan_files([(path, _CALL.format(key).encode())], own_scanner(), salt=b"salt")
    rows = body["findings"]
    assert isinstance(rows, list)
    return [(row["pattern"], row["counts"], row["why"]) for row in rows]


@pytest.mark.parametrize("key", [_CRUX, _DEVTOOLS, _YOUTUBE])
def test_a_key_that_its_provider_publishes_is_reported_and_does_not_count(key: str) -> None:
    assert _find(key) == [("google-api-key", False, "public by design")]


def test_every_other_key_for_the_same_service_counts() -> None:
    assert _find(_OWN) == [("google-api-key", True, "")]


def test_a_public_key_is_public_by_design_in_every_folder() -> None:
    assert _find(_CRUX, "tests/a.js") == [("google-api-key", False, "public by design")]


def test_each_published_key_has_a_digest_and_a_use() -> None:
    assert all(len(digest) == 64 and use.startswith("Google, ") for digest, use in PUBLIC_KEYS.items())
