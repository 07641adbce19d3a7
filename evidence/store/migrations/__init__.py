"""Alembic migrations, run by `Store.migrate`. The newest revision and the tables are compared by a test."""
