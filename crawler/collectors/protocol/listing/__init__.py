"""Reads the four lists page by page, and encodes the body of kind `listing`."""
