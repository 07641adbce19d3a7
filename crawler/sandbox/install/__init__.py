"""What a box is filled with: the root file system, and packages from the indexes that the user configured."""
