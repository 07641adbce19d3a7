"""Calls to one GitHub API: token rotation and budgets, batching, the circuit breaker, and the classes of responses and
failures.

The level above decides what is asked of a repository.
"""
