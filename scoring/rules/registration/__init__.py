"""What the registry entry tells a user before anything is installed."""
