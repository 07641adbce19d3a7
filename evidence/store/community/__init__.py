"""What users of the service submit: disputes, claims of control, API tokens and webhooks.

Decisions of operators are in decisions.
"""
