"""What was seen and what could not be seen; append-only."""
