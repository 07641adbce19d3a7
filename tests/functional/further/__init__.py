"""A small town of servers with everything around them: registry folder, servers, GitHub, indexes, OSV."""
