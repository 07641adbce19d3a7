"""How workflows of GitHub Actions protect what a project publishes."""
