"""What the package index states about the package that users install."""
