"""One server as rows of every table, made by one or several processes from the store.

Writing files is not done here.
"""
