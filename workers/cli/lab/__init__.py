"""The `hallmark lab` commands: run readers and patterns on files of the user, and measure them against labels.

Nothing is stored.
"""
