"""How a project is maintained: activity, releases, answers and project files."""
