"""The probe of a package or command: start attempts with placeholders, the processes of one target, questions,
mutating calls, reuse of earlier trials.
"""
