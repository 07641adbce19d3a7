"""What rules and rubrics return, outcomes and scorecards, and the exact decimal arithmetic that adds them up.

The encoding of a scorecard as bytes is `scoring.receipt`; the methodologies are in `scoring.rubrics`.
"""
