"""Decisions of operators: audit trail, opt-outs, approved listings and the disclosure of findings.

Disputes and claims of users are in community.
"""
