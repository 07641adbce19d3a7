"""Evidence out of GitHub: how a repository is kept, and Dependabot's alerts where they may be read."""
