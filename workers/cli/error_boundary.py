"""Where expected failures become one message and an exit code, instead of a traceback."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from pydantic import ValidationError

from evidence.store import NotMigrated, StoreError, StoreUnavailable
from workers.cli.display.console import ExitCode, exit_with_error
from workers.settings.environment import InvalidSetting
from workers.settings.salt import InvalidSalt


@contextmanager
def explain_failures() -> Iterator[None]:
    """Turn failures that a person can do something about into a message; bugs keep their traceback."""
    try:
        yield
    except ValidationError as error:
        exit_with_error(_settings(error), ExitCode.USAGE)
    except (InvalidSetting, InvalidSalt) as error:
        exit_with_error(str(error), ExitCode.USAGE)
    except NotMigrated as error:
        exit_with_error(f"{error}. `hallmark run` brings the database up to date")
    except StoreUnavailable as error:
        exit_with_error(f"{' '.join(str(error).split()).rstrip('.?')}. `hallmark doctor` checks it")
    except StoreError as error:
        exit_with_error(str(error))
    except (BrokenPipeError, KeyboardInterrupt, typer.Abort, typer.Exit):
        raise  # whoever reads our output had enough, and Typer ends quietly; or somebody wanted the end
    except OSError as error:
        exit_with_error(_failed(error))
    except _wrong_usage() as error:
        exit_with_error(str(error), ExitCode.USAGE)
    except _unanswered() as error:
        exit_with_error(str(error), ExitCode.NOTHING)
    except _in_the_way() as error:
        exit_with_error(str(error))


# Python asks for these when something failed, and whoever raised it has imported them: a command that needs neither
# runs nor registries would wait most of a second for them.


def _wrong_usage() -> tuple[type[Exception], ...]:
    from crawler.http.credentials import InvalidCredentials  # noqa: PLC0415
    from crawler.registries.sources import UnknownSource  # noqa: PLC0415
    from publish.site.static_report import FolderTaken, NotShown  # noqa: PLC0415

    return UnknownSource, FolderTaken, NotShown, InvalidCredentials


def _unanswered() -> tuple[type[Exception], ...]:
    from crawler.registries.registry import RegistryUnavailable  # noqa: PLC0415

    return (RegistryUnavailable,)


def _in_the_way() -> tuple[type[Exception], ...]:
    from workers.embedded import RunAlreadyActive  # noqa: PLC0415
    from workers.runs.pins import PinMismatch  # noqa: PLC0415

    return RunAlreadyActive, PinMismatch


def _failed(error: OSError) -> str:
    said = f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return f"{said}. Make room where it was to be written, or set HALLMARK_HOME or HALLMARK_CACHE to another folder"
    return said


def _settings(error: ValidationError) -> str:
    found = (
        f"HALLMARK_{'.'.join(str(part) for part in item['loc']).upper()}: {item['msg']}"
        for item in error.errors(include_url=False, include_input=False)
    )
    return (
        "a setting is not valid:\n" + "\n".join(f"  {line}" for line in found) + "\n`hallmark settings` explains each"
    )
