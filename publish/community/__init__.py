"""Requests of visitors: disputes, claims of control, tokens, webhooks. Stored as rows; no network."""
