"""State shared between processes: leases, locks, quotas, pacing per host, circuit breakers, broker statistics.

What is done under a lease is in `workers.stages` and `workers.nightly`.
"""
