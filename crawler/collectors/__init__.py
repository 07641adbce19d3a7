"""One module per evidence source; each turns a server into records."""
