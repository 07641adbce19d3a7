"""Each published question gives the right answer from a real dataset in a real DuckDB.

Expected answers are computed from the exact JSON Lines in Python.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
import pytest
from msgspec.structs import replace

from evidence.model import Dossier, Server, Target, TargetType
from evidence.store import open_store
from publish.datasets.export import ExportOrder, export_snapshot
from publish.datasets.format.questions import QUESTIONS, render_questions
from publish.datasets.snapshot.metadata import render_readme
from scoring.engine import catalogue
from tests.dossiers import captures, recorded
from tests.publish.datasets import nights
from tests.scoring.ladder_page import SERVERS

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "guide" / "dataset.md"
RUN = replace(nights.RUN, id="20261123T030000Z-nightly", as_of=datetime(2026, 11, 23, 3, tzinfo=UTC))
LATER = replace(RUN, id="20271228T030000Z-nightly", as_of=RUN.as_of + timedelta(days=400))
DEFAULT = {"rubric": "adaptive", "version": 2}
Rows = list[dict[str, Any]]
Ask = Callable[[str], Rows]


def servers() -> list[Dossier]:
    """Captured packages, recorded remotes of which some are locked, kept projects, hostile and absent servers."""
    kept = [
        _moved(make(), Server(ref=f"pypi:{name}", name=name, targets=(Target(type=TargetType.PYPI, identifier=name),)))
        for name, make in SERVERS.items()
    ]
    return [*nights.servers(), *kept, *recorded().values(), *list(captures().values())[:6]]


def _moved(dossier: Dossier, server: Server) -> Dossier:
    records = {kind: replace(record, server=server.id) for kind, record in dossier.records.items()}
    return replace(dossier, server=server, records=records)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two snapshots side by side, as from two unpacked archives: the same servers 400 days apart."""
    folder = tmp_path_factory.mktemp("questions")
    store = open_store(f"sqlite:///{folder}/night.db")
    store.migrate()
    for run, dossiers in ((RUN, servers()), (LATER, servers()[1:])):
        nights.fill(store, nights.later(dossiers, run.as_of - RUN.as_of), run)
        export_snapshot(store, ExportOrder(run=run.id), folder / "place" / run.id)
    store.close()
    return folder / "place"


@pytest.fixture
def newest(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(place / LATER.id)
    return place / LATER.id


@pytest.fixture
def ask(newest: Path) -> Iterator[Ask]:
    """Answers a question by its name, from the newest of the two snapshots."""
    with duckdb.connect() as connection:

        def answer(name: str) -> Rows:
            (question,) = [one for one in QUESTIONS if one.name == name]
            found = connection.sql(question.sql)
            return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]

        yield answer


def cards(folder: Path, **wanted: Any) -> Rows:
    rows = nights.rows(folder, "scorecards")
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def test_there_are_ten_and_each_is_in_the_readme_of_a_snapshot(newest: Path) -> None:
    assert len({question.name for question in QUESTIONS}) == len(QUESTIONS) == 10
    assert render_questions() in render_readme()
    assert (newest / "README.md").read_text() == render_readme()


def test_they_ask_about_the_default_rubric() -> None:
    default = next(rubric for rubric in catalogue.list_rubrics() if rubric.default)
    assert {"rubric": default.id, "version": default.version} == DEFAULT
    asked = {tuple(found) for one in QUESTIONS for found in re.findall(r"rubric = '(\w+)' AND version = (\d)", one.sql)}
    assert asked == {("adaptive", "2")}


