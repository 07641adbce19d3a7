"""All code that contacts registries, servers, package indexes, GitHub and OSV."""
