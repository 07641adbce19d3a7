"""Registrations: entries are spliced in byte for byte, invalid ones are absence."""

from __future__ import annotations

import json

import pytest

from evidence.canonical import NotJson
from evidence.kinds.registration import Registration, compose_registration
from evidence.model import Absent, Observed, Reason, ServerRef, Status


def ref(
    registry: str, name: str, entry: bytes = b"{}", status: Status = Status.ACTIVE, error: str | None = None
) -> ServerRef:
    return ServerRef(registry=registry, name=name, version="1.0", status=status, entry=entry, error=error)


def test_entries_are_kept_byte_for_byte() -> None:
    odd = b'{ "n":1.0, "n":2, "s":"\\ud800" }'
    content = compose_registration([ref("official", "io.example/a", odd)])
    assert isinstance(content, Observed)
    assert odd in content.body
    assert Registration.parse(content.body).refs[0]["registry"] == "official"


def test_refs_stay_in_the_order_of_trust() -> None:
    content = compose_registration([ref("b", "x"), ref("a", "y"), ref("a", "x")])
    assert isinstance(content, Observed)
    names = [(item["registry"], item["name"]) for item in json.loads(content.body)["refs"]]
    assert names == [("b", "x"), ("a", "y"), ("a", "x")]


def test_invalid_entry_beside_a_valid_one_is_left_out() -> None:
    content = compose_registration(
        [ref("a", "x", b"<", Status.INVALID, "not an object"), ref("b", "x", b'{"name":"x"}')]
    )
    assert isinstance(content, Observed)
    (entry,) = Registration.parse(content.body).entries
    assert entry["name"] == "x"


def test_only_invalid_entries_are_an_absence_with_their_errors() -> None:
    refs = [ref("b", "x", b"<", Status.INVALID, "no name"), ref("a", "x", b"<", Status.INVALID)]
    assert compose_registration(refs) == Absent(Reason.INVALID_REGISTRATION, "a: no registry entry; b: no name")
    assert compose_registration([]) == Absent(Reason.INVALID_REGISTRATION, "no registry entry")


def test_a_deleted_entry_says_nothing_of_a_server_that_is_still_registered() -> None:
    gone, alive = ref("a", "gone", b'{"n":1}', Status.DELETED), ref("b", "alive", b'{"n":2}')
    assert compose_registration([gone, alive]) == compose_registration([alive])
    only = compose_registration([gone])
    assert isinstance(only, Observed)
    assert b'{"n":1}' in only.body


def test_entries_that_together_no_reader_could_parse_leave_the_first_ones() -> None:
    fat = b'{"name":"x","_meta":"' + b"a" * 1_000_000 + b'"}'
    flood = [ref("official", f"io.evil/{number}", fat) for number in range(20)]
    content = compose_registration([ref("official", "io.example/own", b'{"name":"own"}'), *flood, ref("z", "small")])
    assert isinstance(content, Observed)
    names = [item["name"] for item in Registration.parse(content.body).refs]
    assert names == ["io.example/own", "io.evil/0", "io.evil/1", "io.evil/2", "io.evil/3", "small"]


@pytest.mark.parametrize("body", [b"[]", b"{}", b'{"refs":3}', b'{"refs":[1,null]}', b'{"refs":[{"entry":[]}]}'])
def test_odd_body_has_no_entries(body: bytes) -> None:
    assert Registration.parse(body).entries == ()


def test_body_that_is_not_json_is_our_own_fault() -> None:
    with pytest.raises(NotJson):
        Registration.parse(b"{")


def test_names_that_are_not_text_safe_are_escaped() -> None:
    content = compose_registration([ref("a", 'quote" \x00 \ud800 \U0001f600')])
    assert isinstance(content, Observed)
    assert Registration.parse(content.body).refs[0]["name"] == 'quote" \x00 \ud800 \U0001f600'
