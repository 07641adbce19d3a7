"""What calling a tool that only reads came to."""
