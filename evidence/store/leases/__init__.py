"""Items of a run: leases of servers to workers, progress by stage, and reopening.

The order in which servers are planned is in host_schedule.
"""
