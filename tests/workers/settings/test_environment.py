"""Settings: read from the environment only, secrets masked, documented in full."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from tests.architecture.test_house import ROOT
from workers.settings import reference_page
from workers.settings.environment import Settings, read_tool_environment


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
    undocumented = [name for name, field in Settings.model_fields.items() if len(field.description or "") < 20]
    assert undocumented == []


def test_folders_follow_xdg(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("HALLMARK_HOME", raising=False)
    monkeypatch.delenv("HALLMARK_CACHE", raising=False)
    assert Settings().home == tmp_path / "data" / "hallmark"
    assert Settings().cache == tmp_path / ".cache" / "hallmark"


def test_passwords_and_tokens_never_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALLMARK_DATABASE_URL", "postgresql+psycopg://me:hunter2@db/hallmark")
    monkeypatch.setenv("HALLMARK_REDIS_URL", "redis://:hunter2@broker/0")
    monkeypatch.setenv(
        "HALLMARK_REGISTRIES",
        '["starter", {"name": "own", "url": "https://registry.example", "headers": {"Authorization": "hunter2"}}]',
    )
    found = Settings()
    assert "hunter2" not in repr(found) + str(found) + found.model_dump_json()
    assert found.store_url.endswith("me:hunter2@db/hallmark")
    assert found.registry_names == ("starter", "own")


def test_tokens_for_github_are_separated_by_commas_and_never_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALLMARK_GITHUB_TOKENS", "hunter1, hunter2,")
    found = Settings()
    assert [token.get_secret_value() for token in found.github_tokens] == ["hunter1", "hunter2"]
    assert "hunter" not in repr(found) + found.model_dump_json()
    monkeypatch.delenv("HALLMARK_GITHUB_TOKENS")
    assert Settings().github_tokens == ()


@pytest.mark.parametrize(("text", "seconds"), [("90", 90), ("0.5", 0.5), ("PT1M30S", 90), ("00:01:30", 90)])
def test_durations_are_seconds_or_iso(monkeypatch: pytest.MonkeyPatch, text: str, seconds: float) -> None:
    monkeypatch.setenv("HALLMARK_LEASE_TTL", text)
    assert Settings().lease_ttl == timedelta(seconds=seconds)


def test_tasks_that_outlive_redelivery_are_refused() -> None:
    with pytest.raises(ValidationError, match="second worker"):
        Settings(shard_time=timedelta(hours=2))


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
