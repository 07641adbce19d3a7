"""Writes to the terminal: the two output streams, and the rendering of evidence, receipts and nightly runs.

Nothing here opens the store or defines a command.
"""
