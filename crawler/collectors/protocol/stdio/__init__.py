"""The probe of a package or command: start attempts with placeholders, the processes of one target, questions and
mutating calls in separate processes, reuse of earlier trials.
"""
