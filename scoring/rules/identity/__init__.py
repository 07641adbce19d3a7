"""What a server says of itself as a whole."""
