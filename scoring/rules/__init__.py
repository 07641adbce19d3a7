"""One rule per file, in family folders, named for the pattern that is wrong."""
