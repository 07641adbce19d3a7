"""Whether capabilities, lists and their items match the specification."""
