"""Items of a run: leases of servers to workers, progress by stage, and reopening.

Servers that keep earlier evidence are in host_schedule.
"""
