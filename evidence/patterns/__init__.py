"""Secret and poisoning patterns, each with good and bad samples."""
