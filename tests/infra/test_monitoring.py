"""Dashboards, alerts and the autoscaler go by metrics that exist, and every alert is in the guide."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from tests.infra.deployment import INFRA, ROOT, compose, manifests
from workers.clock import SystemClock
from workers.observability.metrics import METRICS, list_exposed_labels, list_exposed_names
from workers.web.request_metrics import RequestMetrics

METRIC = re.compile(r"\bhallmark_[a-z_]+\b")
RULES = yaml.safe_load((INFRA / "prometheus" / "alerts.yml").read_text())["groups"][0]["rules"]
DASHBOARDS = sorted((INFRA / "grafana" / "dashboards").glob("*.json"))
GUIDE = (ROOT / "docs" / "guide" / "operations.md").read_text()


def of_the_site() -> dict[str, set[str]]:
    """Every name that the site exposes once it was asked for something, with its labels."""
    watch = RequestMetrics(PlainTextResponse("yes"), SystemClock())
    TestClient(watch).get("/")
    found: dict[str, set[str]] = {}
    for family in watch.registry.collect():
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


LABELS = {name: set(labels) for name, labels in list_exposed_labels().items()} | of_the_site()


def expressions() -> Iterator[tuple[str, str]]:
    for rule in RULES:
        yield rule["alert"], rule["expr"]
    for path in DASHBOARDS:
        for panel in json.loads(path.read_text())["panels"]:
            for target in panel["targets"]:
                yield f"{path.stem}: {panel['title']}", target["expr"]


def test_every_expression_names_exported_metrics_and_their_labels() -> None:
    for where, expression in expressions():
        named = METRIC.findall(expression)
        assert set(named) <= LABELS.keys(), where
        for name, matchers in re.findall(r"\b(hallmark_[a-z_]+)\{([^}]*)\}", expression):
            labels = set(re.findall(r"([a-z_]+)\s*(?:=~|!~|!=|=)", matchers))
            assert labels <= LABELS[name], where


def test_every_metric_is_on_a_dashboard_or_in_an_alert() -> None:
    seen = {name for _, expression in expressions() for name in METRIC.findall(expression)}
    assert list_exposed_names() - seen <= {"hallmark_nightly_published_timestamp_seconds"}
    assert {"hallmark_web_requests_total", "hallmark_web_seconds_bucket"} <= seen


def test_legends_name_labels_that_exist() -> None:
    for path in DASHBOARDS:
        for panel in json.loads(path.read_text())["panels"]:
            for target in panel["targets"]:
                [name, *_] = METRIC.findall(target["expr"])
                labels = set(re.findall(r"\{\{([a-z_]+)\}\}", target["legendFormat"]))
                assert labels <= LABELS[name], panel["title"]


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_a_dashboard_has_panels_side_by_side_that_explain_themselves(path: Any) -> None:
    board = json.loads(path.read_text())
    taken: set[tuple[int, int]] = set()
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    for panel in board["panels"]:
        assert panel["description"].endswith(".")
        assert panel["datasource"]["uid"] == "prometheus"
        at = panel["gridPos"]
        cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not cells & taken, panel["title"]
        assert at["x"] + at["w"] <= 24
        taken |= cells


def test_the_datasource_of_the_dashboards_is_provisioned() -> None:
    folder = INFRA / "grafana" / "provisioning"
    [source] = yaml.safe_load((folder / "datasources" / "prometheus.yaml").read_text())["datasources"]
    assert (source["uid"], source["url"]) == ("prometheus", "http://prometheus:9090")
    [provider] = yaml.safe_load((folder / "dashboards" / "hallmark.yaml").read_text())["providers"]
    assert f"./grafana/dashboards:{provider['options']['path']}:ro" in compose()["services"]["grafana"]["volumes"]


def test_prometheus_asks_the_health_app_and_the_site() -> None:
    config = yaml.safe_load((INFRA / "prometheus" / "prometheus.yml").read_text())
    job, site = config["scrape_configs"]
    [target] = job["static_configs"][0]["targets"]
    service, port = target.split(":")
    assert port in compose()["services"][service]["command"]
    [target] = site["static_configs"][0]["targets"]
    service, port = target.split(":")
    assert compose()["services"][service]["environment"]["HALLMARK_WEB_METRICS"] == f"0.0.0.0:{port}"
    for asked in (job, site):
        assert any(f'up{{job="{asked["job_name"]}"}}' in rule["expr"] for rule in RULES)
    assert all((INFRA / "prometheus" / name).exists() for name in config["rule_files"])


def test_every_alert_says_how_bad_it_is_and_is_in_the_guide() -> None:
    for rule in RULES:
        assert rule["labels"]["severity"] in {"page", "warn"}
        assert rule["annotations"]["summary"].endswith(".")
        assert rule["for"]
    explained = re.findall(r"^\| `(Hallmark[A-Za-z]+)` \|", GUIDE, re.MULTILINE)
    assert explained == [rule["alert"] for rule in RULES]


def test_tested_alerts_exist() -> None:
    tests = yaml.safe_load((INFRA / "prometheus" / "alerts_test.yml").read_text())["tests"]
    tested = {one["alertname"] for test in tests for one in test["alert_rule_test"]}
    assert tested <= {rule["alert"] for rule in RULES}
    assert len(tested) >= 5


def test_the_autoscaler_goes_by_a_metric_that_the_adapter_hands_on() -> None:
    adapter = yaml.safe_load((INFRA / "kubernetes" / "base" / "adapter.yaml").read_text())
    [handed] = adapter["rules"]["external"]
    assert handed["seriesQuery"] in list_exposed_names()
    for one in manifests():
        if one["kind"] == "HorizontalPodAutoscaler":
            [metric] = one["spec"]["metrics"]
            asked = metric["external"]["metric"]
            assert asked["name"] == handed["seriesQuery"]
            assert set(asked["selector"]["matchLabels"]) <= set(METRICS[asked["name"]].labels)
