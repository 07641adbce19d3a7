"""The identity of a run: its id, its options, its pinned versions, and the run it was rescored from.

The steps of a run are in `workers.pipeline`.
"""
