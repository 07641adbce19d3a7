"""Whether the headers of the modern era are required and compared with the body."""
