"""Run by Alembic: migrate over the connection that the store opened."""

from __future__ import annotations

from alembic import context

from evidence.store.tables.core import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
with context.begin_transaction():
    context.run_migrations()
