"""Pure scoring: a dossier goes in, scorecards come out."""
