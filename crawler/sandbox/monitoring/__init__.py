"""What a contained server does, seen while it does it: held calls, bait files, and what they say."""
