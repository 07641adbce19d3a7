"""What the publish stage makes of a run: exported files and their manifest, listing rows, dashboard statistics.

Downloadable snapshots are in publish.datasets.
"""
