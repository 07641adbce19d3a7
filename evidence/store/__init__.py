"""The evidence store: SQLModel tables, queries by noun, migrations."""
