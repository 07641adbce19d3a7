"""What the sandbox asks of the kernel: system calls and who may make them, user ids, limits, control groups."""
