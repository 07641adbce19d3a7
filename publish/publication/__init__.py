"""The work of the publish stage: exported files and their manifest, the listing index, dashboard statistics.

Downloadable snapshots are in publish.datasets.
"""
