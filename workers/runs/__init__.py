"""What identifies and defines one run: its id, its options, the versions it is pinned to, and the run it was rescored
from.

The steps of a run are in `workers.pipeline`.
"""
