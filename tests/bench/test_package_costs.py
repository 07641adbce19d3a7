"""How the bench of the costs of packages attributes CPU to phases, without starting any."""

from __future__ import annotations

from bench.package_costs import VISIT, Costs, Cpu, find_cost, make_table, split_installation
from crawler.collectors.protocol.questions.exchanges_body import FULL


def seconds(number: int) -> Cpu:
    return Cpu(0.0, float(number))


def test_an_installation_is_resolved_until_it_downloads_and_unpacked_after_its_last_download() -> None:
    shown = ["", "resolving", "downloading 1 of 2", "downloading 2 of 3", "unpacking"]
    split = split_installation([(phase, seconds(10**at)) for at, phase in enumerate(shown)])
    assert {phase: cpu.started for phase, cpu in split.items()} == {"resolve": 11, "download": 1100, "unpack": 10000}


def test_unpacking_that_is_shown_while_more_becomes_known_is_downloading() -> None:
    shown = ["resolving", "unpacking", "downloading 2 of 4", "unpacking", "downloading 4 of 5", "unpacking"]
    split = split_installation([(phase, seconds(10**at)) for at, phase in enumerate(shown)])
    assert {phase: cpu.started for phase, cpu in split.items()} == {"resolve": 1, "download": 11110, "unpack": 100000}


def test_what_downloads_between_two_looks_is_resolved_and_unpacked() -> None:
    split = split_installation([("", seconds(1)), ("resolving", seconds(2)), ("unpacking", seconds(4))])
    assert {phase: cpu.started for phase, cpu in split.items()} == {"resolve": 3, "download": 0, "unpack": 4}


def test_a_first_visit_has_a_full_probe_with_all_its_starts_and_no_core_probe() -> None:
    assert find_cost(row("npm:a", 1.0), "first visit") == Cpu(len(VISIT), 4 * 10.0)


def test_the_table_has_means_over_packages_of_medians_over_rounds_beside_those_before() -> None:
    rows = [*(row("npm:a", score) for score in (1.0, 2.0, 30.0)), row("npm:b", 4.0)]
    heading, _, *lines = make_table(rows, [row("npm:a", 5.0)]).splitlines()
    assert heading == "||npm before|npm|"
    assert "|score|5.00+0.00|3.00+0.00|" in lines
    assert "|full probe|1.00+0.00 (4.0)|1.00+0.00 (4.0)|" in lines
    assert "|unchanged|–|–|" in lines


def row(package: str, score: float) -> Costs:
    phases = {phase: Cpu(1.0, 0.0) for phase in VISIT} | {"score": Cpu(score, 0.0)}
    phases |= {"each start": Cpu(0.0, 10.0), "core probe": Cpu(100.0, 100.0)}
    return Costs(package=package, starts={FULL: 4}, phases=phases)
