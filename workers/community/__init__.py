"""Requests of maintainers and visitors outside of runs: checks of claims, notifications by webhook, limits per client,
and the worker that processes requests.

The rules of claims and disputes are in `publish`.
"""
