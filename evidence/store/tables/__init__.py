"""Table definitions, column types and column conditions that belong to them.

Queries are in the packages of their nouns.
"""
