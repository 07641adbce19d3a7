"""The work of pipeline steps on batches of servers: discover, plan, collect, score, and postpone transient failures.

The order of the steps is in `workers.pipeline`, leases are in `workers.coordination`.
"""
