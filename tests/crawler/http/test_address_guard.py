"""Which addresses and ports the guard opens."""

from __future__ import annotations

import pytest

from crawler.http.address_guard import AddressGuard, classify_address
from crawler.http.failures import BlockedAddress

PUBLIC = ["8.8.8.8", "1.1.1.1", "93.184.215.14", "172.15.255.255", "172.32.0.1", "2606:4700::1111", "2a00:1450:4001::1"]
BLOCKED = [
    *[
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "100.64.0.1",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.254",
        "169.254.169.254",
    ],
    *[
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.8",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.1.1",
        "198.18.0.1",
        "198.51.100.7",
    ],
    *[
        "203.0.113.9",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::7f00:1",
        "::ffff:127.0.0.1",
    ],
    *[
        "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "2002:7f00:1::",
        "2001::1",
        "4000::1",
    ],
    *[
        "2001:db8::1",
        "3fff::1",
        "fc00::1",
        "fd12::1",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "ff02::1",
        "100.100.100.200",
    ],
    "fd00:ec2::254",
    "127.1",
    "0x7f.1",
    "2130706433",
    "localhost",
    "",
]
STILL_BLOCKED = [
    "169.254.169.254", "fe80::1", "224.0.0.1", "0.0.0.0", "100.100.100.200", "fd00:ec2::254", "64:ff9b::7f00:1",
    "2002:7f00:1::", "::ffff:169.254.169.254", "240.0.0.1", "localhost",
]  # fmt: skip


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_opened(address: str) -> None:
    assert AddressGuard().vet([address], 443) == (address,)


@pytest.mark.parametrize("address", BLOCKED)
def test_a_special_address_is_blocked(address: str) -> None:
    with pytest.raises(BlockedAddress):
        AddressGuard().vet([address], 443)


@pytest.mark.parametrize("address", STILL_BLOCKED)
def test_private_targets_do_not_open_metadata_or_link_local(address: str) -> None:
    with pytest.raises(BlockedAddress):
        AddressGuard(allow_private=True).vet([address], 80)


@pytest.mark.parametrize("address", ["127.0.0.1", "10.1.2.3", "192.168.0.9", "::1", "fd12::1", "::ffff:127.0.0.1"])
def test_private_targets_open_private_addresses_on_any_port(address: str) -> None:
    assert AddressGuard(allow_private=True).vet([address], 22)


@pytest.mark.parametrize("others", [["127.0.0.1", "8.8.8.8"], ["8.8.8.8", "127.0.0.1"], ["8.8.8.8", "fe80::1"]])
def test_one_private_answer_blocks_the_whole_name(others: list[str]) -> None:
    with pytest.raises(BlockedAddress):
        AddressGuard().vet(others, 443)


@pytest.mark.parametrize("port", [1, 22, 25, 53, 445, 1023, 3306, 5432, 6379, 9200, 11211, 27017])
def test_a_port_of_another_service_is_not_probed(port: int) -> None:
    with pytest.raises(BlockedAddress, match="not probed"):
        AddressGuard().vet(["8.8.8.8"], port)


@pytest.mark.parametrize("port", [80, 443, 3000, 8000, 8080, 8443, 65535])
def test_a_port_of_a_web_server_is_probed(port: int) -> None:
    assert AddressGuard().vet(["8.8.8.8"], port)


def test_a_mixed_answer_does_not_lift_the_port_policy() -> None:
    with pytest.raises(BlockedAddress, match="port"):
        AddressGuard(allow_private=True).vet(["127.0.0.1", "8.8.8.8"], 22)


def test_the_detail_names_no_address() -> None:
    with pytest.raises(BlockedAddress) as caught:
        AddressGuard().vet(["10.11.12.13"], 443)

    assert "10.11" not in caught.value.detail
    assert classify_address("10.11.12.13") == "private"
