"""Building blocks of SQL statements: key sets, bulk inserts, JSON columns, compact packing, keys of runs and servers.

No table is defined here and no business rule.
"""
