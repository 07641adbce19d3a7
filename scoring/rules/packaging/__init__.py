"""What the index says of the package that users install."""
