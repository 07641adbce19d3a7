"""Pages of one server: receipts, evidence, changes, fixes, disputes, re-tests, control.

Each module gives its routes by `routes(site)`.
"""
