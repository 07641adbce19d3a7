"""The options and help of each command. Its work is imported when it runs, so that `--help` imports nothing heavy."""
