"""What an installation needs from the host: Python interpreters, Node, bun, the user's package indexes, and the root
file system built from them.
"""
