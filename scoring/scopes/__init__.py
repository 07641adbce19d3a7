"""What a rule judges: one typed view per thing in the evidence, such as a tool, a parameter, a conversation or a
project.

Which things a dossier holds is found by `scoring.engine.walk`; rules are in `scoring.rules`.
"""