def test_the_sql_of_the_guide_runs_too(newest: Path) -> None:
    (sql,) = re.findall(r"```sql\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    with duckdb.connect() as connection:
        rows = connection.sql(sql).fetchall()
    assert sum(row[-1] for row in rows) == len(cards(newest, rubric="lint"))


def test_the_best_servers_of_each_ecosystem(newest: Path, ask: Ask) -> None:
    best: dict[str, list[tuple[Decimal, Decimal, str]]] = defaultdict(list)
    for card in cards(newest, **DEFAULT):
        if card["score"] is not None:
            best[card["ecosystem"]].append((-Decimal(card["score"]), -Decimal(card["coverage"]), card["server"]))
    refs = {row["server"]: row["ref"] for row in nights.rows(newest, "servers")}
    wanted = [(name, refs[server], -score) for name in sorted(best) for score, _, server in sorted(best[name])[:5]]
    found = ask("best")
    assert [(row["ecosystem"], row["ref"], row["score"]) for row in found] == wanted
    assert len({row["ecosystem"] for row in found}) > 1
    assert all(row["floor"] <= row["score"] <= row["ceiling"] for row in found)


def test_the_distribution_of_grades(newest: Path, ask: Ask) -> None:
    wanted = Counter(card["grade"] or "none" for card in cards(newest, **DEFAULT))
    found = ask("grades")
    assert {row["grade"]: row["servers"] for row in found} == wanted
    assert len(wanted) > 2
    assert found[-1]["grade"] == "none", "the best grade is first"
    assert sum(row["percent"] for row in found) == pytest.approx(100, abs=0.3)


def test_the_rules_that_cost_most_points(newest: Path, ask: Ask) -> None:
    parts = [row for row in nights.rows(newest, "dimension_scores") if row.items() >= DEFAULT.items()]
    whole = {(row["server"], row["dimension"]): row["effective_weight"] for row in parts if not row["component"]}
    applicable: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for row in parts:
        if row["component"] and row["not_measured"] != "not_applicable":
            applicable[row["server"], row["dimension"]] += Decimal(row["base_weight"])
    weight = {(row["server"], row["dimension"], row["component"]): Decimal(row["base_weight"]) for row in parts}
    points: dict[str, Decimal] = defaultdict(Decimal)
    servers: dict[str, set[str]] = defaultdict(set)
    for line in nights.rows(newest, "lines"):
        if line.items() >= DEFAULT.items() and line["component"] and line["rule"]:
            at = (line["server"], line["dimension"])
            if Decimal(line["points"]) < 0:
                share = weight[*at, line["component"]] / applicable[at]
                points[line["rule"]] -= Decimal(line["points"]) * share * Decimal(whole[at]) * 10
                servers[line["rule"]].add(line["server"])
    found = ask("costs")
    assert len(found) == min(20, len(points))
    assert {row["rule"]: row["servers"] for row in found} == {row["rule"]: len(servers[row["rule"]]) for row in found}
    for row in found:
        assert float(row["points"]) == pytest.approx(float(points[row["rule"]]), abs=0.05)
    assert float(found[0]["points"]) == pytest.approx(float(max(points.values())), abs=0.05)


def test_scores_that_moved_between_two_runs(place: Path, newest: Path, ask: Ask) -> None:
    old, new = (
        {row["server"]: row["score"] for row in cards(place / run.id, **DEFAULT) if row["score"]}
        for run in (RUN, LATER)
    )
    wanted = {server: Decimal(score) - Decimal(old[server]) for server, score in new.items() if old[server] != score}
    found = ask("moved")
    assert {row["server"]: row["points"] for row in found} == wanted
    assert wanted, "a project without a commit for a year loses points"
    assert {(row["before"], row["after"]) for row in found} == {(RUN.id, LATER.id)}
    assert [abs(row["points"]) for row in found] == sorted((abs(row["points"]) for row in found), reverse=True)


def test_the_share_of_each_dimension_that_was_not_measured(newest: Path, ask: Ask) -> None:
    weight: dict[str, Decimal] = defaultdict(Decimal)
    missing: dict[str, Decimal] = defaultdict(Decimal)
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    for row in nights.rows(newest, "dimension_scores"):
        if row.items() >= DEFAULT.items() and row["component"]:
            weight[row["dimension"]] += Decimal(row["base_weight"])
            if row["result"] is None:
                missing[row["dimension"]] += Decimal(row["base_weight"])
                reasons[row["dimension"]][row["not_measured"]] += 1
    found = ask("unmeasured")
    assert {row["dimension"] for row in found} == set(weight)
    assert len(weight) == 6
    for row in found:
        name = row["dimension"]
        assert row["not_measured"] == pytest.approx(float(missing[name] / weight[name]), abs=0.002)
        assert reasons[name][row["most_frequent_reason"]] == max(reasons[name].values())


def test_servers_with_advisories(newest: Path, ask: Ask) -> None:
    wanted = {row["ref"]: row["advisories"] for row in nights.rows(newest, "servers") if row["advisories"]}
    found = ask("advisories")
    assert {row["ref"]: row["advisories"] for row in found} == wanted
    assert wanted
    assert (found[0]["advisories_worst"], found[0]["package_version"]) == ("critical", "1.2.0")


def test_tools_and_tokens(newest: Path, ask: Ask) -> None:
    listed: dict[str, Rows] = defaultdict(list)
    for row in nights.rows(newest, "servers"):
        if row["tools"] is not None:
            listed[row["ecosystem"]].append(row)
    found = {row["ecosystem"]: row for row in ask("tokens")}
    assert set(found) == set(listed)
    for name, rows in listed.items():
        assert found[name]["servers"] == len(rows)
        assert found[name]["tools"] == median(row["tools"] for row in rows)
        assert found[name]["most_tools"] == max(row["tools"] for row in rows)
        assert found[name]["tokens"] == median(row["tool_tokens"] for row in rows)
        assert found[name]["most_tokens"] == max(row["tool_tokens"] for row in rows) > 0


def test_open_and_locked_servers(newest: Path, ask: Ask) -> None:
    states = Counter(row["state"] for row in nights.rows(newest, "servers"))
    found = ask("locked")
    assert sum(row["open"] for row in found) == states["measured"] + states["partial"]
    assert sum(row["locked"] for row in found) == sum(
        row["reason"] == "oauth_required" for row in nights.rows(newest, "servers")
    )
    assert sum(row["locked"] for row in found) > 0
    assert sum(row["unknown"] for row in found) > 0, "the server that did not answer in time"


def test_where_the_methodologies_differ(newest: Path, ask: Ask) -> None:
    last = {rubric.id: rubric.version for rubric in catalogue.list_rubrics()}
    scores: dict[str, dict[str, Decimal]] = defaultdict(dict)
    refs = {row["server"]: row["ref"] for row in nights.rows(newest, "servers")}
    for card in cards(newest):
        if card["version"] == last[card["rubric"]] and card["score"] is not None:
            scores[refs[card["server"]]][card["rubric"]] = Decimal(card["score"])
    found = ask("methodologies")
    assert set(last) <= set(found[0])
    assert len(found) == min(20, sum(len(some) > 1 for some in scores.values()))
    for row in found:
        some = scores[row["ref"]]
        assert {name: row[name] for name in last} == {name: some.get(name) for name in last}
        assert row["spread"] == max(some.values()) - min(some.values())
    assert [row["spread"] for row in found] == sorted((row["spread"] for row in found), reverse=True)


def test_servers_without_a_commit_for_a_year(place: Path, newest: Path, ask: Ask, monkeypatch: Any) -> None:
    graded = {card["server"] for card in cards(newest, **DEFAULT) if card["grade"]}
    wanted = {
        row["ref"]
        for row in nights.rows(newest, "servers")
        if row["server"] in graded and (row["repository_last_commit"] or "9") < "2026-12-28"
    }
    found = ask("stale")
    assert {row["ref"] for row in found} == wanted
    assert wanted
    assert {type(row["last_commit"]) for row in found} == {date}
    monkeypatch.chdir(place / RUN.id)
    assert ask("stale") == [], "400 days before the commit was recent"
