"""Work after the publication of a run: the listing index, dataset snapshots and their withdrawal, and the disclosure of
findings.

Rendering and dataset formats are in `publish`.
"""
