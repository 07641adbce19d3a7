"""Rules about how reliably a server can be connected to."""
