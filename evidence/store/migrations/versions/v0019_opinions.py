"""Opinions of judges about texts."""

from __future__ import annotations

from evidence.store.migrations.building import binaries, moments, table

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    table("opinion", *binaries("digest"), *moments("at"), *binaries("body"), unique=(("digest",),))
