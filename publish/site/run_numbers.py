"""The numbers of a published run as template values: what could be seen, and the distributions of scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from evidence.model import Reason
from publish.site import plot_geometry
from publish.text.numbers import make_bars
from publish.views.absence_advice import advise_on_absence
from publish.views.dashboard import DashboardNumbers
from publish.views.server_in_run import methodology_titles
from scoring.engine import catalogue

STATES: Final = ("measured", "partial", "not_testable")
RANGES: Final = tuple(f"{start}–{start + 9 if start < 90 else 100}" for start in range(0, 100, 10))
SHARES: Final = tuple(f"{start}–{start + 10} %" for start in range(0, 100, 10))
SHOWN_FAILURES: Final = 12
MEANINGS: Final = {
    "measured": "All lists that it declares were read to the end.",
    "partial": "It answered, but a list failed or was longer than the probe reads.",
    "not_testable": "It could not be opened. The reasons are below; none of them is a zero.",
}


def number_values(numbers: DashboardNumbers) -> dict[str, Any]:
    """The values of `run_numbers.html.j2`; empty before a run is published."""
    if numbers.run is None:
        return {}
    values = numbers.values
    rubrics = rubric_values(numbers)
    return {
        "total": values["servers"],
        "states": _states(values["states"]),
        "state_line": plot_geometry.make_pieces({name: values["states"].get(name, 0) for name in STATES}),
        "reasons": list(_reasons(numbers.rows("reasons"))),
        "main": rubrics[0] if rubrics else None,
        "others": rubrics[1:],
        "groups": [
            ("Registries", "registry", _groups(numbers.rows("registries"))),
            ("Ecosystems", "ecosystem", _groups(numbers.rows("ecosystems"))),
        ],
    }


def rubric_values(numbers: DashboardNumbers) -> list[dict[str, Any]]:
    """The distributions under each methodology, the default one first."""
    return [_rubric(one) for one in numbers.rows("rubrics")]


def _states(counts: Mapping[str, int]) -> list[dict[str, Any]]:
    whole = sum(counts.values())
    return [
        {
            "name": name,
            "count": counts.get(name, 0),
            "share": counts.get(name, 0) / whole if whole else 0.0,
            "meaning": MEANINGS[name],
        }
        for name in STATES
    ]


def _reasons(found: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    most = max((one["servers"] for one in found), default=0)
    for one in found:
        advice = advise_on_absence(Reason(one["reason"]))
        yield {
            "name": one["reason"],
            "count": one["servers"],
            "length": plot_geometry.bar_length(one["servers"], most),
            "means": advice.means,
            "ours": advice.ours,
        }


def _rubric(one: Mapping[str, Any]) -> dict[str, Any]:
    known = next(
        (each for each in catalogue.list_rubrics() if (each.id, each.version) == (one["rubric"], one["version"])), None
    )
    grades = _in_order(one.get("grades", []), [grade for _, grade in known.bands] if known else [])
    failures = one.get("failures", [])[:SHOWN_FAILURES]
    most = max((failure["servers"] for failure in failures), default=0)
    return {
        "id": one["rubric"],
        "version": one["version"],
        "key": f"{one['rubric']}-{one['version']}",
        "title": known.title if known else one["rubric"],
        "scored": one["scored"],
        "thin": one["thin"],
        "unscored": one["unscored"],
        "median": plot_geometry.parse_decimal(one.get("median")),
        "bars": make_bars(one["bins"], RANGES),
        "grades": grades,
        "grade_bars": make_bars([each["servers"] for each in grades], [str(each["grade"]) for each in grades]),
        "coverage": make_bars(one["coverage"], SHARES) if one.get("coverage") else (),
        "dimensions": [_dimension(each) for each in one.get("dimensions", [])],
        "failures": [_failure(each, most) for each in failures],
    }


def _in_order(grades: Sequence[Mapping[str, Any]], bands: Sequence[str]) -> list[Mapping[str, Any]]:
    """The best grade first, in the order of the rubric's bands; without bands by name, F last."""
    place = {grade: number for number, grade in enumerate(bands)}
    return sorted(grades, key=lambda one: (place.get(one["grade"], len(place)), one["grade"] == "F", one["grade"]))


def _dimension(one: Mapping[str, Any]) -> dict[str, Any]:
    counts = {name: one.get(name, 0) for name in STATES}
    return {"name": one["name"], "counts": counts, "line": plot_geometry.make_pieces(counts)}


def _failure(one: Mapping[str, Any], most: int) -> dict[str, Any]:
    rule = one.get("rule") or ""
    titles = methodology_titles().rules
    return {
        "cites": one["cites"],
        "rule": rule,
        "known": rule in titles,
        "title": titles.get(rule) or one.get("example", ""),
        "servers": one["servers"],
        "times": one["times"],
        "points": plot_geometry.parse_decimal(one["points"]),
        "length": plot_geometry.bar_length(one["servers"], most),
    }


def _groups(found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            **one,
            "line": plot_geometry.make_pieces({name: one.get(name, 0) for name in STATES}),
            "strokes": plot_geometry.make_strokes(one.get("bins", [])),
            "median": plot_geometry.parse_decimal(one.get("median")),
        }
        for one in found
    ]
