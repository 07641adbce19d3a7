"""One box: its mounts, its network access, its process tree and how that is stopped."""
