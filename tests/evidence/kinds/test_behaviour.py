"""Bodies of what servers tried, and their views."""

from __future__ import annotations

import pytest

from evidence.canonical import NotJson
from evidence.kinds.behaviour import MOST, Behaviour, Contact, Decoy, behaviour, together

SEEN = behaviour(
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
    again = behaviour(
        contacts=reversed(SEEN.contacts), names=["a.example", "b.example", "a.example"], programs=["git"],
        writes=["/etc/x"], decoys=reversed(SEEN.decoys or ()),
    )  # fmt: skip
    assert again.observed().digest == SEEN.observed().digest


def test_decoys_that_nobody_watched_are_unknown_and_not_none_opened() -> None:
    unwatched = behaviour()
    assert Behaviour.parse(unwatched.observed().body).decoys is None
    assert Behaviour.parse(behaviour(decoys=[]).observed().body).decoys == ()
    assert together([SEEN, unwatched]).decoys is None


def test_processes_of_one_server_are_told_together() -> None:
    other = behaviour(names=["c.example"], decoys=[Decoy(".netrc")], cut=True)
    both = together([SEEN, other])
    assert both.names == ("a.example", "b.example", "c.example")
    assert len(both.decoys or ()) == 3
    assert both.cut
    assert together([SEEN]) == SEEN


def test_too_much_is_cut_and_said() -> None:
    many = behaviour(names=[f"h{number:04}.example" for number in range(MOST + 1)])
    assert (len(many.names), many.cut) == (MOST, True)
    assert not behaviour(names=[f"h{number:04}.example" for number in range(MOST)]).cut


@pytest.mark.parametrize("body", [b"[]", b"{}", b'{"contacts": 1, "names": [1, {}], "decoys": [3], "cut": "yes"}'])
def test_odd_bodies_are_viewed_as_empty(body: bytes) -> None:
    seen = Behaviour.parse(body)
    assert (seen.contacts, seen.names, seen.cut) == ((), (), False)


def test_no_json_is_our_own_fault() -> None:
    with pytest.raises(NotJson):
        Behaviour.parse(b"{")
