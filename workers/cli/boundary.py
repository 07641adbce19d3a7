"""Where expected failures become one message and an exit code, instead of a traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import ValidationError

from crawler.credentials import InvalidCredentials
from crawler.registries.registry import RegistryUnavailable
from crawler.registries.sources import UnknownSource
from evidence.store import NotMigrated, StoreError, StoreUnavailable
from publish.report import FolderTaken
from workers.cli.console import Exit, fail
from workers.embedded import AnotherRun
from workers.pins import PinMismatch
from workers.salt import SaltUnfit
from workers.settings import SettingUnfit


@contextmanager
def explained() -> Iterator[None]:
    """Turn failures that a person can do something about into a message; bugs keep their traceback."""
    try:
        yield
    except ValidationError as error:
        fail(_settings(error), Exit.USAGE)
    except (UnknownSource, FolderTaken, InvalidCredentials, SettingUnfit, SaltUnfit) as error:
        fail(str(error), Exit.USAGE)
    except RegistryUnavailable as error:
        fail(str(error), Exit.NOTHING)
    except NotMigrated as error:
        fail(f"{error}. `hallmark run` brings the database up to date")
    except StoreUnavailable as error:
        fail(f"the database did not answer: {error}. `hallmark doctor` checks it")
    except (StoreError, AnotherRun, PinMismatch) as error:
        fail(str(error))
    except BrokenPipeError:
        raise  # whoever reads our output had enough; Typer ends quietly
    except OSError as error:
        fail(f"{error.strerror or error}: {error.filename}" if error.filename else str(error))


def _settings(error: ValidationError) -> str:
    found = (
        f"HALLMARK_{'.'.join(str(part) for part in item['loc']).upper()}: {item['msg']}"
        for item in error.errors(include_url=False, include_input=False)
    )
    return (
        "a setting is not valid:\n" + "\n".join(f"  {line}" for line in found) + "\n`hallmark settings` explains each"
    )
