"""Grammar and vocabulary from which poisoning patterns are built. No pattern is declared here."""
