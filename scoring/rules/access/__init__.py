"""How a server is reached and how secrets get to it."""
