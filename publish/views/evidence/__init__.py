"""Bounded, typed views of one server's public dossier, one module per group of evidence kinds.

Scores and comparisons are in the other modules of publish.views.
"""
