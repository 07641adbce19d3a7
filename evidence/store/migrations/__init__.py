"""Alembic migrations, run by `Store.migrate`. The newest revision and the tables are compared by a test.

Migrations expand first and contract one release later, since the first new process of an upgrade migrates the database
while old processes still work on their run. A migration adds tables, nullable columns or columns with a server default,
and indexes. It renames nothing, changes no type, and adds no unique index or constraint to an existing table. What
release N stops using is dropped by a migration of release N + 1. Data is copied after the migration in short
transactions, since a migration is one transaction and its locks stop every writer.
"""
