"""Kinds of evidence that pure functions derive from stored records, so that an earlier run can be scored again."""
