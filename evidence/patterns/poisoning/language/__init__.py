"""Grammar and vocabulary of poisoning patterns. No pattern is declared here."""
