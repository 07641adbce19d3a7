"""One box: its mounts, its way in and out, its processes and their end."""
