"""Status, run statistics, metrics and the health app.

Logs are in `workers.log`, because every layer writes them; statistics of the broker are in `workers.coordination`.
"""
