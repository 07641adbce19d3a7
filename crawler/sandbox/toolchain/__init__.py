"""Tools of the host: Python interpreters, Node, bun, the user's package indexes, and the root file system."""
