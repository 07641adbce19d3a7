"""Bodies of what servers tried, and their views."""

from __future__ import annotations

import pytest

from evidence.canonical import NotJson
from evidence.kinds.behaviour import MAX_ENTRIES, Behaviour, Contact, Decoy, build_behaviour, merge_behaviours

SEEN = build_behaviour(
    contacts=[Contact("192.0.2.1", 443), Contact("/run/x.sock"), Contact("192.0.2.1", 443)],
    names=["b.example", "a.example"],
    programs=["git"],
    writes=["/etc/x"],
    decoys=[Decoy(".ssh/id_rsa"), Decoy(".bashrc"), Decoy(".bashrc", changed=True)],
)


def test_what_is_written_is_read_back() -> None:
    assert Behaviour.parse(SEEN.observed().body) == SEEN
    assert SEEN.names == ("a.example", "b.example")
    assert SEEN.decoys == (Decoy(".bashrc", changed=True), Decoy(".ssh/id_rsa"))


def test_order_of_what_happened_does_not_matter() -> None:
    again = build_behaviour(
        contacts=reversed(SEEN.contacts), names=["a.example", "b.example", "a.example"], programs=["git"],
        writes=["/etc/x"], decoys=reversed(SEEN.decoys or ()),
    )  # fmt: skip
    assert again.observed().digest == SEEN.observed().digest


def test_unmonitored_decoys_are_unknown_and_not_unopened() -> None:
    unwatched = build_behaviour()
    assert Behaviour.parse(unwatched.observed().body).decoys is None
    assert Behaviour.parse(build_behaviour(decoys=[]).observed().body).decoys == ()
    assert merge_behaviours([SEEN, unwatched]).decoys is None


def test_behaviour_of_all_processes_of_a_server_is_merged() -> None:
    other = build_behaviour(names=["c.example"], decoys=[Decoy(".netrc")], cut=True)
    both = merge_behaviours([SEEN, other])
    assert both.names == ("a.example", "b.example", "c.example")
    assert len(both.decoys or ()) == 3
    assert both.cut
    assert merge_behaviours([SEEN]) == SEEN


def test_too_much_is_cut_and_said() -> None:
    many = build_behaviour(names=[f"h{number:04}.example" for number in range(MAX_ENTRIES + 1)])
    assert (len(many.names), many.cut) == (MAX_ENTRIES, True)
    assert not build_behaviour(names=[f"h{number:04}.example" for number in range(MAX_ENTRIES)]).cut


@pytest.mark.parametrize("body", [b"[]", b"{}", b'{"contacts": 1, "names": [1, {}], "decoys": [3], "cut": "yes"}'])
def test_odd_bodies_are_viewed_as_empty(body: bytes) -> None:
    seen = Behaviour.parse(body)
    assert (seen.contacts, seen.names, seen.cut) == ((), (), False)


def test_no_json_is_our_own_fault() -> None:
    with pytest.raises(NotJson):
        Behaviour.parse(b"{")
