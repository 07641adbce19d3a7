"""The processes that serve the site, the API and badges, and their request metrics.

Pages and routes are in `publish`.
"""
