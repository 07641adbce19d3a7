"""What the registry entry states about a server before the installation."""
