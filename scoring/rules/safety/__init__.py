"""What a server says and does to the people behind the model: poisoned texts, unguarded power."""
