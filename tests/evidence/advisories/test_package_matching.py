from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evidence.advisories.evidence_body import build_body
from evidence.advisories.osv_record import Advisory, parse_advisory
from evidence.advisories.package_matching import Candidate, MatchResult, Package, group_matches, match_packages
from evidence.kinds.advisories import Advisories, Group, Reach, Severity
from tests.evidence.advisories.numbers import Numbers
from tests.servers.osv.records import CRITICAL, MEDIUM, advisory, affects, fixed_in, span


def bread(version: str | None, relation: Reach = Reach.DIRECT, **members: Any) -> Package:
    return Package(ecosystem="PyPI", name="bread", version=version, relation=relation, **members)


def examined(packages: Sequence[Package], *records: dict[str, Any]) -> tuple[MatchResult, dict[str, Advisory]]:
    known = [parse_advisory(record) for record in records]

    def candidates(ecosystem: str, name: str) -> list[Candidate]:
        named = [(one.id, one.about(ecosystem, name)) for one in known if not one.withdrawn]
        return [Candidate(found, parts) for found, parts in named if parts]

    result = match_packages(packages, {"PyPI", "npm"}, candidates, Numbers())
    return result, {one.id: one for one in known if one.id in {hit.id for hit in result.hits}}


def groups(packages: Sequence[Package], *records: dict[str, Any]) -> tuple[Group, ...]:
    result, advisories = examined(packages, *records)
    return group_matches(result.hits, advisories, Numbers(), {})


def test_one_flaw_under_three_ids_is_one_group() -> None:
    (found,) = groups(
        [bread("1.0")],
        advisory("PYSEC-1", fixed_in("PyPI", "bread", "1.2"), aliases=["CVE-1", "GHSA-1"]),
        advisory(
            "GHSA-1",
            fixed_in("PyPI", "bread", "1.2"),
            aliases=["CVE-1"],
            severity=[{"type": "CVSS_V3", "score": CRITICAL}],
        ),
    )
    assert found.ids == ("CVE-1", "GHSA-1", "PYSEC-1")
    assert (found.severity, found.cvss, found.fixed) == (Severity.CRITICAL, "9.8", "1.2")
    assert found.summary == "Flaw GHSA-1"


def test_the_fixed_version_is_one_that_no_advisory_of_the_group_affects() -> None:
    (found,) = groups(
        [bread("1.0")],
        advisory("GHSA-1", fixed_in("PyPI", "bread", "1.2"), aliases=["CVE-1"], published="2026-03-01T00:00:00Z"),
        advisory("PYSEC-1", fixed_in("PyPI", "bread", "1.4"), aliases=["CVE-1"], published="2026-02-01T00:00:00Z"),
        advisory(
            "X-1",
            affects("PyPI", "bread", span(("introduced", "0"), ("last_affected", "1.3"))),
            aliases=["CVE-1"],
            published="2026-01-01T00:00:00Z",
        ),
    )
    assert found.fixed == "1.4"
    assert found.published == "2026-01-01T00:00:00Z"
    assert found.fixed_since == "2026-02-01T00:00:00Z"


def test_there_is_no_fixed_version_while_one_advisory_of_the_group_affects_them_all() -> None:
    (found,) = groups(
        [bread("1.0")],
        advisory("GHSA-1", fixed_in("PyPI", "bread", "1.2"), aliases=["CVE-1"]),
        advisory("X-1", affects("PyPI", "bread", span(("introduced", "0"))), aliases=["CVE-1"]),
    )
    assert (found.fixed, found.fixed_since) == ("", "")


def test_the_same_flaw_in_two_packages_is_two_groups_the_worst_first() -> None:
    record = advisory(
        "GHSA-1",
        fixed_in("PyPI", "bread", "2.0"),
        fixed_in("PyPI", "butter", "2.0"),
        severity=[{"type": "CVSS_V3", "score": MEDIUM}],
    )
    worse = advisory("GHSA-2", fixed_in("PyPI", "butter", "2.0"), severity=[{"type": "CVSS_V3", "score": CRITICAL}])
    butter = Package(ecosystem="PyPI", name="butter", version="1.0")
    assert [(one.id, one.package) for one in groups([bread("1.0"), butter], record, worse)] == [
        ("GHSA-2", "butter"),
        ("GHSA-1", "bread"),
        ("GHSA-1", "butter"),
    ]


