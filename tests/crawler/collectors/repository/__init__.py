"""Claims about the evidence out of GitHub, against a GitHub on loopback."""
