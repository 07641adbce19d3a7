"""Generates pages below docs/ from declarations of rules, rubrics, evidence, badges and checks.

`python -m publish.handbook.generate` writes or checks them.
"""
