"""What the probes of every transport share, the probe of a remote server, and what a core probe carries over from the
last full one.

The probe of a process is in `protocol.stdio`.
"""
