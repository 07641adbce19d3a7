"""The `hallmark lab` commands: run lockfile readers and pattern scanners on files of the user, and compare with labels.

`command` is the entry; nothing is stored.
"""
