"""Whether capabilities, lists and their items are what the specification makes of them."""
