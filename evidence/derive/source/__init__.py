"""Reads facts from source files without running them. Pure: texts in, values out; nothing is imported or called."""
