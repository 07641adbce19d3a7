"""The same over the API: what needs which token, what strangers may say, and that nothing private is returned."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from msgspec.structs import replace

from evidence.store import RetestState
from evidence.store.community.claim_values import ClaimState
from evidence.store.decisions.audit_trail import AuditEntry
from publish.community import tokens
from publish.community.limits import CommunityLimits
from publish.community.webhooks import derive_secret
from tests.publish import samples
from tests.publish.community.conftest import House

REASON = "The description has thirty words; the rule reads the first line only."
V1 = "/api/v1"


def dispute(house: House, server: str, headers: dict[str, str] | None = None, **changes: Any) -> Any:
    line = house.line(server)
    body = {"rubric": "lint", "cites": line.cites, "at": line.at, "reason": REASON} | changes
    return house.client.post(f"{V1}/servers/{server}/disputes", json=body, headers=headers)


def test_a_re_test_is_accepted_with_where_to_follow_it(house: House) -> None:
    path = f"{V1}/servers/{house.server()}/retests"
    first, second = house.client.post(path), house.client.post(path)
    assert (first.status_code, second.status_code) == (202, 200)
    assert first.headers["location"] == second.headers["location"] == f"{V1}/retests/{first.json()['id']}"
    response = house.client.get(first.headers["location"])
    assert response.json() == first.json() | {"comparisons": []}
    assert response.headers["retry-after"] == "5"
    assert house.client.get(path).json() == {"retests": [first.json()]}
    assert "client" not in response.text


def test_re_tests_are_few_and_only_of_what_is_listed(house: House) -> None:
    house.backend.most = 1
    one, other = house.server(), house.server("hostile")
    assert house.client.post(f"{V1}/servers/{one}/retests").status_code == 202
    many = house.client.post(f"{V1}/servers/{other}/retests")
    assert (many.status_code, many.headers["retry-after"]) == (429, "3600")
    assert many.headers["content-type"] == "application/problem+json"
    assert house.client.post(f"{V1}/servers/srv_{'0' * 20}/retests").status_code == 404
    house.backend.hidden.add(one)
    assert house.client.post(f"{V1}/servers/{one}/retests").status_code == 404
    assert house.client.get(f"{V1}/retests/{house.store.retests.list_unfinished_retests()[0].id}").status_code == 404


def test_a_token_says_with_what_standing_is_asked(house: House) -> None:
    server = house.server()
    for headers, standing in (
        (house.owner(server), "owner"),
        (house.owner(house.server("hostile")), "anyone"),
        (house.token(tokens.ADMIN_RETESTS), "operator"),
        (house.token(tokens.ADMIN_DISPUTES), "anyone"),
    ):
        assert house.client.post(f"{V1}/servers/{server}/retests", headers=headers).status_code == 202
        (row,) = house.store.retests.list_unfinished_retests()
        assert row.client.partition(":")[0] == standing
        assert house.store.retests.finish_retest(row.id, RetestState.FAILED, house.backend.now())


def test_tokens_that_prove_nothing_of_a_server_are_no_new_clients(house: House) -> None:
    server, other = house.server(), house.server("hostile")
    for _ in range(2):
        house.client.post(f"{V1}/servers/{server}/retests", headers=house.owner(other))
        (row,) = house.store.retests.list_unfinished_retests()
        house.store.retests.finish_retest(row.id, RetestState.FAILED, house.backend.now())
        assert dispute(house, server, headers=house.owner(other)).status_code in {200, 201}
    assert len({one.client for one in house.store.retests.list_retests(9, server)}) == 1
    assert len(house.store.disputes.list_disputes(server=server)) == 1


def test_a_dispute_is_shown_without_its_text_until_review(house: House) -> None:
    server = house.server()
    filed = dispute(house, server, contact="me@example.com")
    assert filed.status_code == 201
    assert (filed.json()["state"], filed.json()["reason"]) == ("open", None)
    assert dispute(house, server, reason=REASON + " Again.").status_code == 200
    where = filed.headers["location"]
    op = house.token(tokens.ADMIN_DISPUTES)
    assert house.client.post(f"{where}/show", json={}, headers=op).status_code == 204
    assert house.client.get(where).json()["reason"] == REASON
    assert house.client.post(f"{where}/reject", json={}, headers=op).status_code == 409
    assert house.client.post(f"{where}/reject", json={"answer": "It has two."}, headers=op).status_code == 204
    assert house.client.post(f"{where}/accept", json={}, headers=op).status_code == 409
    response = house.client.get(f"{V1}/servers/{server}/disputes")
    assert [(one["state"], one["answer"]) for one in response.json()["disputes"]] == [("rejected", "It has two.")]
    assert "me@example.com" not in response.text
    acts = house.client.get(f"{V1}/audit", headers=house.token(tokens.ADMIN_AUDIT)).json()["entries"]
    assert [one["action"] for one in acts if one["subject"] == filed.json()["id"]] == ["dispute.reject", "dispute.show"]
    assert acts[1]["actor"] == "ana"
    assert acts[1]["before"] == {"state": "open", "shown": True, "answer": None}
    assert house.client.post(f"{where}/drop", json={}, headers=op).status_code == 409
    assert house.client.post(f"{where}/reopen", json={}, headers=op).status_code == 204
    assert house.client.post(f"{where}/drop", json={}, headers=op).status_code == 204
    assert house.client.get(where).status_code == 404


def test_only_lines_that_everybody_reads_can_be_disputed(house: House) -> None:
    server = house.server()
    unknown = [dispute(house, server, cites="poisoning"), dispute(house, server, cites="withheld", at="")]
    unknown.append(dispute(house, server, at="tools/else"))
    assert [one.status_code for one in unknown] == [404, 404, 404]
    assert len({one.text for one in unknown}) == 1  # a guess learns nothing


def test_a_dispute_that_is_not_as_described_is_refused(house: House) -> None:
    for changes in (
        {"reason": "too short"},
        {"reason": "x" * 2001},
        {"contact": "x" * 201},
        {"more": 1},
        {"at": 3},
        {"rubric": "Lint!"},
        {"reason": None},
        {"reason": " " * 30},
    ):
        answer = dispute(house, house.server(), **changes)
        assert answer.status_code == 422, changes
        assert answer.headers["content-type"] == "application/problem+json"
    assert house.store.disputes.list_disputes() == []


def test_a_client_is_stopped_and_the_maintainers_dispute_is_marked(house: House) -> None:
    server = house.server()
    house.backend.community = CommunityLimits(disputes_of_client=0)
    stopped = dispute(house, server)
    assert (stopped.status_code, stopped.headers["retry-after"]) == (429, "3600")
    house.backend.community = CommunityLimits()
    assert dispute(house, server, house.owner(server)).json()["by_maintainer"] is True
    assert dispute(house, server, house.owner(house.server("hostile"))).json()["by_maintainer"] is False


def test_hostile_words_come_back_as_they_were_said_and_do_no_harm(house: House) -> None:
    server = house.server("hostile")
    torn = json.dumps({"rubric": "lint", "cites": "x", "reason": "\ud83d" * 30})
    path = f"{V1}/servers/{server}/disputes"
    answer = house.client.post(path, content=torn, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    filed = dispute(house, server, reason=samples.HOSTILE + " and more words than twenty")
    assert filed.status_code == 201
    op = house.token(tokens.ADMIN_DISPUTES)
    house.client.post(f"{filed.headers['location']}/show", json={}, headers=op)
    response = house.client.get(filed.headers["location"])
    assert response.headers["content-type"] == "application/json"
    assert response.json()["reason"].startswith("<script>")


def test_decisions_need_a_token_of_their_own(house: House) -> None:
    where = dispute(house, house.server()).headers["location"] + "/accept"
    ended = house.token(tokens.ADMIN_DISPUTES, expires_at=house.backend.now())
    revoked = house.token(tokens.ADMIN_DISPUTES)
    number = revoked["Authorization"].split("_")[1]
    assert house.store.api_tokens.revoke_token(
        number, AuditEntry(at=house.backend.now(), who="op", what="token.revoke", subject=number)
    )
    good = house.token(tokens.ADMIN_DISPUTES)["Authorization"]
    wrong = good[:-3] + ("abc" if not good.endswith("abc") else "abd")
    for header, status in (
        (None, 401),
        (ended["Authorization"], 401),
        (revoked["Authorization"], 401),
        (wrong, 401),
        ("Bearer ", 401),
        ("Basic " + good[7:], 401),
        ("Bearer " + "x" * 5000, 401),
        (house.token(tokens.ADMIN_AUDIT)["Authorization"], 403),
        (house.owner(house.server())["Authorization"], 403),
        (good, 204),
    ):
        headers = {} if header is None else {"Authorization": header}
        answer = house.client.post(where, json={}, headers=headers)
        assert answer.status_code == status, header
        assert (answer.status_code == 401) == ("www-authenticate" in answer.headers)


def test_who_guesses_tokens_has_to_wait(house: House) -> None:
    house.backend.community = CommunityLimits(failures=3)
    good, path = house.token(tokens.ADMIN_AUDIT), f"{V1}/audit"
    bad = {"Authorization": f"Bearer hmk_{'0' * 12}_{'x' * 43}"}
    assert [house.client.get(path, headers=bad).status_code for _ in range(4)] == [401, 401, 401, 429]
    waiting = house.client.get(path, headers=good)
    assert (waiting.status_code, waiting.headers["retry-after"]) == (429, "601")
    house.backend.pass_time(timedelta(minutes=10, seconds=1))
    assert house.client.get(path, headers=good).status_code == 200


def test_an_owners_token_counts_from_its_proof_to_its_lapse(house: House) -> None:
    server = house.server()
    started = house.client.post(f"{V1}/servers/{server}/claims", json={"way": "server"})
    assert started.status_code == 201
    headers = {"Authorization": f"Bearer {started.json()['token']}"}
    path = f"{V1}/servers/{server}/webhooks"
    assert house.client.get(path, headers=headers).status_code == 401
    (claim,) = house.store.claims.list_claims()
    for state, status in ((ClaimState.PROVEN, 200), (ClaimState.LAPSED, 401)):
        house.store.claims.record_check(replace(claim, state=state))
        assert house.client.get(path, headers=headers).status_code == status
    response = house.client.get(started.headers["location"])
    assert response.json()["state"] == "lapsed"
    assert "token" not in response.json()


def test_a_way_that_a_server_does_not_have_is_no_claim(house: House) -> None:
    server = house.server()
    ways = house.client.get(f"{V1}/servers/{server}/claims").json()["places"]
    assert {"way": "server", "place": "instructions or serverInfo"} in ways
    missing = ({"well-known", "dns", "repository", "server"} - {one["way"] for one in ways}).pop()
    refused = house.client.post(f"{V1}/servers/{server}/claims", json={"way": missing})
    assert refused.status_code == 409
    assert house.client.post(f"{V1}/servers/{server}/claims", json={"way": "trust me"}).status_code == 422


def test_a_webhook_is_the_owners_and_its_secret_is_shown_once(house: House) -> None:
    server, other = house.server(), house.server("hostile")
    mine, theirs = house.owner(server), house.owner(other)
    path = f"{V1}/servers/{server}/webhooks"
    url = {"url": "https://ci.example/hook"}
    assert house.client.post(path, json=url).status_code == 401
    assert house.client.post(path, json=url, headers=theirs).status_code == 403
    made = house.client.post(path, json=url, headers=mine)
    assert made.status_code == 201
    assert made.json()["secret"] == derive_secret(house.backend.sealed, made.json()["id"])
    listed = house.client.get(path, headers=mine)
    assert "secret" not in listed.text
    hook = f"{V1}/webhooks/{made.json()['id']}"
    assert house.client.get(f"{hook}/deliveries", headers=theirs).status_code == 404
    assert house.client.get(f"{hook}/deliveries", headers=mine).json() == {"deliveries": []}
    assert house.client.delete(hook, headers=theirs).status_code == 404
    assert house.client.delete(hook, headers=mine).status_code == 204
    assert house.client.get(path, headers=mine).json()["webhooks"][0]["ended_at"] is not None


NO_ADDRESSES = (
    "http://ci.example/",
    "https://user:pw@ci.example/",
    "https://ci.example/{x}",
    "https://ci.example/ x",
    "https://ci.example/\r\nHost: evil",
    "file:///etc/passwd",
    "https://",
    "https://[::1",
    "https://ci.example:99999/",
    "https://exämple.org/",
)


def test_an_address_that_is_none_is_no_webhook(house: House) -> None:
    server = house.server()
    mine = house.owner(server)
    for url in NO_ADDRESSES:
        answer = house.client.post(f"{V1}/servers/{server}/webhooks", json={"url": url}, headers=mine)
        assert answer.status_code == 422, url
    assert house.store.webhooks.list_webhooks() == []


def test_an_opt_out_takes_the_server_from_every_list_at_once(house: House) -> None:
    server = house.server()
    house.store.listing.set_hidden_servers([])
    before = house.client.get(f"{V1}/servers").json()["total"]
    put = house.client.put(f"{V1}/servers/{server}/opt-out", json={}, headers=house.owner(server))
    assert put.status_code == 204
    # The backend got no notice: the stored opt-out has to be enough.
    assert house.client.get(f"{V1}/servers").json()["total"] == before - 1
    for path in ("/servers", "/", "/sitemap.xml", f"{V1}/servers", "/compare?q=a", f"/servers/{server}"):
        assert server not in house.client.get(path).text, path
    assert house.client.get(f"/servers/{server}").status_code == 404
    house.store.listing.set_hidden_servers([])  # by a process with an older state
    assert house.store.listing.find_server(server) is None


def test_the_owner_of_a_server_opts_out_and_in(house: House) -> None:
    server = house.server()
    mine, path = house.owner(server), f"{V1}/servers/{server}/opt-out"
    assert house.client.put(path, json={}).status_code == 401
    assert house.client.put(path, json={}, headers=house.owner(house.server("hostile"))).status_code == 403
    assert house.client.put(path, json={"note": "not ready"}, headers=mine).status_code == 204
    (entry,) = house.store.opt_outs.read_opt_outs()
    assert (entry.value, entry.who, entry.note) == (server, "its owner", "not ready")
    house.backend.hidden.add(server)
    assert house.client.delete(path, headers=mine).status_code == 204
    assert house.store.opt_outs.read_opt_outs() == []
    assert house.client.delete(path, headers=mine).status_code == 409
    assert house.client.put(path, json={}, headers=house.token(tokens.ADMIN_OPT_OUTS)).status_code == 204
    assert [one.what for one in house.store.audit.read_entries(3, subject=server)] == [
        "server.opt_out",
        "server.opt_in",
        "server.opt_out",
    ]
