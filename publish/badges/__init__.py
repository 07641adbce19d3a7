"""The quality gate and the badges: their requirements, how a server meets them, and their pictures.

Pages that show badges are in publish.site.
"""
