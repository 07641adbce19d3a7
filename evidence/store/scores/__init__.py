"""Scorecards of runs and the receipts that runs share as templates. Scores are computed in scoring, not here."""
