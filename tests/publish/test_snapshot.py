from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable

from evidence.store import Store
from publish import dataset, snapshot
from tests.publish import samples


def test_the_manifest_names_digests_that_the_files_have(make_store: Callable[..., Store]) -> None:
    store = make_store(samples.dossiers(13))
    manifest = json.loads(snapshot.manifest(store, samples.RUN.id))
    assert manifest["format"] == snapshot.FORMAT
    assert manifest["versions"] == dict(samples.RUN.pins)
    assert manifest["counts"]["planned"] == 13
    assert manifest["counts"]["absent"] == {"listing/oauth_required": 1, "listing/unreachable": 1}
    for name, form in snapshot.FILES.items():
        out = io.BytesIO()
        dataset.export(store, samples.RUN.id, out, format=form.format, comparable=form.comparable)
        assert manifest["files"][name]["sha256"] == hashlib.sha256(out.getvalue()).hexdigest()
        assert manifest["files"][name]["bytes"] == len(out.getvalue())


def test_the_manifest_is_the_same_twice(make_store: Callable[..., Store]) -> None:
    store = make_store(samples.dossiers(5))
    assert snapshot.manifest(store, samples.RUN.id) == snapshot.manifest(store, samples.RUN.id)
