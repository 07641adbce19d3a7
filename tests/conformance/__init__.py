"""Conformance: our verdicts about servers whose conduct is known, and about real ones, beside the official suite's."""
