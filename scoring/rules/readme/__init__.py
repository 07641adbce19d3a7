"""What a user is told before the first start."""
