"""Declares and finds rules and rubrics, builds the things to judge from a dossier and asks each question once.

It holds no rule, no methodology and no arithmetic of points.
"""
