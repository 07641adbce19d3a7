"""Archives from strangers, read member by member. Nothing is ever unpacked to a disk."""

from crawler.archives.archive import Bounds, Damaged, Entry, Kind, Member, Skipped
from crawler.archives.walk import Walk

__all__ = ["Bounds", "Damaged", "Entry", "Kind", "Member", "Skipped", "Walk"]
