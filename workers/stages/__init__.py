"""What a step of the pipeline does with a batch of servers: discover, plan, collect, score, and postpone what failed in
passing.

The order of the steps is in `workers.pipeline`, leases are in `workers.coordination`.
"""
