from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evidence.advisories.aliases import group_aliases


def test_advisories_that_share_a_name_are_one_flaw_the_best_known_name_first() -> None:
    named = {"PYSEC-2026-1": ["CVE-2026-1"], "GHSA-a": ["CVE-2026-1"], "GHSA-b": []}
    assert group_aliases(["PYSEC-2026-1", "GHSA-a", "GHSA-b"], named) == [
        ("CVE-2026-1", "GHSA-a", "PYSEC-2026-1"),
        ("GHSA-b",),
    ]


def test_a_third_record_joins_two_that_name_nothing_in_common() -> None:
    named = {"A-1": ["CVE-1"], "B-1": ["CVE-2"], "C-1": ["CVE-1", "CVE-2"]}
    assert group_aliases(["A-1", "B-1"], named) == [("CVE-1", "CVE-2", "A-1", "B-1", "C-1")]


def test_unrequested_records_make_no_flaw() -> None:
    assert group_aliases(["A-1"], {"A-1": [], "B-1": ["CVE-2"]}) == [("A-1",)]


NAMES = st.sampled_from([f"{kind}-{number}" for kind in ("CVE", "GHSA", "PYSEC") for number in range(4)])


@given(st.dictionaries(NAMES, st.lists(NAMES, max_size=3)), st.randoms(use_true_random=False))
def test_the_order_of_records_does_not_matter(named: dict[str, list[str]], chance: object) -> None:
    shuffled = list(named.items())
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    groups = group_aliases(named, named)
    assert group_aliases(dict(shuffled), dict(shuffled)) == groups
    flat = [name for group in groups for name in group]
    assert len(flat) == len(set(flat))
