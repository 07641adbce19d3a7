"""One module per registry shape; each yields pages of ServerRef."""
