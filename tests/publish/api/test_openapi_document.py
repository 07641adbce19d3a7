"""The OpenAPI document can be asked for by many at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from evidence.store import open_store
from publish.api.app import create_api
from publish.web.context import SiteContext
from tests.publish.site.plain_backend import PlainBackend


def test_threads_that_are_the_first_to_ask_get_the_same_document(tmp_path: Path) -> None:
    api = create_api(SiteContext(open_store(f"sqlite:///{tmp_path}/none.db"), PlainBackend()))
    with ThreadPoolExecutor(16) as threads:
        documents = list(threads.map(lambda _: api.openapi(), range(64)))
    assert all(document is documents[0] for document in documents)
    assert documents[0]["paths"]
