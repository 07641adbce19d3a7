"""How a project is kept: activity, releases, answers, and the files that others rely on."""
