"""The life of a nightly run: issue its tasks, work on shards, quarantine servers that crash workers, and close the run.

Planning of servers over hosts is in `workers.stages`, because every run is planned there.
"""
