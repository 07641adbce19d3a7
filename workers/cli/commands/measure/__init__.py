"""Options and help of the commands that measure servers."""
