"""Outcomes of rules, scorecards of rubrics, and the exact decimal arithmetic between them.

The encoding of a scorecard as bytes is `scoring.receipt`; the methodologies are in `scoring.rubrics`.
"""
