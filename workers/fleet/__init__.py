"""The processes of a fleet on one machine: what is started, what is checked before, and their supervision.

What the processes do is in `workers.celery_app` and `workers.tasks`.
"""
