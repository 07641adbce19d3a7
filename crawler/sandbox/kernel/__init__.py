"""Kernel interfaces of the sandbox: system call filters and notifications, user ids, limits, control groups."""
