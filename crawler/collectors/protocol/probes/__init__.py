"""What the probes of all transports share, the probe of a remote server, and carrying over from the last full probe.

The probe of a process is in `protocol.stdio`.
"""
