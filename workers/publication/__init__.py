"""What follows from the publication of a run: the listing index, dataset snapshots and their withdrawal, and changes of
disclosure of findings.

Rendering and dataset formats are in `publish`.
"""
