"""Logs: events on stderr, without credentials and without what servers said."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import structlog
from pydantic import SecretStr

from workers import log


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    yield
    structlog.reset_defaults()  # the next test has another stderr


@pytest.mark.parametrize("form", ["json", "console"])
def test_credentials_are_blanked_whatever_they_are_called(capsys: pytest.CaptureFixture[str], form: str) -> None:
    log.configure("info", form)  # type: ignore[arg-type]
    log.get_log(github_token="hunter2").info(
        "asked", Authorization="hunter2", password="hunter2", url=SecretStr("hunter2")
    )
    out, err = capsys.readouterr()
    assert out == ""
    assert "hunter2" not in err
    assert "asked" in err


def test_json_lines_hold_the_event_and_its_ids(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure("info", "json")
    log.get_log(run="r1").warning("registry_unavailable", registry="official")
    line = json.loads(capsys.readouterr().err)
    assert (line["event"], line["run"], line["registry"], line["level"]) == (
        "registry_unavailable",
        "r1",
        "official",
        "warning",
    )


def test_less_severe_events_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure("error", "json")
    log.get_log().info("run_planned")
    assert capsys.readouterr().err == ""


def test_frames_say_where_and_not_what() -> None:
    try:
        raise ValueError("what a server said")
    except ValueError as error:
        found = log.frames(error)
    assert found[-1].endswith("in test_frames_say_where_and_not_what")
    assert "what a server said" not in str(found)
