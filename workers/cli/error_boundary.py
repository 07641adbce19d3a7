"""Turns expected exceptions into one message and an exit code, instead of a traceback."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

import click

from evidence.store import NotMigrated, StoreError, StoreUnavailable
from workers.cli.display.console import ExitCode, exit_with_error
from workers.settings.environment import InvalidSetting
from workers.settings.salt import InvalidSalt


@contextmanager
def explain_failures() -> Iterator[None]:
    """Turn exceptions that the user can act on into a message; bugs keep their traceback."""
    try:
        yield
    except (InvalidSetting, InvalidSalt) as error:
        exit_with_error(str(error), ExitCode.USAGE)
    except NotMigrated as error:
        exit_with_error(f"{error}. `hallmark run` brings the database up to date")
    except StoreUnavailable as error:
        exit_with_error(f"{' '.join(str(error).split()).rstrip('.?')}. `hallmark doctor` checks it")
    except StoreError as error:
        exit_with_error(str(error))
    except (BrokenPipeError, KeyboardInterrupt, click.Abort, click.exceptions.Exit):
        raise  # Click ends quietly: the reader of a pipe has closed it, or the user has interrupted
    except OSError as error:
        exit_with_error(_os_error_message(error))
    except _usage_errors() as error:
        exit_with_error(str(error), ExitCode.USAGE)
    except _registry_errors() as error:
        exit_with_error(str(error), ExitCode.NOTHING)
    except _run_conflicts() as error:
        exit_with_error(str(error))


# Python evaluates these only after an exception, when its module is imported already. Imported at the top, they would
# delay every command by most of a second.


def _usage_errors() -> tuple[type[Exception], ...]:
    from crawler.http.credentials import InvalidCredentials  # noqa: PLC0415
    from crawler.registries.sources import UnknownSource  # noqa: PLC0415
    from publish.site.static_report import FolderTaken, NotShown  # noqa: PLC0415

    return UnknownSource, FolderTaken, NotShown, InvalidCredentials


def _registry_errors() -> tuple[type[Exception], ...]:
    from crawler.registries.registry import RegistryUnavailable  # noqa: PLC0415

    return (RegistryUnavailable,)


def _run_conflicts() -> tuple[type[Exception], ...]:
    from workers.embedded import RunAlreadyActive  # noqa: PLC0415
    from workers.runs.pins import PinMismatch  # noqa: PLC0415

    return RunAlreadyActive, PinMismatch


def _os_error_message(error: OSError) -> str:
    message = f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return f"{message}. Free some space, or set HALLMARK_HOME or HALLMARK_CACHE to another folder"
    return message
