"""The row formats of the files that a published run names in its manifest: JSON Lines and flat CSV.

Files and processes are in publish.publication, the larger datasets in publish.datasets.
"""
