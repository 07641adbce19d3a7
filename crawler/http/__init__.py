"""The guarded HTTP engine: address guard, limits, rate limiting, request budgets, credentials and redaction."""
