"""Work for maintainers and visitors outside of runs: checks of claims, webhooks, limits per client, and the request
worker.

The rules of claims and disputes are in `publish`.
"""
