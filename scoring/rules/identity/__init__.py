"""What a server declares about itself."""
