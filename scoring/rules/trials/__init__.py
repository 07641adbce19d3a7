"""What calling a tool came to."""
