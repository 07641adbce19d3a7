"""Runs: states, manifests, operator actions, record counts, re-test requests and the full probes that follow them.

Items of a run are in leases.
"""
