"""Settings: read from the environment only, secrets masked, documented in full."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import get_type_hints

import msgspec
import pytest

from tests.architecture.test_house import ROOT
from workers.settings import reference_page
from workers.settings.environment import (
    InvalidSetting,
    Settings,
    is_set,
    list_settings,
    read_settings,
    read_tool_environment,
)
from workers.settings.reading import read_value
from workers.settings.secret import Secret


def test_the_reference_page_is_what_the_declarations_say() -> None:
    path = ROOT / "docs" / reference_page.PAGE
    assert path.read_text(encoding="utf-8") == reference_page.render_page(), "run `make docs`"


def test_a_stale_page_fails_the_check(tmp_path: Path) -> None:
    assert reference_page.main(["", "--check", str(tmp_path)]) == 1
    assert reference_page.main(["", "--write", str(tmp_path)]) == 0
    assert reference_page.main(["", "--check", str(tmp_path)]) == 0
    page = tmp_path / reference_page.PAGE
    page.write_text(page.read_text() + "edited by hand\n")
    assert reference_page.main(["", "--check", str(tmp_path)]) == 1


def test_every_setting_says_what_it_means() -> None:
    undocumented = [name for name, meaning in list_settings() if len(meaning) < 20]
    assert undocumented == []


def test_folders_follow_xdg(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("HALLMARK_HOME", raising=False)
    monkeypatch.delenv("HALLMARK_CACHE", raising=False)
    assert read_settings().home == tmp_path / "data" / "hallmark"
    assert read_settings().cache == tmp_path / ".cache" / "hallmark"


def test_passwords_and_tokens_never_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALLMARK_DATABASE_URL", "postgresql+psycopg://me:hunter2@db/hallmark")
    monkeypatch.setenv("HALLMARK_REDIS_URL", "redis://:hunter2@broker/0")
    monkeypatch.setenv(
        "HALLMARK_REGISTRIES",
        '["starter", {"name": "own", "url": "https://registry.example", "headers": {"Authorization": "hunter2"}}]',
    )
    found = read_settings()
    assert "hunter2" not in repr(found) + str(found) + json.dumps(msgspec.to_builtins(found, enc_hook=str))
    assert found.store_url.endswith("me:hunter2@db/hallmark")
    assert found.registry_names == ("starter", "own")


def test_tokens_for_github_are_separated_by_commas_and_never_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALLMARK_GITHUB_TOKENS", "hunter1, hunter2,")
    found = read_settings()
    assert [token.reveal() for token in found.github_tokens] == ["hunter1", "hunter2"]
    assert "hunter" not in repr(found) + json.dumps(msgspec.to_builtins(found, enc_hook=str))
    monkeypatch.delenv("HALLMARK_GITHUB_TOKENS")
    assert read_settings().github_tokens == ()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("0.5", 0.5),
        ("PT1M30S", 90),
        ("P1DT1H", 90_000),
        ("P2W", 1_209_600),
        ("00:01:30", 90),
        ("1:00", 3600),
    ],
)
def test_durations_are_seconds_iso_or_a_clock(monkeypatch: pytest.MonkeyPatch, text: str, seconds: float) -> None:
    monkeypatch.setenv("HALLMARK_CLAIM_TIME", text)
    assert read_settings().claim_time == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("listen", "Yes", True),
        ("allow_private", "off", False),
        ("in_flight", " 1_000 ", 1000),
        ("host_gap", "1e-1", 0.1),
        ("nightly_at", "04:30", time(4, 30)),
        ("clock", "2026-11-27T03:00Z", datetime(2026, 11, 27, 3, tzinfo=UTC)),
        ("opt_outs", "null", Path("null")),
        ("sources", "[]", ()),
        ("contact_url", " as it is ", " as it is "),
        ("judge_key", " hunter2 ", Secret(" hunter2 ")),
    ],
)
def test_text_is_read_by_the_type_of_its_setting(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str, value: object
) -> None:
    monkeypatch.setenv(f"hallmark_{name}", text)
    assert getattr(read_settings(), name) == value
    assert is_set(name) and not is_set("lease_ttl")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("in_flight", "4001", "a whole number, at least 1, at most 4000, found '4001'"),
        ("in_flight", "", "a whole number, at least 1, at most 4000, found ''"),
        ("connect_timeout", "0", "a number, greater than 0, found '0'"),
        ("host_gap", "nan", "a number, at least 0, found 'nan'"),
        ("listen", "maybe", "`true` or `false`, found 'maybe'"),
        ("sandbox", "on", "`auto` or `off`, found 'on'"),
        ("lease_ttl", "1e300", "seconds (`90`) or a duration of ISO 8601 (`PT1M30S`), found '1e300'"),
        (
            "lease_ttl",
            "P9999999999999W",
            "seconds (`90`) or a duration of ISO 8601 (`PT1M30S`), found 'P9999999999999W'",
        ),
        ("lease_ttl", "soon", "seconds (`90`) or a duration of ISO 8601 (`PT1M30S`), found 'soon'"),
        ("nightly_at", "noon", "a time of day (`03:00`), found 'noon'"),
        ("clock", "2026-11-27T03:00", "a date with time and zone (`2026-01-31T03:00:00Z`), found '2026-11-27T03:00'"),
        ("sandbox_pythons", "2.7", "text that matches `^("),
        ("sources", "package", "a list in JSON; "),
        ("canaries", '["user@host"]', "HOST or HOST:PORT, found 'user@host'"),
        ("web_url", "h.example", "an address like https://hallmark.example, found 'h.example'"),
        ("depth", "x" * 1000, f"`core` or `full` or `weekly`, found '{'x' * 79}\n"),
    ],
)
def test_the_message_about_a_wrong_text_says_what_is_expected(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str, expected: str
) -> None:
    monkeypatch.setenv(f"HALLMARK_{name.upper()}", text)
    with pytest.raises(InvalidSetting) as refused:
        read_settings()
    assert f"HALLMARK_{name.upper()}: expected {expected}" in str(refused.value)


def test_one_message_names_all_wrong_settings_and_none_of_their_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALLMARK_SOURCES", '{"hunter2": 1}')
    monkeypatch.setenv("HALLMARK_REGISTRIES", '[{"name": "own", "headers": {"Authorization": "hunter2"}}]')
    monkeypatch.setenv("HALLMARK_WEB_PROXIES", "10.0.0.1/8")
    with pytest.raises(InvalidSetting) as refused:
        read_settings(datasets_password=b"hunter2", github_tokens=("hunter2", 5))
    lines = str(refused.value).splitlines()
    assert {line.partition(":")[0].strip() for line in lines[1::2]} == {
        "HALLMARK_SOURCES",
        "HALLMARK_REGISTRIES",
        "HALLMARK_WEB_PROXIES",
        "HALLMARK_DATASETS_PASSWORD",
        "HALLMARK_GITHUB_TOKENS",
    }
    assert "missing required field `url`" in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_what_code_gives_comes_before_the_environment_and_is_checked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALLMARK_IN_FLIGHT", "5")
    assert read_settings(in_flight=7).in_flight == 7
    with pytest.raises(InvalidSetting, match="HALLMARK_IN_FLIGHT: expected a whole number"):
        read_settings(in_flight=0)


def test_the_defaults_are_of_the_declared_types() -> None:
    annotations = get_type_hints(Settings, include_extras=True)
    made = read_settings()
    read = {name: read_value(annotations[name], getattr(made, name)) for name in annotations}
    assert all(read[name] == getattr(made, name) for name in annotations)


def test_only_the_reader_makes_settings() -> None:
    """The class itself neither reads the environment nor checks its values."""
    made = re.compile(r"(?<![\w.])Settings\(")
    folders = ("bench", "crawler", "evidence", "infra", "publish", "scoring", "workers")
    modules = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    assert [path.name for path in modules if made.search(path.read_text())] == ["environment.py"]


def test_tasks_that_outlive_redelivery_are_refused() -> None:
    with pytest.raises(InvalidSetting, match="second worker"):
        read_settings(shard_time=timedelta(hours=2))


def test_the_sandbox_sees_only_what_names_an_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "https://pypi.example/simple")
    monkeypatch.setenv("npm_config_registry", "https://registry.npm.example")
    monkeypatch.setenv("HALLMARK_REDIS_URL", "redis://:hunter2@broker/0")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    handed = read_tool_environment()
    assert handed["PIP_INDEX_URL"] == "https://pypi.example/simple"
    assert handed["npm_config_registry"] == "https://registry.npm.example"
    assert "hunter2" not in str(handed)


def test_only_the_settings_read_the_environment() -> None:
    reads = re.compile(r"os\.environ|os\.getenv|environ\b.*=.*os\b")
    packages = ("crawler", "evidence", "publish", "scoring", "workers")
    modules = [path for package in packages for path in (ROOT / package).rglob("*.py")]
    reading = {path.relative_to(ROOT).as_posix() for path in modules if reads.search(path.read_text())}
    # The other one sets a variable for the interpreter of the fork server, which reads nothing else before our code.
    forked = "publish/datasets/verification/confined_processes.py"
    assert reading <= {"workers/settings/environment.py", forked}
