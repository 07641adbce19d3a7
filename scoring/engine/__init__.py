"""Declares rules and rubrics, finds them, walks over a dossier and asks each question once.

It holds no rule, no methodology and no arithmetic of points.
"""
