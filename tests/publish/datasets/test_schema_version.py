"""Columns do not change without a new version of the dataset's schema."""

from __future__ import annotations

import hashlib
import json

from publish.datasets.format.tables import TABLES
from publish.datasets.snapshot.manifest import SCHEMA

PINNED = ("2.0.0", "35154333a2abcc88")
"""The version of the schema, and the digest of all tables under it."""


def test_columns_change_only_with_the_version_of_the_schema() -> None:
    tables = {table.name: [table.table_schema(), [str(kind) for kind in table.arrow().types]] for table in TABLES}
    digest = hashlib.sha256(json.dumps(tables, sort_keys=True).encode()).hexdigest()[:16]
    assert (SCHEMA, digest) == PINNED, (
        "raise SCHEMA in publish/datasets/snapshot/manifest.py (minor for an addition), then pin both here"
    )
