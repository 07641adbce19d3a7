"""Calls to one GitHub API: token rotation and budgets, batching, the circuit breaker, and the classes of responses and
failures.

What is asked of a repository is decided one level above.
"""