def test_a_withdrawn_advisory_affects_nothing() -> None:
    record = advisory("GHSA-1", fixed_in("PyPI", "bread", "2.0"), withdrawn="2026-02-01T00:00:00Z")
    assert groups([bread("1.0")], record) == ()


def test_a_package_that_is_used_twice_counts_once_by_its_shortest_way() -> None:
    uses = [
        bread("1.0", Reach.TRANSITIVE, scopes=frozenset({"dev"})),
        bread("1.0", Reach.DIRECT, scopes=frozenset({"dev", "optional"})),
        bread("1.0", Reach.TRANSITIVE, scopes=frozenset({"optional", "dev"})),
    ]
    result, _ = examined(uses)
    (found,) = groups(uses, advisory("GHSA-1", fixed_in("PyPI", "bread", "2.0")))
    assert result.checked == 1
    assert (found.relation, found.scopes) == (Reach.DIRECT, frozenset({"dev"}))


def test_what_is_no_version_is_unknown_and_not_affected() -> None:
    everything = advisory("GHSA-1", affects("PyPI", "bread", span(("introduced", "0"))))
    result, _ = examined([bread("main"), bread(None, raw=">=1")], everything)
    assert (result.checked, result.hits) == (0, ())
    assert [(one.version, one.why) for one in result.unknown] == [(">=1", "not_a_version"), ("main", "not_a_version")]


def test_an_unchecked_ecosystem_is_unknown_and_not_clean() -> None:
    result, _ = examined([Package(ecosystem="Maven", name="g:bread", version="1.0")])
    assert result.checked == 0
    assert [one.why for one in result.unknown] == ["ecosystem_missing"]


def test_an_advisory_that_cannot_be_compared_is_said_beside_those_that_can() -> None:
    result, _ = examined(
        [bread("1.0")],
        advisory("A-1", affects("PyPI", "bread")),
        advisory("A-2", affects("PyPI", "bread", span(("introduced", "0"), ("fixed", "soon")))),
        advisory("A-3", fixed_in("PyPI", "bread", "2.0")),
    )
    assert [hit.id for hit in result.hits] == ["A-3"]
    assert [one.why for one in result.unknown] == ["no_versions", "unordered"]


def test_the_body_says_again_what_was_found() -> None:
    found = groups([bread("1.0")], advisory("A-1", fixed_in("PyPI", "bread", "2.0")))
    result, _ = examined([bread("main")])
    view = Advisories.parse(build_body(checked=1, groups=found, unknown=result.unknown, ecosystems={"PyPI"}))
    assert (view.checked, view.groups, view.unknown, view.ecosystems) == (1, found, result.unknown, ("PyPI",))


def test_the_body_is_bounded_and_counts_what_it_leaves_out() -> None:
    result, _ = examined([bread(None, raw=f">={number}") for number in range(300)])
    view = Advisories.parse(build_body(checked=0, groups=(), unknown=result.unknown, ecosystems=()))
    assert (len(view.unknown), view.unknown_total) == (200, 300)


def test_a_group_says_whether_the_declared_ranges_admit_the_fix() -> None:
    flaw = advisory("CVE-1", fixed_in("PyPI", "bread", "1.2"))
    for ranges, admitted, held_by in (
        ((("", ">=1"), ("oven", "<2")), True, ()),
        ((("", ">=1"), ("oven", "<1.1")), False, (("oven", "<1.1"),)),
        ((("", ">=1"), ("oven", "^1")), None, ()),  # not understood
        ((("", ">=1.1"), ("oven", "<2")), None, ()),  # excludes our version, so something overrides it
        ((), None, ()),
    ):
        (found,) = groups([bread("1.0", ranges=ranges, lock="pdm")], flaw)
        assert (found.admitted, found.held_by, found.lock) == (admitted, held_by, "pdm")
        body = build_body(checked=1, groups=[found], unknown=[], ecosystems=["PyPI"])
        assert Advisories.parse(body).groups == (found,)
